package dev.millrace.examples.digests;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.worker.Worker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;

/**
 * A process that runs one worker. It takes orders by its standard input: {@value #GO} starts the worker, {@value #STOP}
 * closes it. When the input ends without an order its parent is dead, and it ends at once.
 *
 * <p>Arguments: the worker's name, how many jobs it runs at a time, and how many milliseconds each takes at least. The
 * environment says which database.
 */
final class WorkerProcess {
    static final String GO = "go";
    static final String STOP = "stop";
    static final String URL = "MILLRACE_DEMO_URL";
    static final String USER = "MILLRACE_DEMO_USER";
    static final String PASSWORD = "MILLRACE_DEMO_PASSWORD";

    /** Beats, claims and outcomes must not wait for the handlers' connections. */
    private static final int SPARE_CONNECTIONS = 4;

    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration SWEEP = Duration.ofSeconds(1);
    private static final int PARENT_IS_GONE = 3;

    private WorkerProcess() {}

    public static void main(String[] args) throws IOException {
        String name = args[0];
        int slots = Integer.parseInt(args[1]);
        Duration atLeast = Duration.ofMillis(Long.parseLong(args[2]));
        DemoPool database = databaseOf(System.getenv());
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (HikariDataSource pool = database.open(name, slots + SPARE_CONNECTIONS)) {
            DigestTable table = new DigestTable(DSL.using(pool, SQLDialect.POSTGRES));
            await(GO, orders);
            try (Worker worker = Millrace.on(pool)
                    .worker()
                    .name(name)
                    .handle(DigestFile.TYPE, new DigestHandler(table, atLeast))
                    .concurrency(slots)
                    .pollInterval(POLL)
                    .recovery(RecoverySettings.DEFAULT.withJobSweepInterval(SWEEP))
                    .start()) {
                await(STOP, orders);
            }
        }
    }

    private static void await(String order, BufferedReader orders) throws IOException {
        String line = orders.readLine();
        if (!order.equals(line)) {
            Runtime.getRuntime().halt(PARENT_IS_GONE);
        }
    }

    private static DemoPool databaseOf(Map<String, String> environment) {
        return new DemoPool(
                environment.getOrDefault(URL, ""),
                environment.getOrDefault(USER, ""),
                environment.getOrDefault(PASSWORD, ""));
    }
}
