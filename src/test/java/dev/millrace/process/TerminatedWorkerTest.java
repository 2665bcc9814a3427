package dev.millrace.process;

import static dev.millrace.SubmitOption.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.condition.OS.LINUX;
import static org.junit.jupiter.api.condition.OS.MAC;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;

/**
 * A process with a worker gets SIGTERM. Heartbeats are the default ones and nobody sweeps, so what runs again within this
 * test was handed back.
 */
@MillraceDatabase
@EnabledOnOs({LINUX, MAC})
@Timeout(120)
class TerminatedWorkerTest {
    private static final int TERMINATED = 143;

    private final Scene scene;

    TerminatedWorkerTest(TestDatabase database) {
        scene = new Scene(Place.of(database));
    }

    @AfterEach
    void close() {
        scene.close();
    }

    @Test
    void jobOfTerminatedWorker_isHandedBackForgiven_andRunsElsewhereAtOnce() throws InterruptedException {
        ChildJvm terminated = scene.startWorker("terminated");
        String obedient = submitAndAwaitStart(Task.WAIT, terminated);
        String stubborn = submitAndAwaitStart(Task.STUBBORN, terminated);
        String querying = submitAndAwaitStart(Task.QUERY, terminated);
        ChildJvm other = scene.startWorker("other").awaitReady();

        terminated.terminate();
        assertThat(terminated.awaitExit()).as(terminated::toString).isEqualTo(TERMINATED);

        assertThat(terminated.events("interrupted " + obedient))
                .containsExactly("interrupted " + obedient + " 1 SHUTDOWN");
        assertRunsElsewhere(obedient, other);
        assertRunsElsewhere(stubborn, other);
        assertRunsElsewhere(querying, other);
    }

    @Test
    void handlerThatEndsWithinTheDrainTimeout_hasItsOutcomeWritten() throws InterruptedException {
        ChildJvm terminated = scene.startWorker("terminated");
        String id = submitAndAwaitStart(Task.WAIT, terminated);
        terminated.terminate();
        terminated.order(OrderedHandler.RETURN + " " + id + " 1");
        assertThat(terminated.awaitExit()).as(terminated::toString).isEqualTo(TERMINATED);
        Job job = scene.job(id);
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isEqualTo(1);
        assertThat(job.outcome().history()).isEmpty();
    }

    private String submitAndAwaitStart(JobType<Task> type, ChildJvm worker) {
        String id = scene.submit(type, retry(RetryPolicy.NEVER)).id();
        worker.awaitEvent("started " + id + " 1");
        return id;
    }

    private void assertRunsElsewhere(String id, ChildJvm other) throws InterruptedException {
        other.awaitEvent("started " + id + " 2");
        other.order(OrderedHandler.RETURN + " " + id + " 2");
        Job job = scene.awaitEnd(id);
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().claimedBy()).isEqualTo("other");
        assertThat(job.state().attemptCount()).isEqualTo(2);
        assertThat(scene.forgivenAttempts(id)).isEqualTo(1);
        assertThat(job.outcome().history()).hasSize(1);
        PastAttempt back = job.outcome().history().get(0);
        assertThat(back.ending()).isEqualTo(PastAttempt.Ending.HANDED_BACK);
        assertThat(back.worker()).isEqualTo("terminated");
        assertThat(Duration.between(back.endedAt(), job.state().claimedAt())).isLessThan(Duration.ofSeconds(10));
    }
}
