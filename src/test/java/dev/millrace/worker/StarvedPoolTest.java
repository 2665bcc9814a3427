package dev.millrace.worker;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.recovery.JobReconciler;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.sql.Connection;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Field case A6 (a): handlers hold all connections of the pool that they share with their worker. */
@MillraceDatabase
@Timeout(120)
class StarvedPoolTest {
    private static final JobType<JsonText> WORK = JobType.of("work", JsonText.class);
    private static final HeartbeatPolicy SHORT = new HeartbeatPolicy(Duration.ofMillis(200), Duration.ofSeconds(2));
    private static final int CONCURRENCY = 4;

    private final TestDatabase database;

    StarvedPoolTest(TestDatabase database) {
        this.database = database;
    }

    private HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.unpooledDataSource());
        config.setMaximumPoolSize(CONCURRENCY);
        config.setConnectionTimeout(500);
        return new HikariDataSource(config);
    }

    @Test
    void poolOfTwo_hasNoConnectionForClaims_whichIsKnownAtTheStart() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.unpooledDataSource());
        config.setMaximumPoolSize(2);
        config.setConnectionTimeout(2_000);
        config.setInitializationFailTimeout(-1);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            PostgresStore store = PostgresStore.on(pool, database.schema());
            try (PostgresStore.Reserved one = store.reserving(null);
                    PostgresStore.Reserved two = store.reserving(null)) {
                assertThat(one.reserve()).isTrue();
                assertThat(store.hasConnection()).isTrue();
                assertThat(two.reserve()).isTrue();
                assertThat(store.hasConnection()).isFalse();
            }
            assertThat(store.hasConnection()).isTrue();
        }
    }

    /**
     * Whoever gets a connection keeps it for three timeouts; those who get none try on. The reconciler is another process's, with
     * connections of its own, and has watched for long enough to trust what it sees.
     */
    @Test
    void handlersThatHoldAllConnections_letNoJobLookDead() throws Exception {
        Millrace observer = Millrace.on(database.dataSource()).withSchema(database.schema());
        CountDownLatch held = new CountDownLatch(1);
        AtomicInteger holding = new AtomicInteger();
        AtomicInteger runs = new AtomicInteger();
        try (HikariDataSource pool = pool();
                JobReconciler reconciler =
                        observer.reconciler(RecoverySettings.DEFAULT.withJobSweepInterval(Duration.ofMillis(100)));
                Worker worker = Millrace.on(pool)
                        .withSchema(database.schema())
                        .worker()
                        .handle(WORK, (payload, context) -> {
                            runs.incrementAndGet();
                            while (held.getCount() > 0) {
                                try (Connection mine = pool.getConnection()) {
                                    holding.incrementAndGet();
                                    assertThat(held.await(60, TimeUnit.SECONDS)).isTrue();
                                } catch (SQLTransientConnectionException e) {
                                    // all are taken
                                }
                            }
                        })
                        .concurrency(CONCURRENCY)
                        .pollInterval(Duration.ofMillis(50))
                        .withoutRecovery()
                        .withoutRetention()
                        .start()) {
            List<Job> jobs = new ArrayList<>();
            for (int i = 0; i < CONCURRENCY; i++) {
                jobs.add(observer.submit(WORK, JsonText.of("{}"), heartbeat(SHORT)));
            }
            until(() -> holding.get() == CONCURRENCY - 2);
            reconciler.start();
            until(() -> !reconciler.status().suspended());
            long heldSince = System.nanoTime();
            until(() -> System.nanoTime() - heldSince > SHORT.timeout().toNanos() * 3);
            assertThat(pool.getHikariPoolMXBean().getIdleConnections()).isZero();
            held.countDown();
            for (Job job : jobs) {
                Job ended = observer.await(job, Duration.ofSeconds(60));
                assertThat(ended.status()).isEqualTo(JobStatus.SUCCEEDED);
                assertThat(ended.state().attemptCount()).isOne();
            }
            assertThat(worker.status().running()).isZero();
        }
        assertThat(runs).hasValue(CONCURRENCY);
    }
}
