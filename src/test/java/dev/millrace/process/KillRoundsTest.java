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
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers are killed at random moments while they drain a queue. */
@MillraceDatabase
@Timeout(180)
class KillRoundsTest {
    private static final HeartbeatPolicy BRISK = Scene.beats(200, 1_000);
    private static final RetryPolicy RETRIES = RetryPolicy.fixed(20, ZERO);
    private static final int ROUNDS = 5;
    private static final int WORKERS = 3;
    private static final int JOBS = 100;
    private static final Task NAP = new Task(100);

    private final Scene scene;
    private List<String> more = List.of();
    private final List<ChildJvm> alive = new ArrayList<>();
    private final List<ChildJvm> all = new ArrayList<>();

    KillRoundsTest(TestDatabase database) {
        scene = new Scene(Place.of(database));
    }

    @AfterEach
    void close() {
        scene.close();
    }

    /** With and without jobs that are claimed ahead, and outcomes that are gathered. */
    @ParameterizedTest
    @ValueSource(strings = {"", "8 10"})
    void jobs_whoseWorkersAreKilledAtRandom_allSucceed_andTheirAttemptsAddUp(String ahead) throws InterruptedException {
        more = ahead.isEmpty() ? List.of() : List.of(ahead.split(" "));
        long seed = System.nanoTime();
        System.out.println("Seed of the kills: " + seed);
        Random random = new Random(seed);
        while (alive.size() < WORKERS) {
            alive.add(startWorker());
        }
        int lost = 0;
        for (int round = 0; round < ROUNDS; round++) {
            alive.forEach(ChildJvm::awaitReady);
            int target = done() + random.nextInt(JOBS / 2);
            List<String> ids = scene.submitTogether(JOBS, Task.NAP, NAP, heartbeat(BRISK), retry(RETRIES));
            Scene.until(() -> done() >= target);
            replace(random.nextInt(WORKERS));
            for (String id : ids) {
                lost += lostAttempts(scene.awaitEnd(id));
            }
        }
        System.out.println("Attempts lost with their workers: " + lost);
        assertThat(lost).isPositive();
    }

    private ChildJvm startWorker() {
        List<String> arguments =
                new ArrayList<>(List.of("worker-" + all.size(), "4", Long.toString(Scene.SWEEP.toMillis())));
        arguments.addAll(more);
        ChildJvm worker = scene.start(WorkerProcess.class, arguments.toArray(String[]::new));
        all.add(worker);
        return worker;
    }

    private void replace(int victim) {
        alive.get(victim).kill();
        alive.set(victim, startWorker());
    }

    private int done() {
        return all.stream().mapToInt(worker -> worker.events("napped").size()).sum();
    }

    private static int lostAttempts(Job job) {
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        List<PastAttempt> past = job.outcome().history();
        assertThat(past).hasSize(job.state().attemptCount() - 1);
        assertThat(past).allMatch(attempt -> attempt.ending() == PastAttempt.Ending.EXPIRED);
        return past.size();
    }
}
