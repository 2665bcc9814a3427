package dev.millrace.benchmarks.load;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.ChildJvm;
import dev.millrace.job.JobType;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.worker.Worker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/** A process with a worker, to be killed. Its handler says in a table that it has begun, and takes a while. */
public final class FaultWorker {
    /** Where runs are written down, outside of Millrace. */
    static final String RUNS = "runs";

    /** How long a worker may wait before it looks after the jobs of dead ones. */
    static final Duration SWEEP = Duration.ofSeconds(1);

    static final JobType<Numbered> TYPE = JobType.of("number", Numbered.class);

    /** A payload. */
    record Numbered(long number) {}

    private static final String URL = "FAULT_WORKER_URL";
    private static final String USER = "FAULT_WORKER_USER";
    private static final String PASSWORD = "FAULT_WORKER_PASSWORD";
    private static final String NAME = "FAULT_WORKER_NAME";

    private FaultWorker() {}

    /** {@return the environment of the process of a worker} */
    static Map<String, String> environment(BenchDatabase database, String name) {
        return Map.of(URL, database.jdbcUrl(), USER, database.user(), PASSWORD, database.password(), NAME, name);
    }

    /** Takes all that it has to know from its environment. Ends with its parent. */
    public static void main(String[] arguments) throws Exception {
        Map<String, String> environment = System.getenv();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(environment.get(URL));
        config.setUsername(environment.get(USER));
        config.setPassword(environment.get(PASSWORD));
        config.setMaximumPoolSize(14);
        try (HikariDataSource pool = new HikariDataSource(config);
                Worker worker = Millrace.on(pool)
                        .withWakeUps()
                        .worker()
                        .name(Objects.requireNonNull(environment.get(NAME)))
                        .concurrency(8)
                        .recovery(RecoverySettings.DEFAULT.withJobSweepInterval(SWEEP))
                        .handle(TYPE, (number, context) -> run(pool, number.number()))
                        .start()) {
            System.out.println("ready " + worker.settings().name());
            ChildJvm.awaitEndOfParent();
        }
    }

    private static void run(HikariDataSource pool, long number) throws SQLException, InterruptedException {
        try (Connection connection = pool.getConnection();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO " + RUNS + " VALUES (?)")) {
            insert.setLong(1, number);
            insert.executeUpdate();
        }
        Thread.sleep(100);
    }
}
