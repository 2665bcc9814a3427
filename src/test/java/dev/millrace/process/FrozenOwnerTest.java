package dev.millrace.process;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.retry;
import static java.time.Duration.ZERO;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.condition.OS.LINUX;
import static org.junit.jupiter.api.condition.OS.MAC;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.recovery.JobReconciler;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process that holds a job is suspended past the job's heartbeat timeout, and goes on when the job is no longer its own.
 * No worker is in its way: it makes every write that there is.
 */
@MillraceDatabase
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledOnOs({LINUX, MAC})
@Timeout(120)
class FrozenOwnerTest {
    private static final HeartbeatPolicy BRISK = Scene.beats(200, 800);
    private static final String OWNER = "owner";
    private static final JsonText RESULT = JsonText.of("\"the successor's\"");

    private static final Map<String, String> ALL_REFUSED = Map.ofEntries(
            entry("start", "LOST"),
            entry("beat", "LOST"),
            entry("progress", "LOST"),
            entry("recover", "0"),
            entry("succeed", "false"),
            entry("fail", "false"),
            entry("retry", "false"),
            entry("cancel", "false"),
            entry("handBack", "false"),
            entry("requeue", "false"),
            entry("result", "false"));

    private final Scene scene;
    private final ChildJvm owner;

    /** What becomes of the job while its owner is frozen. */
    enum Meanwhile {
        WAITS_FOR_ANOTHER_ATTEMPT,
        CLAIMED_ELSEWHERE,
        RUNS_ELSEWHERE,
        RUNS_UNDER_THE_SAME_NAME,
        SUCCEEDED_ELSEWHERE,
        FAILED_FOR_GOOD,
        CANCELLED,
        DELETED;

        RetryPolicy retries() {
            return RetryPolicy.fixed(this == FAILED_FOR_GOOD ? 1 : 2, ZERO);
        }

        JobStatus afterExpiry() {
            return switch (this) {
                case FAILED_FOR_GOOD -> JobStatus.FAILED;
                case CANCELLED -> JobStatus.CANCELLED;
                default -> JobStatus.QUEUED;
            };
        }
    }

    FrozenOwnerTest(TestDatabase database) {
        scene = new Scene(Place.of(database));
        owner = scene.start(AttemptProcess.class, OWNER);
    }

    @AfterEach
    void nothingIsLeftOver() {
        owner.thaw();
        scene.clear();
    }

    @AfterAll
    void close() {
        scene.close();
    }

    @ParameterizedTest
    @EnumSource
    void frozenOwner_goingOn_changesNothing_andIsTold(Meanwhile meanwhile) throws InterruptedException {
        String id = scene.submit(Task.WAIT, heartbeat(BRISK), retry(meanwhile.retries()))
                .id();
        owner.awaitReady().order("claim 1");
        owner.awaitEvent("claimed " + id);
        owner.order("start " + id);
        owner.awaitEvent("started " + id + " HELD");

        owner.freeze();
        if (meanwhile == Meanwhile.CANCELLED) {
            scene.millrace.cancel(id, "someone", "not needed any more");
        }
        expire(id, meanwhile.afterExpiry());
        Claim successor = supersede(id, meanwhile);
        Map<String, Object> before = scene.row(id);
        owner.thaw();
        owner.order("try " + id);
        owner.awaitEvent("tried " + id);

        assertThat(Scene.changes(before, scene.row(id))).isEmpty();
        assertThat(scene.store.results().get(id))
                .isEqualTo(Optional.ofNullable(successor).map(claim -> RESULT));
        assertThat(answers(id)).isEqualTo(ALL_REFUSED);
        if (successor != null && !scene.status(id).isFinal()) {
            assertThat(scene.store.work().finish(successor, new Finish.Succeed()))
                    .isTrue();
        }
        if (successor != null) {
            assertSucceededInItsSecondAttempt(id);
        }
    }

    private void expire(String id, JobStatus afterwards) {
        try (JobReconciler reconciler = scene.millrace.reconciler(Scene.sweeping())) {
            reconciler.start();
            Scene.until(() -> scene.status(id) == afterwards);
        }
    }

    private @Nullable Claim supersede(String id, Meanwhile meanwhile) {
        switch (meanwhile) {
            case WAITS_FOR_ANOTHER_ATTEMPT, FAILED_FOR_GOOD, CANCELLED -> {
                return null;
            }
            case DELETED -> {
                scene.delete(id);
                return null;
            }
            default -> {}
        }
        Claim claim = claim(id, meanwhile == Meanwhile.RUNS_UNDER_THE_SAME_NAME ? OWNER : "successor");
        if (meanwhile != Meanwhile.CLAIMED_ELSEWHERE) {
            scene.store.work().start(claim.attempt());
        }
        scene.store.results().put(claim.attempt(), RESULT, Duration.ofDays(1));
        if (meanwhile == Meanwhile.SUCCEEDED_ELSEWHERE) {
            scene.store.work().finish(claim, new Finish.Succeed());
        }
        return claim;
    }

    private Claim claim(String id, String worker) {
        List<ClaimRequest.Source> source =
                List.of(new ClaimRequest.Source(JobSpec.DEFAULT_PROFILE, JobSpec.DEFAULT_QUEUE));
        List<Claim> claims = scene.store.work().claim(ClaimRequest.of(worker, source, List.of(), 1));
        assertThat(claims).extracting(claim -> claim.job().id()).containsExactly(id);
        return claims.get(0);
    }

    private Map<String, String> answers(String id) {
        Map<String, String> answers = new LinkedHashMap<>();
        for (String event : owner.events("answer " + id)) {
            String[] words = event.split(" ", 4);
            answers.put(words[2], words[3]);
        }
        return answers;
    }

    private void assertSucceededInItsSecondAttempt(String id) {
        Job job = scene.job(id);
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isEqualTo(2);
        assertThat(job.state().percentComplete()).isEqualTo(100);
        assertThat(job.outcome().history()).extracting(PastAttempt::ending).containsExactly(PastAttempt.Ending.EXPIRED);
    }
}
