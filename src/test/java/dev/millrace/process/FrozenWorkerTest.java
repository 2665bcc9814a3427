package dev.millrace.process;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.process.OrderedHandler.REPORT;
import static dev.millrace.process.OrderedHandler.RETURN;
import static dev.millrace.process.OrderedHandler.THROW;
import static java.time.Duration.ZERO;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.condition.OS.LINUX;
import static org.junit.jupiter.api.condition.OS.MAC;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A process with a worker is suspended past the heartbeat timeout of the job that it runs, and goes on too late. */
@MillraceDatabase
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledOnOs({LINUX, MAC})
@Timeout(120)
class FrozenWorkerTest {
    private static final HeartbeatPolicy BRISK = Scene.beats(200, 800);
    private static final RetryPolicy RETRIES = RetryPolicy.fixed(5, ZERO);
    private static final String FROZEN = "frozen";

    private final Scene scene;
    private final ChildJvm frozen;
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final OrderedHandler successor = new OrderedHandler(events::add);

    FrozenWorkerTest(TestDatabase database) {
        scene = new Scene(Place.of(database));
        frozen = scene.startWorker(FROZEN);
    }

    @AfterEach
    void nothingIsLeftOver() {
        frozen.thaw();
        frozen.order("hear");
        scene.clear();
    }

    @AfterAll
    void close() {
        scene.close();
    }

    @Test
    void frozenWorker_goingOn_isToldByItsBeat_andStopsItsHandler() throws InterruptedException {
        String id = submitAndAwaitStart();
        frozen.freeze();
        try (Worker worker = startSuccessor("successor")) {
            Map<String, Object> before = rowOfSecondAttempt(id);
            frozen.thaw();
            frozen.awaitEvent("interrupted " + id + " 1 LOST");
            frozen.awaitEvent("ended " + id + " 1");
            assertThat(Scene.changes(before, scene.rowWithoutBeats(id))).isEmpty();
            assertSecondAttemptSucceeds(id, worker);
        }
        assertThat(frozen.events("finish " + id)).isEmpty();
    }

    /** No beat tells the frozen worker that it is too late: what its handler then has to say goes to the database. */
    @ParameterizedTest
    @CsvSource({
        RETURN + ", Succeed, successor",
        THROW + ", Retry, successor",
        RETURN + ", Succeed, " + FROZEN,
        THROW + ", Retry, " + FROZEN
    })
    void handlerOfFrozenWorker_endingTooLate_changesNothing(String how, String ending, String successorsName)
            throws InterruptedException {
        String id = submitAndAwaitStart();
        frozen.ask("deaf");
        frozen.freeze();
        try (Worker worker = startSuccessor(successorsName)) {
            Map<String, Object> before = rowOfSecondAttempt(id);
            frozen.thaw();
            frozen.order(how + " " + id + " 1");
            assertThat(frozen.awaitEvent("finish " + id)).isEqualTo("finish " + id + " " + ending + " false");
            assertThat(Scene.changes(before, scene.rowWithoutBeats(id))).isEmpty();
            assertSecondAttemptSucceeds(id, worker);
        }
    }

    @Test
    void handlerOfFrozenWorker_reportingProgressTooLate_isTold_andChangesNothing() throws InterruptedException {
        String id = submitAndAwaitStart();
        frozen.ask("deaf");
        frozen.freeze();
        try (Worker worker = startSuccessor(FROZEN)) {
            Map<String, Object> before = rowOfSecondAttempt(id);
            frozen.thaw();
            frozen.order(REPORT + " " + id + " 1");
            assertThat(frozen.awaitEvent("report " + id))
                    .contains("refused: Attempt 1 of job \"" + id + "\"", "no longer the job's");
            assertThat(frozen.events("progress " + id)).containsExactly("progress " + id + " LOST");
            frozen.order(RETURN + " " + id + " 1");
            frozen.awaitEvent("ended " + id + " 1");
            assertThat(Scene.changes(before, scene.rowWithoutBeats(id))).isEmpty();
            assertSecondAttemptSucceeds(id, worker);
        }
    }

    private String submitAndAwaitStart() {
        String id = scene.submit(Task.WAIT, heartbeat(BRISK), retry(RETRIES)).id();
        frozen.awaitEvent("started " + id + " 1");
        return id;
    }

    /** A worker of this process, with a reconciler. */
    private Worker startSuccessor(String name) {
        return scene.millrace
                .worker()
                .handle(Task.WAIT, successor.waiting())
                .name(name)
                .pollInterval(Duration.ofMillis(50))
                .drainTimeout(ZERO)
                .recovery(Scene.sweeping())
                .start();
    }

    private Map<String, Object> rowOfSecondAttempt(String id) {
        Scene.until(() -> events.contains("started " + id + " 2"));
        return scene.rowWithoutBeats(id);
    }

    private void assertSecondAttemptSucceeds(String id, Worker worker) throws InterruptedException {
        successor.order(id, 2, RETURN);
        Job job = scene.awaitEnd(id);
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isEqualTo(2);
        assertThat(job.state().claimedBy()).isEqualTo(worker.settings().name());
        assertThat(job.state().percentComplete()).isEqualTo(100);
        assertThat(job.outcome().history()).hasSize(1);
        assertThat(job.outcome().errorMessage()).startsWith("The heartbeat expired in attempt 1 of 5");
    }
}
