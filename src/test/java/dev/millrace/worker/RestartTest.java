package dev.millrace.worker;

import static dev.millrace.SubmitOption.heartbeat;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.devdb.DevDatabase;
import dev.millrace.devdb.Provider;
import dev.millrace.devdb.StopMode;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.WorkerStatus.Claiming;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that goes away under a working worker, and comes back. */
@Timeout(180)
class RestartTest {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final JobType<Map<?, ?>> WORK = new JobType<>("work", Map.class);

    /** Its timeout passes while the server is away. */
    private static final HeartbeatPolicy SHORT = new HeartbeatPolicy(Duration.ofMillis(200), Duration.ofMillis(600));

    private static DevDatabase server;
    private static HikariDataSource pool;

    @BeforeAll
    static void startServer() {
        server = DevDatabase.start(Provider.EMBEDDED);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl());
        config.setUsername(server.user());
        config.setPassword(server.password());
        config.setMaximumPoolSize(5);
        config.setConnectionTimeout(1_000);
        pool = new HikariDataSource(config);
        Millrace.on(pool).migrate();
    }

    @AfterAll
    static void stopServer() {
        pool.close();
        server.close();
    }

    @ParameterizedTest
    @EnumSource(StopMode.class)
    void restart_underRunningJobs_interruptsNobody_repeatsNothing_andLosesNoOutcome(StopMode mode)
            throws InterruptedException {
        Millrace millrace = Millrace.on(pool);
        CountDownLatch duringOutage = new CountDownLatch(1);
        CountDownLatch afterwards = new CountDownLatch(1);
        Map<String, Integer> runs = new ConcurrentHashMap<>();
        Map<String, Boolean> disturbed = new ConcurrentHashMap<>();
        Job first = millrace.submit(WORK, Map.of("ends", "during"), heartbeat(SHORT));
        Job second = millrace.submit(WORK, Map.of("ends", "afterwards"), heartbeat(SHORT));
        try (Worker worker = millrace.worker()
                .handle(WORK, (payload, context) -> {
                    runs.merge(context.job().id(), 1, Integer::sum);
                    try {
                        ("during".equals(payload.get("ends")) ? duringOutage : afterwards).await();
                    } catch (InterruptedException e) {
                        disturbed.put(context.job().id(), true);
                        throw e;
                    }
                })
                .pollInterval(Duration.ofMillis(100))
                .start()) {
            WorkerFixture.until(() -> runs.size() == 2);
            server.stop(mode);
            duringOutage.countDown();
            WorkerFixture.until(() -> worker.status().claiming() == Claiming.HEARTBEATS_FAIL);
            server.startAgain();
            assertThat(millrace.await(first, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            WorkerFixture.until(() -> worker.status().healthy());
            afterwards.countDown();
            Job done = millrace.await(second, PATIENCE);
            assertThat(done.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(done.state().attemptCount()).isEqualTo(1);
        }
        assertThat(runs).containsOnly(Map.entry(first.id(), 1), Map.entry(second.id(), 1));
        assertThat(disturbed).isEmpty();
    }
}
