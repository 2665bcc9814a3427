package dev.millrace.process;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.process.OrderedHandler.RETURN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.RetryPolicy;
import dev.millrace.recovery.JobReconciler;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A caller's open transaction holds the row of one running job for longer than its heartbeat timeout. */
@MillraceDatabase
@Timeout(120)
class LockedRowTest {
    /** Sweeps come far more often than the beat of a locked row is repeated: the first to see it free is a sweep. */
    private static final HeartbeatPolicy BRISK = Scene.beats(450, 1_000);

    private static final Duration SWEEP = Duration.ofMillis(20);
    private static final Duration LONG = BRISK.timeout().multipliedBy(2);
    private static final int JOBS = 10;

    private final Scene scene;
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final OrderedHandler handler = new OrderedHandler(events::add);

    LockedRowTest(TestDatabase database) {
        scene = new Scene(Place.of(database));
    }

    @AfterEach
    void close() {
        scene.close();
    }

    @Test
    void runningJobs_ofWhichOneIsLockedForTwoTimeouts_areBeatenFor_andNoneIsTakenForDead() throws InterruptedException {
        JobReconciler reconciler =
                scene.closing(scene.millrace.reconciler(RecoverySettings.DEFAULT.withJobSweepInterval(SWEEP)));
        reconciler.start();
        Scene.until(() -> Watch.of(reconciler).trusts(BRISK.timeout()));
        scene.closing(scene.millrace
                .worker()
                .handle(Task.WAIT, handler.waiting())
                .concurrency(JOBS)
                .pollInterval(Duration.ofMillis(50))
                .drainTimeout(Duration.ZERO)
                .withoutRecovery()
                .start());
        List<String> ids = scene.submitTogether(JOBS, Task.WAIT, Task.NONE, heartbeat(BRISK), retry(RetryPolicy.NEVER));
        ids.forEach(id -> Scene.until(() -> events.contains("started " + id + " 1")));
        String locked = ids.get(JOBS / 2);
        Instant begin = scene.now();

        scene.holdRow(locked, () -> {
            Thread.sleep(LONG.toMillis());
            assertThat(ids)
                    .filteredOn(id -> !id.equals(locked))
                    .allMatch(id -> scene.job(id).state().lastHeartbeatAt().isAfter(begin.plus(BRISK.timeout())));
        });

        Instant end = scene.now();
        Scene.until(() -> Watch.of(reconciler).sweptAt().isAfter(end.plus(BRISK.timeout())));
        for (String id : ids) {
            handler.order(id, 1, RETURN);
            Job job = scene.awaitEnd(id);
            assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(job.state().attemptCount()).isEqualTo(1);
            assertThat(job.outcome().history()).isEmpty();
        }
        assertThat(events).filteredOn(event -> event.startsWith("interrupted")).isEmpty();
    }
}
