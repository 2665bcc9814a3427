package dev.millrace.process;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.retry;
import static java.time.Duration.ZERO;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JobStatus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A job whose handler halts the JVM, whichever runs it. */
@MillraceDatabase
@Timeout(300)
class JvmKillingJobTest {
    /** JVMs that start one after another leave a busy machine little time for probes: a third of this is what they have. */
    private static final HeartbeatPolicy BRISK = Scene.beats(250, 2_000);

    private static final int MOST = 3;

    private final Scene scene;

    JvmKillingJobTest(TestDatabase database) {
        scene = new Scene(Place.of(database));
    }

    @AfterEach
    void close() {
        scene.close();
    }

    @Test
    void jobThatHaltsItsJvm_endsFailedAtItsMaximumOfAttempts_andTheOthersCarryOn() throws InterruptedException {
        scene.startWatchingReconciler(BRISK.timeout());
        String killer = scene.submit(Task.HALT, heartbeat(BRISK), retry(RetryPolicy.fixed(MOST, ZERO)))
                .id();
        List<String> others = new ArrayList<>(submitOthers());
        for (int attempt = 1; attempt <= MOST; attempt++) {
            ChildJvm worker = scene.startWorker("worker-" + attempt);
            assertThat(worker.awaitExit()).as(worker::toString).isEqualTo(WorkerProcess.HALTED);
        }
        Job failed = scene.awaitEnd(killer);
        ChildJvm last = scene.startWorker("last");
        others.addAll(submitOthers());
        for (String id : others) {
            Job job = scene.awaitEnd(id);
            assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(job.outcome().history()).hasSize(job.state().attemptCount() - 1);
        }
        assertThat(last.alive()).isTrue();

        assertThat(failed.status()).isEqualTo(JobStatus.FAILED);
        assertThat(failed.state().attemptCount()).isEqualTo(MOST);
        assertThat(failed.outcome().errorMessage())
                .startsWith("The heartbeat expired after 3 attempts")
                .contains("worker-3");
        assertThat(failed.outcome().history())
                .extracting(PastAttempt::ending)
                .containsExactly(PastAttempt.Ending.EXPIRED, PastAttempt.Ending.EXPIRED, PastAttempt.Ending.EXPIRED);
        assertThat(failed.outcome().history())
                .extracting(PastAttempt::worker)
                .containsExactly("worker-1", "worker-2", "worker-3");
        assertThat(scene.job(killer)).isEqualTo(failed);
    }

    /** They may lose an attempt to their neighbour; but they may have many. */
    private List<String> submitOthers() {
        return scene.submitTogether(10, Task.NAP, new Task(20), heartbeat(BRISK), retry(RetryPolicy.fixed(20, ZERO)));
    }
}
