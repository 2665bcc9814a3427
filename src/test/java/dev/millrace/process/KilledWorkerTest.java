package dev.millrace.process;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.retry;
import static java.time.Duration.ZERO;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process is killed without a chance to say a word, while it holds jobs. */
@MillraceDatabase
@Timeout(120)
class KilledWorkerTest {
    private static final HeartbeatPolicy BRISK = Scene.beats(250, 2_000);

    /** How much later than it should be on an idle machine something may be on a busy one. */
    private static final int LENIENCE = 10;

    private final Scene scene;

    KilledWorkerTest(TestDatabase database) {
        scene = new Scene(Place.of(database));
    }

    @AfterEach
    void close() {
        scene.close();
    }

    @Test
    void jobsOfKilledWorker_runOnceMore_onAnotherOne_soon() throws InterruptedException {
        ChildJvm other = idleWorker();
        ChildJvm doomed = scene.startWorker("doomed");
        List<String> ids = submit(Task.STUBBORN, 3);
        ids.forEach(id -> doomed.awaitEvent("started " + id + " 1"));
        ids.forEach(id -> Scene.until(() -> hasBeaten(scene.job(id))));

        assertRecovered(ids, doomed, other);
    }

    @Test
    void jobsThatWereClaimed_andNeitherStartedNorBeatenFor_runAsWell() throws InterruptedException {
        ChildJvm other = idleWorker();
        ChildJvm doomed = scene.start(AttemptProcess.class, "doomed").awaitReady();
        List<String> ids = submit(Task.STUBBORN, 4);
        doomed.order("claim 4");
        ids.forEach(id -> doomed.awaitEvent("claimed " + id));
        doomed.order("start " + ids.get(0));
        doomed.awaitEvent("started " + ids.get(0));

        assertRecovered(ids, doomed, other);
    }

    /** Takes no job before it is told to. There is a reconciler as well, one that has been watching. */
    private ChildJvm idleWorker() {
        ChildJvm other = scene.start(WorkerProcess.class, "other", "8", "0").awaitReady();
        scene.startWatchingReconciler(BRISK.timeout());
        other.ask("idle");
        return other;
    }

    private static boolean hasBeaten(Job job) {
        return job.state().lastHeartbeatAt().isAfter(job.state().claimedAt().plus(BRISK.interval()));
    }

    private List<String> submit(JobType<Task> type, int jobs) {
        return Stream.generate(() -> scene.submit(type, heartbeat(BRISK), retry(RetryPolicy.fixed(3, ZERO)))
                        .id())
                .limit(jobs)
                .toList();
    }

    private void assertRecovered(List<String> ids, ChildJvm doomed, ChildJvm other) throws InterruptedException {
        doomed.kill();
        Instant dead = scene.now();
        other.order("claim");
        for (String id : ids) {
            other.awaitEvent("started " + id + " 2");
            other.order(OrderedHandler.RETURN + " " + id + " 2");
            Job job = scene.awaitEnd(id);
            assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(job.state().claimedBy()).isEqualTo("other");
            assertThat(job.state().attemptCount()).isEqualTo(2);
            assertThat(other.awaitEvent("finish " + id)).isEqualTo("finish " + id + " Succeed true");
            assertThat(other.events("started " + id)).hasSize(1);
            PastAttempt lost = onlyPastAttempt(job);
            assertThat(lost.ending()).isEqualTo(PastAttempt.Ending.EXPIRED);
            assertThat(lost.worker()).isEqualTo("doomed");
            assertThat(lost.endedAt()).isAfter(lost.claimedAt().plus(BRISK.timeout()));
            Duration allowed = BRISK.timeout().plus(Scene.SWEEP).multipliedBy(LENIENCE);
            assertThat(lost.endedAt()).isBefore(dead.plus(allowed));
            assertThat(job.state().claimedAt()).isBefore(dead.plus(allowed));
        }
    }

    private static PastAttempt onlyPastAttempt(Job job) {
        assertThat(job.outcome().history()).hasSize(1);
        return job.outcome().history().get(0);
    }
}
