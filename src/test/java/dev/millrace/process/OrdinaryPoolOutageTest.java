package dev.millrace.process;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.process.OrderedHandler.RETURN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.Millrace;
import dev.millrace.devdb.DevDatabase;
import dev.millrace.devdb.Provider;
import dev.millrace.devdb.StopMode;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An outage with pools that are left at HikariCP's defaults. After a failure they try to connect at growing intervals, up
 * to 5 s, so a worker may be silent for as long after the server is back, while a reconciler that has just started is
 * connected at once. The heartbeat timeout must be longer than that: here it is little more, by default it is 90 s.
 */
@Timeout(120)
class OrdinaryPoolOutageTest {
    private static final HeartbeatPolicy CALM = Scene.beats(500, 7_000);
    private static final Duration OUTAGE = Duration.ofMillis(7_200);

    private final DevDatabase server = DevDatabase.start(Provider.EMBEDDED);
    private final Place place = Place.of(server, Millrace.DEFAULT_SCHEMA);
    private final Scene scene = new Scene(place, Pools.usual(place));
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final OrderedHandler handler = new OrderedHandler(events::add);

    @AfterEach
    void close() {
        try (server) {
            server.startAgain();
            scene.close();
        }
    }

    @Test
    void outage_longerThanTheHeartbeatTimeout_interruptsNoHandler_andCostsNoAttempt() throws InterruptedException {
        scene.millrace.migrate();
        ChildJvm reconciler = scene.start(ReconcilerProcess.class, "usual");
        Worker worker = scene.closing(scene.millrace
                .worker()
                .handle(Task.WAIT, handler.waiting())
                .drainTimeout(Duration.ZERO)
                .withoutRecovery()
                .start());
        String id = scene.submit(Task.WAIT, heartbeat(CALM), retry(RetryPolicy.NEVER))
                .id();
        Scene.until(() -> events.contains("started " + id + " 1"));
        reconciler.awaitReady();

        server.stop(StopMode.FAST);
        Thread.sleep(OUTAGE.toMillis());
        server.startAgain();
        reconciler.order("watch");

        Scene.until(() -> Watch.of(reconciler).trusts(CALM.timeout()));
        assertThat(scene.status(id)).matches(JobStatus::isClaimed);
        Scene.until(() -> worker.status().healthy());
        handler.order(id, 1, RETURN);
        Job job = scene.awaitEnd(id);
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isEqualTo(1);
        assertThat(events).containsExactly("started " + id + " 1", "ended " + id + " 1");
    }
}
