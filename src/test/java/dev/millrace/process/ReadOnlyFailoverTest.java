package dev.millrace.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.devdb.Database;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;

/**
 * Field case A18: a failover leaves the pool with connections to a server that only reads, and that answers SELECT 1. They
 * stay read-only when all is well again, so nothing is written until someone drops them.
 */
@MillraceDatabase
@Timeout(120)
@DisabledIfEnvironmentVariable(
        named = "MILLRACE_DEVDB_POOLER",
        matches = ".+",
        disabledReason = "the sessions are PgBouncer's there, and stay read-only whatever its clients do")
class ReadOnlyFailoverTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    record Order(String what) {}

    private static final JobType<Order> WORK = JobType.of("work", Order.class);

    private final TestDatabase neighbour;
    private final Database database;
    private final HikariDataSource pool;

    ReadOnlyFailoverTest(TestDatabase neighbour) {
        this.neighbour = neighbour;
        this.database = neighbour.server().createDatabase("failover_" + UUID.randomUUID());
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource());
        config.setMaximumPoolSize(4);
        config.setConnectionTimeout(2_000);
        config.setConnectionTestQuery("SELECT 1");
        this.pool = new HikariDataSource(config);
    }

    @AfterEach
    void drop() {
        pool.close();
        database.drop();
    }

    @Test
    void readOnlyConnections_areDropped_claimingResumes_andOutcomesAreWritten() throws Exception {
        Millrace millrace = Millrace.on(pool);
        millrace.migrate();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch returned = new CountDownLatch(1);
        try (Worker worker = millrace.worker()
                .handle(WORK, (payload, context) -> {
                    if (payload.what().equals("wait")) {
                        started.countDown();
                        assertThat(gate.await(60, TimeUnit.SECONDS)).isTrue();
                        returned.countDown();
                    }
                })
                .concurrency(4)
                .pollInterval(Duration.ofMillis(50))
                .withoutRecovery()
                .start()) {
            Job running = millrace.submit(WORK, new Order("wait"));
            assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();

            asAdmin("ALTER DATABASE \"" + database.name() + "\" SET default_transaction_read_only = on");
            for (int i = 0; i < 10; i++) {
                endSessions();
                Thread.sleep(100);
            }
            gate.countDown();
            assertThat(returned.await(60, TimeUnit.SECONDS)).isTrue();
            Scene.until(() -> String.valueOf(worker.status()).contains("read-only"));
            assertThat(millrace.get(running.id()).orElseThrow().status()).matches(JobStatus::isClaimed);
            Thread.sleep(500); // so that all that the pool has was made meanwhile, and is read-only
            asAdmin("ALTER DATABASE \"" + database.name() + "\" RESET default_transaction_read_only");

            Job ended = millrace.await(running, PATIENCE);
            assertThat(ended.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(ended.state().attemptCount()).isEqualTo(1);
            Job next = millrace.await(millrace.submit(WORK, new Order("go")), PATIENCE);
            assertThat(next.status()).isEqualTo(JobStatus.SUCCEEDED);
            Scene.until(() -> worker.status().healthy());
        }
    }

    private void endSessions() throws SQLException {
        asAdmin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + database.name() + "'");
    }

    /** From another database: this one can't be altered in a session that only reads. */
    private void asAdmin(String sql) throws SQLException {
        try (Connection connection = neighbour.adminDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
