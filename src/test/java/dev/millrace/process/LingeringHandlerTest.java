package dev.millrace.process;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.process.OrderedHandler.REPORT;
import static dev.millrace.process.OrderedHandler.RETURN;
import static dev.millrace.process.OrderedHandler.THROW;
import static java.time.Duration.ZERO;
import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A handler that ignores its interrupt lives on in the process that runs the job's next attempt. Neither the worker's name
 * nor the process tells the two apart; the claim token does.
 */
@MillraceDatabase
@Timeout(120)
class LingeringHandlerTest {
    private static final HeartbeatPolicy BRISK = Scene.beats(200, 800);
    private static final RetryPolicy RETRIES = RetryPolicy.fixed(5, ZERO);
    private static final String NAME = "worker";

    private final Scene scene;
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final OrderedHandler handler = new OrderedHandler(events::add);

    LingeringHandlerTest(TestDatabase database) {
        scene = new Scene(Place.of(database));
    }

    @AfterEach
    void close() {
        scene.close();
    }

    @Test
    void worker_runsTheNextAttemptBesideTheLostOne_whoseHandlerIsHeardNoMore() throws InterruptedException {
        WatchedSource source = new WatchedSource(scene.store.work(), events::add);
        Worker worker = start(source);
        scene.startWatchingReconciler(BRISK.timeout());
        String id = submitAndAwaitStart();
        source.deaf(true);
        Scene.until(() -> scene.status(id) == JobStatus.QUEUED);
        source.deaf(false);
        Scene.until(() -> events.contains("started " + id + " 2"));
        assertThat(events).contains("interrupted " + id + " 1 LOST");
        assertThat(worker.status().running()).isEqualTo(2);
        Map<String, Object> before = scene.rowWithoutBeats(id);

        handler.order(id, 1, REPORT);
        Scene.until(() -> events.stream().anyMatch(event -> event.startsWith("report " + id + " 1 refused")));
        handler.order(id, 1, RETURN);
        Scene.until(() -> worker.status().running() == 1);
        assertThat(Scene.changes(before, scene.rowWithoutBeats(id))).isEmpty();
        handler.order(id, 2, RETURN);
        assertSucceededInItsSecondAttempt(scene.awaitEnd(id));
        Scene.until(() -> events.contains("finish " + id + " Succeed true"));
        assertThat(events)
                .filteredOn(event -> event.startsWith("finish"))
                .containsExactly("finish " + id + " Succeed true");
    }

    /** The first worker has not heard that its attempt is lost, so what its handler says goes to the database. */
    @ParameterizedTest
    @CsvSource({RETURN + ", Succeed", THROW + ", Retry"})
    void workerOfTheSameName_runsTheNextAttempt_whichTheFirstOneCannotEnd(String how, String ending)
            throws InterruptedException {
        WatchedSource source = new WatchedSource(scene.store.work(), events::add);
        start(source);
        scene.startWatchingReconciler(BRISK.timeout());
        String id = submitAndAwaitStart();
        source.deaf(true);
        start(new WatchedSource(scene.store.work(), event -> events.add("second " + event)));
        Scene.until(() -> events.contains("started " + id + " 2"));
        Map<String, Object> before = scene.rowWithoutBeats(id);

        handler.order(id, 1, how);
        Scene.until(() -> events.contains("finish " + id + " " + ending + " false"));
        assertThat(Scene.changes(before, scene.rowWithoutBeats(id))).isEmpty();
        handler.order(id, 2, RETURN);
        assertSucceededInItsSecondAttempt(scene.awaitEnd(id));
        Scene.until(() -> events.contains("second finish " + id + " Succeed true"));
    }

    @Test
    void workerOfTheSameName_runsTheNextAttempt_onWhichTheFirstOneCannotReport() throws InterruptedException {
        WatchedSource source = new WatchedSource(scene.store.work(), events::add);
        start(source);
        scene.startWatchingReconciler(BRISK.timeout());
        String id = submitAndAwaitStart();
        source.deaf(true);
        start(new WatchedSource(scene.store.work(), event -> events.add("second " + event)));
        Scene.until(() -> events.contains("started " + id + " 2"));
        Map<String, Object> before = scene.rowWithoutBeats(id);

        handler.order(id, 1, REPORT);
        Scene.until(() -> events.contains("progress " + id + " LOST"));
        Scene.until(() -> events.contains("interrupted " + id + " 1 LOST"));
        handler.order(id, 1, RETURN);
        Scene.until(() -> events.contains("ended " + id + " 1"));
        assertThat(Scene.changes(before, scene.rowWithoutBeats(id))).isEmpty();
        handler.order(id, 2, RETURN);
        assertSucceededInItsSecondAttempt(scene.awaitEnd(id));
    }

    private String submitAndAwaitStart() {
        String id =
                scene.submit(Task.STUBBORN, heartbeat(BRISK), retry(RETRIES)).id();
        Scene.until(() -> events.contains("started " + id + " 1"));
        return id;
    }

    private Worker start(WatchedSource source) {
        return scene.closing(Worker.on(source, new Payloads())
                .settings(settings -> settings.withName(NAME)
                        .withConcurrency(2)
                        .withPollInterval(Duration.ofMillis(50))
                        .withDrainTimeout(ZERO))
                .handle(Task.STUBBORN, handler.stubborn())
                .start());
    }

    private static void assertSucceededInItsSecondAttempt(Job job) {
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isEqualTo(2);
        assertThat(job.state().claimedBy()).isEqualTo(NAME);
        assertThat(job.outcome().history()).hasSize(1);
    }
}
