package dev.millrace.worker;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.maxDuration;
import static dev.millrace.SubmitOption.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.AttemptState;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** From submission to the end, on a real server. */
@MillraceDatabase
@Timeout(120)
class WorkerOnPostgresTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration OFTEN = Duration.ofMillis(20);
    private static final HeartbeatPolicy BRISK = new HeartbeatPolicy(Duration.ofMillis(50), Duration.ofMinutes(1));

    record Thumbnail(String file, int width) {}

    private static final JobType<Thumbnail> THUMBNAIL = JobType.of("thumbnail", Thumbnail.class);
    private static final Thumbnail CAT = new Thumbnail("cat.png", 640);

    private final Millrace millrace;
    private final AtomicReference<JobContext> context = new AtomicReference<>();

    WorkerOnPostgresTest(TestDatabase database) {
        millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
    }

    @BeforeEach
    void nothingIsLeftOver() {
        assertThat(millrace.queue().depth("managed", "default")).isZero();
    }

    private Worker start(String name, Duration drain, JobHandler<Thumbnail> handler) {
        return millrace.worker()
                .handle(THUMBNAIL, handler)
                .name(name)
                .concurrency(4)
                .pollInterval(OFTEN)
                .drainTimeout(drain)
                .withoutRecovery()
                .start();
    }

    private Worker start(JobHandler<Thumbnail> handler) {
        return start("worker-1", Duration.ofSeconds(30), handler);
    }

    private JobStatus status(Job job) {
        return millrace.get(job.id()).orElseThrow().status();
    }

    @Test
    void job_isRunWithItsPayload_reportsProgress_andSucceeds() throws InterruptedException {
        AtomicReference<Thumbnail> seen = new AtomicReference<>();
        AtomicReference<AttemptState> halfway = new AtomicReference<>();
        try (Worker worker = start((payload, attempt) -> {
            seen.set(payload);
            attempt.progress(50, "resizing");
            halfway.set(millrace.get(attempt.job().id()).orElseThrow().state());
        })) {
            Job job = millrace.await(millrace.submit(THUMBNAIL, CAT), PATIENCE);
            assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(job.state().attemptCount()).isEqualTo(1);
            assertThat(job.state().claimedBy()).isEqualTo(worker.settings().name());
        }
        assertThat(seen).hasValue(CAT);
        assertThat(halfway.get().status()).isEqualTo(JobStatus.RUNNING);
        assertThat(halfway.get().percentComplete()).isEqualTo(50);
        assertThat(halfway.get().currentPhase()).isEqualTo("resizing");
    }

    /** Submitted, claimed, ended: three versions, where nothing was slow. */
    @Test
    void shortJobs_costNoStatementForTheirStart() throws InterruptedException {
        try (Worker worker = start((payload, attempt) -> {})) {
            List<Long> versions = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                versions.add(millrace.await(millrace.submit(THUMBNAIL, CAT), PATIENCE)
                        .version());
            }
            assertThat(worker.status().healthy()).isTrue();
            assertThat(versions).contains(3L);
        }
    }

    /** Long before the next beat, which comes in ten minutes. */
    @Test
    void longJob_isShownAsRunning_andLearnsThenThatItWasCancelledBefore() throws InterruptedException {
        CountDownLatch began = new CountDownLatch(2);
        CountDownLatch gate = new CountDownLatch(1);
        try (Worker worker = start((payload, attempt) -> {
            began.countDown();
            gate.await();
        })) {
            SubmitOption seldom = heartbeat(new HeartbeatPolicy(Duration.ofMinutes(10), Duration.ofMinutes(30)));
            Job cancelled = millrace.submit(THUMBNAIL, CAT, seldom);
            Job running = millrace.submit(THUMBNAIL, CAT, seldom);
            assertThat(began.await(60, TimeUnit.SECONDS)).isTrue();
            millrace.cancel(cancelled.id(), null, null);
            assertThat(millrace.await(cancelled, PATIENCE).status()).isEqualTo(JobStatus.CANCELLED);
            await().atMost(PATIENCE).until(() -> status(running) == JobStatus.RUNNING);
            assertThat(millrace.get(running.id()).orElseThrow().state().currentPhase())
                    .isEqualTo("Running");
            assertThat(worker.status().running()).isOne();
            gate.countDown();
            assertThat(millrace.await(running, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
        }
    }

    @Test
    void contestedQueue_isDrained_andEachJobRunsOnce() throws InterruptedException {
        Map<String, Integer> runs = new ConcurrentHashMap<>();
        JobHandler<Thumbnail> counting =
                (payload, attempt) -> runs.merge(attempt.job().id(), 1, Integer::sum);
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            jobs.add(millrace.submit(THUMBNAIL, CAT));
        }
        try (Worker first = start("a", Duration.ofSeconds(30), counting);
                Worker second = start("b", Duration.ofSeconds(30), counting);
                Worker third = start("c", Duration.ofSeconds(30), counting)) {
            for (Job job : jobs) {
                assertThat(millrace.await(job, PATIENCE).state().attemptCount()).isEqualTo(1);
            }
            assertThat(List.of(first, second, third))
                    .allMatch(worker -> worker.status().healthy());
        }
        assertThat(runs)
                .hasSize(100)
                .allSatisfy((job, times) -> assertThat(times).isEqualTo(1));
    }

    @Test
    void failingJob_isRetried_andKeepsItsHistory() throws InterruptedException {
        try (Worker worker = start((payload, attempt) -> {
            throw new IllegalStateException("no. " + attempt.attempt());
        })) {
            Job job = millrace.await(
                    millrace.submit(THUMBNAIL, CAT, retry(RetryPolicy.fixed(3, Duration.ZERO))), PATIENCE);
            assertThat(job.status()).isEqualTo(JobStatus.FAILED);
            assertThat(job.state().attemptCount()).isEqualTo(3);
            assertThat(job.outcome().errorMessage()).isEqualTo("java.lang.IllegalStateException: no. 3");
            assertThat(job.outcome().history())
                    .extracting(PastAttempt::message)
                    .startsWith("java.lang.IllegalStateException: no. 1", "java.lang.IllegalStateException: no. 2");
            assertThat(worker.status().healthy()).isTrue();
        }
    }

    @Test
    void cancellation_reachesTheHandlerAtTheNextBeat() throws InterruptedException {
        try (Worker worker = start((payload, attempt) -> {
            context.set(attempt);
            new CountDownLatch(1).await();
        })) {
            Job job = millrace.submit(THUMBNAIL, CAT, heartbeat(BRISK));
            WorkerFixture.until(() -> context.get() != null);
            millrace.cancel(job.id(), "someone", "not needed any more");
            assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.CANCELLED);
            WorkerFixture.until(() -> worker.status().running() == 0);
            assertThat(context.get().stopReason()).contains(StopReason.CANCELLED);
        }
    }

    @Test
    void jobThatTakesTooLong_fails_andIsNotRetried() throws InterruptedException {
        try (Worker worker = start((payload, attempt) -> {
            context.set(attempt);
            new CountDownLatch(1).await();
        })) {
            Job job = millrace.await(millrace.submit(THUMBNAIL, CAT, maxDuration(Duration.ofSeconds(1))), PATIENCE);
            assertThat(job.status()).isEqualTo(JobStatus.FAILED);
            assertThat(job.outcome().errorMessage()).contains("maximum duration of PT1S");
            assertThat(job.state().attemptCount()).isEqualTo(1);
            WorkerFixture.until(() -> worker.status().running() == 0);
        }
    }

    @Test
    void closingWorker_handsItsJobBack_unharmed_andAnotherOneRunsIt() throws InterruptedException {
        CountDownLatch gate = new CountDownLatch(1);
        Job job = millrace.submit(THUMBNAIL, CAT, id("handed-back"), retry(RetryPolicy.NEVER));
        Worker first = start("first", Duration.ofMillis(50), (payload, attempt) -> {
            context.set(attempt);
            WorkerFixture.ignoringInterrupts(gate);
        });
        WorkerFixture.until(() -> context.get() != null);
        first.close();
        assertThat(status(job)).isEqualTo(JobStatus.QUEUED);
        try (Worker second = start("second", Duration.ofSeconds(30), (payload, attempt) -> {})) {
            Job done = millrace.await(job, PATIENCE);
            assertThat(done.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(done.state().claimedBy()).isEqualTo(second.settings().name());
            assertThat(done.state().attemptCount()).isEqualTo(2);
        } finally {
            gate.countDown();
        }
        // The first handler returns only now, and what it has to say is not heard.
        WorkerFixture.until(() -> first.status().running() == 0);
        assertThat(millrace.get(job.id()).orElseThrow().state().claimedBy()).isEqualTo("second");
    }

    @Test
    void undecodablePayload_failsOnlyItsJob() throws InterruptedException {
        JobType<Map<String, Object>> older = new JobType<>("thumbnail", Map.class);
        try (Worker worker = start((payload, attempt) -> {})) {
            Job bad = millrace.submit(older, Map.of("width", "very wide"), retry(RetryPolicy.NEVER));
            Job good = millrace.submit(THUMBNAIL, CAT);
            assertThat(millrace.await(bad, PATIENCE).outcome().errorMessage()).contains("PayloadException");
            assertThat(millrace.await(good, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(worker.status().healthy()).isTrue();
        }
    }
}
