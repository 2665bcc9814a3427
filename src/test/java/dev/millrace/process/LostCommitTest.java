package dev.millrace.process;

import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.devdb.Fault;
import dev.millrace.devdb.FaultyProxy;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.JobConflictException;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.Worker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Field case A19: the database commits, and the answer is lost. A worker and its application behind a proxy that does
 * that, with an ordinary pool. (The same for migrations is tested where these are.)
 */
@MillraceDatabase
@Timeout(120)
class LostCommitTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    record Order(String what) {}

    private static final JobType<Order> WORK = JobType.of("work", Order.class);

    private final FaultyProxy proxy;
    private final HikariDataSource pool;
    private final Millrace millrace;
    private final AtomicInteger runs = new AtomicInteger();

    LostCommitTest(TestDatabase database) {
        this.proxy = FaultyProxy.before(database);
        HikariConfig config = new HikariConfig();
        config.setDataSource(proxy.dataSource());
        config.setMaximumPoolSize(4);
        this.pool = new HikariDataSource(config);
        this.millrace = Millrace.on(pool).withSchema(database.schema());
    }

    @AfterEach
    void close() {
        pool.close();
        proxy.close();
    }

    private Worker start() {
        return millrace.worker()
                .handle(WORK, (payload, context) -> {
                    runs.incrementAndGet();
                    if (payload.what().equals("fail") && context.attempt() == 1) {
                        throw new IllegalStateException("the first attempt fails");
                    }
                })
                .pollInterval(Duration.ofMillis(50))
                .withoutRecovery()
                .start();
    }

    @Test
    void enqueue_makesOneJob_andAnotherOneOfItsIdIsADistinctError() {
        String id = "order-" + System.nanoTime();
        proxy.inject(Fault.cutBeforeReply().onStatement("insert into"));
        millrace.submit(WORK, new Order("later"), id(id), delay(Duration.ofDays(1)));
        assertThat(proxy.struck()).isEqualTo(1);

        proxy.inject(Fault.cutBeforeReply().onStatement("insert into"));
        assertThatThrownBy(() -> millrace.submit(WORK, new Order("other"), id(id), delay(Duration.ofDays(1))))
                .isInstanceOfSatisfying(
                        JobConflictException.class,
                        e -> assertThat(e.differences()).containsExactly("parameters"));
        assertThat(millrace.get(id).orElseThrow().version()).isEqualTo(1);
        millrace.cancel(id, null, null);
    }

    @Test
    void claim_isFoundAgain_andCostsNoAttempt() throws InterruptedException {
        proxy.inject(Fault.cutBeforeReply().onStatement("set \"status\" = 'Provisioning'"));
        Job submitted = millrace.submit(WORK, new Order("go"));
        try (Worker worker = start()) {
            Job job = millrace.await(submitted, PATIENCE);
            assertThat(proxy.struck()).isEqualTo(1);
            assertRanOnce(job);
            assertThat(worker.status().healthy()).isTrue();
        }
    }

    @Test
    void completion_isRecognised() throws InterruptedException {
        proxy.inject(Fault.cutBeforeReply().onStatement("set \"status\" = 'Succeeded'"));
        Job submitted = millrace.submit(WORK, new Order("go"));
        try (Worker worker = start()) {
            assertRanOnce(millrace.await(submitted, PATIENCE));
            Scene.until(() -> worker.status().running() == 0 && worker.status().healthy());
        }
        assertThat(proxy.struck()).isEqualTo(1);
    }

    @Test
    void retry_isRecognised_andCountedOnce() throws InterruptedException {
        proxy.inject(Fault.cutBeforeReply().onStatement("set \"status\" = 'Queued'"));
        Job submitted = millrace.submit(WORK, new Order("fail"), retry(RetryPolicy.fixed(2, Duration.ZERO)));
        try (Worker worker = start()) {
            Job job = millrace.await(submitted, PATIENCE);
            assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(job.outcome().history()).hasSize(1);
            assertThat(job.state().attemptCount()).isEqualTo(2);
            assertThat(worker.status().healthy()).isTrue();
        }
        assertThat(runs).hasValue(2);
        assertThat(proxy.struck()).isEqualTo(1);
    }

    private void assertRanOnce(Job job) {
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isEqualTo(1);
        assertThat(job.outcome().history()).isEmpty();
        assertThat(runs).hasValue(1);
    }
}
