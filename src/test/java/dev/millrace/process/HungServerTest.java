package dev.millrace.process;

import static dev.millrace.SubmitOption.heartbeat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.condition.OS.LINUX;
import static org.junit.jupiter.api.condition.OS.MAC;

import dev.millrace.job.JobType;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.Worker;
import dev.millrace.worker.WorkerStatus;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;

/**
 * All processes of the server are suspended for longer than a heartbeat timeout: no connection breaks, none can be made,
 * and nothing is answered. Then they go on, those last that serve the worker.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledOnOs({LINUX, MAC})
@Timeout(120)
class HungServerTest {
    private static final Duration WORKER_LAST = Duration.ofMillis(300);
    private static final JobType<Task> OTHER = JobType.of("other", Task.class);

    private final OutageStage stage = new OutageStage();
    private final Deque<Freezer> frozen = new ArrayDeque<>();

    @AfterAll
    void close() {
        stage.close();
    }

    @RepeatedTest(3)
    void hang_longerThanTheHeartbeatTimeout_interruptsNoHandler_andCostsNoAttempt() throws InterruptedException {
        stage.passOutage(this::hang, this::goOn);
    }

    /** Everything of it waits for answers that don't come, its reconcilers included: it closes all the same. */
    @Test
    void workerThatIsClosedWhileTheServerHangs_isClosedBeforeThatGoesOn_andItsJobRunsAgain()
            throws InterruptedException {
        Worker closing = stage.startWholeWorker(OTHER);
        String id = stage.scene.submit(OTHER, heartbeat(OutageStage.BRISK)).id();
        Scene.until(() -> stage.events.contains("started " + id + " 1"));
        try {
            hang();
            closing.close();
            assertThat(closing.status().claiming()).isEqualTo(WorkerStatus.Claiming.CLOSED);
        } finally {
            goOn();
        }
        try (Worker next = stage.startWholeWorker(OTHER)) {
            Scene.until(() -> stage.events.contains("started " + id + " 2"));
            stage.handler.order(id, 2, OrderedHandler.RETURN);
            assertThat(stage.scene.awaitEnd(id).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(next.status().claiming()).isEqualTo(WorkerStatus.Claiming.YES);
        }
    }

    private void hang() {
        // Behind a pooler a session bears the worker's name only when the worker was the last to use it.
        List<ProcessHandle> worker = Awaitility.await()
                .until(() -> stage.scene.serverProcesses(Pools.TARDY), processes -> !processes.isEmpty());
        ProcessHandle main = worker.get(0).parent().orElseThrow();
        frozen.push(Freezer.freeze(worker));
        frozen.push(Freezer.freeze(List.of(main))); // before its children, so that it makes no more of them
        frozen.push(Freezer.freeze(
                main.children().filter(process -> !worker.contains(process)).toList()));
    }

    private void goOn() throws InterruptedException {
        while (frozen.size() > 1) {
            frozen.pop().close();
        }
        Thread.sleep(WORKER_LAST.toMillis());
        frozen.pop().close();
    }
}
