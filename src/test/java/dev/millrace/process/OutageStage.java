package dev.millrace.process;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.process.OrderedHandler.RETURN;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.devdb.DevDatabase;
import dev.millrace.devdb.Provider;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.RetryPolicy;
import dev.millrace.recovery.JobReconciler;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A server that may be stopped, a worker, and two reconcilers: one in the worker's process and one in another. Both sweep
 * several times within a heartbeat timeout, and see the database a little earlier than the worker does when it is back:
 * they would expire every job if they believed what they see.
 */
final class OutageStage implements AutoCloseable {
    static final HeartbeatPolicy BRISK = Scene.beats(200, 1_000);

    /** Longer than the timeout, a beat and all that a server needs to come back. */
    private static final Duration OUTAGE = Duration.ofMillis(1_700);

    final DevDatabase server = DevDatabase.start(Provider.EMBEDDED);
    final Scene scene;
    final List<String> events = new CopyOnWriteArrayList<>();
    final OrderedHandler handler = new OrderedHandler(events::add);
    private final Worker worker;
    private final JobReconciler here;
    private final ChildJvm elsewhere;

    OutageStage() {
        Place place = Place.of(server, Millrace.DEFAULT_SCHEMA);
        scene = new Scene(place, Pools.tardy(place));
        try (HikariDataSource patient = Pools.usual(place)) {
            Millrace.on(patient).migrate();
        }
        elsewhere = scene.start(ReconcilerProcess.class, "quick");
        elsewhere.order("watch");
        HikariDataSource quick = scene.closing(Pools.quick(place));
        here = scene.closing(Millrace.on(quick).reconciler(Scene.sweeping()));
        here.start();
        worker = scene.closing(startWorker(Task.WAIT));
    }

    /** A worker of this process for jobs of this type. */
    Worker startWorker(JobType<Task> type) {
        return scene.millrace
                .worker()
                .handle(type, handler.waiting())
                .pollInterval(Duration.ofMillis(50))
                .drainTimeout(Duration.ZERO)
                .withoutRecovery()
                .start();
    }

    /** The same with a reconciler, a sweeper and all. */
    Worker startWholeWorker(JobType<Task> type) {
        return scene.millrace
                .worker()
                .handle(type, handler.waiting())
                .pollInterval(Duration.ofMillis(50))
                .drainTimeout(Duration.ZERO)
                .recovery(Scene.sweeping())
                .start();
    }

    /** What begins or ends an outage. */
    interface Step {
        void run() throws InterruptedException;
    }

    /** Lets an outage pass, with one job that runs all the time and one whose handler returns in it. */
    void passOutage(Step begin, Step end) throws InterruptedException {
        String running = submitAndAwaitStart();
        String ending = submitAndAwaitStart();
        awaitTrust();

        try {
            begin.run();
            handler.order(ending, 1, RETURN);
            Scene.until(() -> events.contains("ended " + ending + " 1"));
            Thread.sleep(OUTAGE.toMillis());
            assertThat(worker.status().healthy()).isFalse();
        } finally {
            end.run();
        }

        awaitTrust();
        assertThat(scene.job(running).outcome().errorMessage()).isNull();
        assertThat(scene.status(running)).matches(JobStatus::isClaimed);
        handler.order(running, 1, RETURN);
        assertUnharmed(running);
        assertUnharmed(ending);
        Scene.until(() -> worker.status().healthy());
    }

    /** Waits until each reconciler has looked for stale heartbeats and would have believed what it saw. */
    void awaitTrust() {
        Scene.until(() -> Watch.of(here).trusts(BRISK.timeout()));
        Scene.until(() -> Watch.of(elsewhere).trusts(BRISK.timeout()));
    }

    private String submitAndAwaitStart() {
        String id = scene.submit(Task.WAIT, heartbeat(BRISK), retry(RetryPolicy.NEVER))
                .id();
        Scene.until(() -> events.contains("started " + id + " 1"));
        return id;
    }

    private void assertUnharmed(String id) throws InterruptedException {
        Job job = scene.awaitEnd(id);
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isEqualTo(1);
        assertThat(job.outcome().history()).isEmpty();
        assertThat(events)
                .filteredOn(event -> event.startsWith("interrupted " + id))
                .isEmpty();
    }

    @Override
    public void close() {
        try (server) {
            scene.close();
        }
    }
}
