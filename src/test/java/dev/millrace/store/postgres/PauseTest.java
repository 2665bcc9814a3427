package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.CONTROLS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.Millrace;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.AssignedClaim.Takeover;
import dev.millrace.store.Assignment;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Controls.Pause;
import dev.millrace.store.Controls.Scope;
import dev.millrace.store.Finish;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import dev.millrace.worker.Worker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Paused queues and kinds: what they stop, what they let go on, and that nobody can miss them. */
@MillraceDatabase
class PauseTest {
    private final TestDatabase database;
    private final StoreFixture db;

    PauseTest(TestDatabase database) {
        this.database = database;
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    @AfterEach
    void resumedAndEmpty() {
        db.controls.pauses().forEach(pause -> db.controls.resume(pause.scope(), "test"));
        db.clear();
    }

    private static List<String> ids(List<Claim> claims) {
        return claims.stream().map(claim -> claim.job().id()).toList();
    }

    private static ClaimRequest from(String queue, int limit, String... kinds) {
        return ClaimRequest.of("worker-1", List.of(new ClaimRequest.Source("managed", queue)), List.of(kinds), limit);
    }

    private Job submit(String kind, String queue) {
        var job = StoreFixture.newJob(kind);
        return db.submit(job.withSpec(job.spec().withQueue(queue)));
    }

    @Test
    void pause_saysWhoAndWhyAndSinceWhen_andIsResumed() {
        assertThat(db.controls.pauses()).isEmpty();
        Instant before = db.now();
        Pause kind = db.controls.pause(Scope.kind("mail"), "ops", "the provider is down");
        Pause queue = db.controls.pause(Scope.queue("slow"), "ops", null);
        assertThat(kind.by()).isEqualTo("ops");
        assertThat(kind.why()).isEqualTo("the provider is down");
        assertThat(kind.since()).isBetween(before, db.now());
        assertThat(db.controls.pauses()).containsExactly(queue, kind);
        assertThat(db.controls.pause(Scope.kind("mail"), "another", "again")).isEqualTo(kind);
        assertThat(db.controls.resume(Scope.queue("mail"), "ops")).isEmpty();
        assertThat(db.controls.resume(Scope.kind("mail"), "another")).contains(kind);
        assertThat(db.controls.resume(Scope.kind("mail"), "another")).isEmpty();
        assertThat(db.controls.pauses()).containsExactly(queue);
    }

    /** Whatever way the claim takes: all kinds, one, several; and the head of the queue holds more of the paused kind than it looks at. */
    @ParameterizedTest
    @CsvSource({"''", "b", "'a,b'"})
    void pausedKind_isNotClaimed_andOthersBehindItAre(String kinds) {
        List<String> paused = new ArrayList<>();
        for (int i = 0; i < ClaimShape.WINDOW + 50; i++) {
            var job = StoreFixture.newJob("a");
            paused.add(db.submit(job.withPriority(Priority.CRITICAL)).id());
        }
        String other = db.submit("b").id();
        db.controls.pause(Scope.kind("a"), "test", null);
        String[] asked = kinds.isEmpty() ? new String[0] : kinds.split(",");
        assertThat(ids(db.claim(10, asked))).containsExactly(other);
        assertThat(db.claim(10, asked)).isEmpty();
        db.controls.resume(Scope.kind("a"), "test");
        if (!kinds.equals("b")) {
            assertThat(paused).containsAll(ids(db.claim(10, asked)));
        }
    }

    @ParameterizedTest
    @CsvSource({"''", "a", "'a,b'"})
    void pausedQueue_isNotClaimed_andOthersAre(String kinds) {
        String[] asked = kinds.isEmpty() ? new String[0] : kinds.split(",");
        Job held = submit("a", "slow");
        Job other = submit("a", "fast");
        db.controls.pause(Scope.queue("slow"), "test", null);
        assertThat(db.work.claim(from("slow", 10, asked))).isEmpty();
        ClaimRequest both = ClaimRequest.of(
                "worker-1",
                List.of(new ClaimRequest.Source("managed", "slow"), new ClaimRequest.Source("managed", "fast")),
                List.of(asked),
                10);
        assertThat(ids(db.work.claim(both))).containsExactly(other.id());
        db.controls.resume(Scope.queue("slow"), "test");
        assertThat(ids(db.work.claim(both))).containsExactly(held.id());
    }

    @Test
    void nameOfAKind_isNoNameOfAQueue_andOddNamesAreNames() {
        for (String odd : List.of("kind:x", "queue:", "\u00FC\u20AC", "a'b\"c\\", "%", "paused.kind:a")) {
            Job job = submit(odd, odd + "-q");
            db.controls.pause(Scope.queue(odd), "test", null);
            db.controls.pause(Scope.kind(odd + "-q"), "test", null);
            assertThat(ids(db.work.claim(from(odd + "-q", 1, odd)))).containsExactly(job.id());
            Job next = submit(odd, odd + "-q");
            db.controls.pause(Scope.kind(odd), "test", null);
            assertThat(db.work.claim(from(odd + "-q", 1, odd))).isEmpty();
            db.controls.resume(Scope.kind(odd), "test");
            db.controls.pause(Scope.queue(odd + "-q"), "test", null);
            assertThat(db.work.claim(from(odd + "-q", 1, odd))).isEmpty();
            db.controls.resume(Scope.queue(odd + "-q"), "test");
            assertThat(ids(db.work.claim(from(odd + "-q", 1, odd)))).containsExactly(next.id());
        }
    }

    @Test
    void claimById_ofAPausedJob_isRefused_alsoFromASilentWorker() {
        Job queued = db.submit("a");
        Claim silent = db.running("b");
        db.age(silent.job().id(), Duration.ofHours(1).minusMinutes(1));
        db.controls.pause(Scope.kind("a"), "test", null);
        db.controls.pause(Scope.kind("b"), "test", null);
        AssignedClaim take = AssignedClaim.of("w", queued.id());
        AssignedClaim takeOver = AssignedClaim.of("w", silent.job().id()).withTakeover(Takeover.OUTAGE_GRACE_IS_OVER);
        for (AssignedClaim request : List.of(take, takeOver)) {
            assertThat(db.queue.claim(request)).isInstanceOfSatisfying(Assignment.Refused.class, refused -> {
                assertThat(refused.reason()).isEqualTo(Assignment.Reason.PAUSED);
                assertThat(refused.message()).contains("paused until Controls.resume");
            });
        }
        db.controls.resume(Scope.kind("a"), "test");
        db.controls.resume(Scope.kind("b"), "test");
        assertThat(db.queue.claim(take)).isInstanceOf(Assignment.Taken.class);
        assertThat(db.queue.claim(takeOver)).isInstanceOf(Assignment.Taken.class);
    }

    @Test
    void whatRuns_goesOn_andItsRetryWaits() {
        Claim running = db.running("a");
        db.controls.pause(Scope.kind("a"), "test", null);
        assertThat(db.work.finish(running, new Finish.Retry(Duration.ZERO, "boom")))
                .isTrue();
        assertThat(db.claim(1, "a")).isEmpty();
        assertThat(db.submit("a").status()).isEqualTo(JobStatus.QUEUED);
        assertThat(db.jobs.cancel(running.job().id(), null, null)).isNotNull();
        assertThat(db.get(running.job().id()).status()).isEqualTo(JobStatus.CANCELLED);
    }

    @Test
    void pauseInACallersTransaction_takesEffectWithItsCommit() {
        db.submit("a");
        db.undone(tx -> db.store.in(tx).controls().pause(Scope.kind("a"), "test", null));
        assertThat(db.controls.pauses()).isEmpty();
        db.dsl.transaction(tx -> db.store.in(tx).controls().pause(Scope.kind("a"), "test", null));
        assertThat(db.claim(1, "a")).isEmpty();
    }

    @Test
    void rowsOfThatTable_thatAreNoPause_areLeftAlone() {
        db.dsl
                .insertInto(CONTROLS)
                .set(CONTROLS.NAME, "paused.tenant:acme") // of a newer release
                .set(CONTROLS.SET_BY, "test")
                .set(CONTROLS.SET_AT, Instant.EPOCH)
                .execute();
        try {
            assertThat(db.controls.pauses()).isEmpty();
            Job job = db.submit("a");
            assertThat(ids(db.claim(1, "a"))).containsExactly(job.id());
        } finally {
            db.dsl
                    .deleteFrom(CONTROLS)
                    .where(CONTROLS.NAME.eq("paused.tenant:acme"))
                    .execute();
        }
    }

    /** Whoever was told that a kind is paused finds no job of it claimed from then on. */
    @Test
    void claimsAtTheSameTime_takeNothing_onceThePauseIsTold() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            for (int round = 0; round < 100; round++) {
                Job job = db.submit("a");
                CyclicBarrier together = new CyclicBarrier(2);
                Future<List<Claim>> claims = threads.submit(after(together, () -> db.claim(1, "a")));
                Future<Pause> pause =
                        threads.submit(after(together, () -> db.controls.pause(Scope.kind("a"), "test", null)));
                pause.get(30, TimeUnit.SECONDS);
                boolean taken = !claims.get(30, TimeUnit.SECONDS).isEmpty();
                assertThat(db.get(job.id()).status()).isEqualTo(taken ? JobStatus.PROVISIONING : JobStatus.QUEUED);
                assertThat(db.claim(1, "a")).isEmpty();
                db.controls.resume(Scope.kind("a"), "test");
                db.clear();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static <T> Callable<T> after(CyclicBarrier together, Callable<T> call) {
        return () -> {
            together.await(30, TimeUnit.SECONDS);
            return call.call();
        };
    }

    @Test
    void worker_doesNotRunWhatIsPaused_andRunsItOnceItIsResumed() throws InterruptedException {
        Millrace millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
        JobType<JsonText> paused = JobType.of("paused", JsonText.class);
        JobType<JsonText> other = JobType.of("other", JsonText.class);
        millrace.controls().pause(Scope.kind("paused"), "test", null);
        Job waits = millrace.submit(paused, JsonText.of("{}"));
        Job runs = millrace.submit(other, JsonText.of("{}"));
        try (Worker worker = millrace.worker()
                .handle(paused, (payload, context) -> {})
                .handle(other, (payload, context) -> {})
                .pollInterval(Duration.ofMillis(20))
                .withoutRecovery()
                .start()) {
            assertThat(millrace.await(runs, Duration.ofSeconds(60)).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(worker.status().healthy()).isTrue();
            assertThat(millrace.get(waits.id()).orElseThrow().status()).isEqualTo(JobStatus.QUEUED);
            millrace.controls().resume(Scope.kind("paused"), "test");
            assertThat(millrace.await(waits, Duration.ofSeconds(60)).status()).isEqualTo(JobStatus.SUCCEEDED);
        }
    }

    @Test
    void whatIsNotAllowed_isRefused_beforeAnythingIsWritten() {
        assertThatThrownBy(() -> Scope.queue("")).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> Scope.kind("x".repeat(65))).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> db.controls.pause(Scope.kind("a"), "", null)).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> db.controls.pause(Scope.kind("a"), "me", "\0"))
                .isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> db.controls.pause(null, "me", null)).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> db.controls.resume(null, "me")).isInstanceOf(InvalidJobException.class);
        assertThat(db.controls.pauses()).isEmpty();
    }
}
