package dev.millrace.benchmarks.load;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.benchmarks.ChildJvm;
import dev.millrace.job.JobType;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.worker.Worker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/** A process with a worker, to be killed. Its handler says in a table that it has begun, and takes a while. */
public final class FaultWorker {
    /** Where runs are written down, outside of Millrace. */
    static final String RUNS = "runs";

    /** How long a worker may wait before it looks after the jobs of dead ones. */
    static final Duration SWEEP = Duration.ofSeconds(1);

    static final JobType<Numbered> TYPE = JobType.of("number", Numbered.class);

    /** A payload. */
    record Numbered(long number) {}

    private FaultWorker() {}

    /** Arguments: URL, user, password, name. Ends with its parent. */
    public static void main(String[] arguments) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(arguments[0]);
        config.setUsername(arguments[1]);
        config.setPassword(arguments[2]);
        config.setMaximumPoolSize(14);
        try (HikariDataSource pool = new HikariDataSource(config);
                Worker worker = Millrace.on(pool)
                        .withWakeUps()
                        .worker()
                        .name(arguments[3])
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
