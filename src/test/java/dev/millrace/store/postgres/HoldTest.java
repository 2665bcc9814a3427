package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.CONTROLS;
import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.Millrace;
import dev.millrace.devdb.Fault;
import dev.millrace.devdb.FaultyProxy;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.NewJob;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.AssignedClaim.Takeover;
import dev.millrace.store.Assignment;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Claim;
import dev.millrace.store.Controls.Hold;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.store.ReconcilableJobs.Cause;
import dev.millrace.store.ReconcilableJobs.Expiry;
import dev.millrace.store.ReconcilableJobs.Suspect;
import dev.millrace.store.Retention;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The hold switch: what it stops, what it lets go on, and that nobody can miss it. */
@MillraceDatabase
class HoldTest {
    private static final Finish RETRY = new Finish.Retry(Duration.ZERO, "its heartbeat expired");

    private final TestDatabase database;
    private final StoreFixture db;

    HoldTest(TestDatabase database) {
        this.database = database;
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    @AfterEach
    void releasedAndEmpty() {
        db.controls.release("test");
        db.clear();
    }

    @Test
    void hold_saysWhoAndWhyAndSinceWhen_andIsReleased() {
        assertThat(db.controls.held()).isEmpty();
        Instant before = db.now();
        Hold hold = db.controls.hold("ops", "restored from a backup");
        assertThat(hold.by()).isEqualTo("ops");
        assertThat(hold.why()).isEqualTo("restored from a backup");
        assertThat(hold.since()).isBetween(before, db.now());
        assertThat(db.controls.held()).contains(hold);
        assertThat(db.controls.release("someone else")).contains(hold);
        assertThat(db.controls.release("someone else")).isEmpty();
        assertThat(db.controls.held()).isEmpty();
    }

    @Test
    void hold_whileHeld_keepsTheFirst() {
        Hold first = db.controls.hold("first", null);
        assertThat(first.why()).isNull();
        assertThat(db.controls.hold("second", "other")).isEqualTo(first);
        assertThat(db.controls.held()).contains(first);
    }

    /** What another operator has stopped since is not what this one wanted to let go on. */
    @Test
    void release_whoseAnswerIsLost_leavesAHoldThatWasSetSince() throws Exception {
        db.controls.hold("first", null);
        try (FaultyProxy proxy = FaultyProxy.before(database)) {
            InterruptedSource source = new InterruptedSource(proxy.dataSource());
            PostgresStore store = PostgresStore.on(source, database.schema());
            assertThat(store.controls().held()).isPresent();
            proxy.inject(Fault.cutBeforeReply());
            source.before(2, () -> db.controls.hold("second", "something else"));

            assertThat(store.controls().release("me")).isEmpty();

            assertThat(proxy.struck()).isPositive();
            assertThat(source.happened()).isTrue();
        }
        assertThat(db.controls.held()).map(Hold::by).contains("second");
    }

    @Test
    void badInput_isRefusedBeforeAnySql() {
        for (String bad : new String[] {"", "x".repeat(513), "a\0b", "\ud800"}) {
            assertThatThrownBy(() -> db.controls.hold(bad, null))
                    .isInstanceOf(InvalidJobException.class)
                    .hasMessageContaining("hold.by");
            assertThatThrownBy(() -> db.controls.release(bad))
                    .isInstanceOf(InvalidJobException.class)
                    .hasMessageContaining("release.by");
        }
        for (String bad : new String[] {"", "x".repeat(2_001), "a\0b"}) {
            assertThatThrownBy(() -> db.controls.hold("ops", bad))
                    .isInstanceOf(InvalidJobException.class)
                    .hasMessageContaining("hold.why");
        }
        assertThat(db.controls.held()).isEmpty();
    }

    @Test
    void heldClaims_findNothing_inAllForms_untilTheRelease() {
        for (int i = 0; i < 3; i++) {
            db.submit("a");
            db.submit("b");
        }
        db.controls.hold("ops", null);
        assertThat(db.claim(1, "a")).isEmpty();
        assertThat(db.claim(1)).isEmpty();
        assertThat(db.claim(1, "a", "b")).isEmpty();
        assertThat(db.queue.depth("managed", "default")).isEqualTo(6);
        db.controls.release("ops");
        assertThat(db.claim(1, "a")).hasSize(1);
        assertThat(db.claim(1)).hasSize(1);
        assertThat(db.claim(9, "a", "b")).hasSize(4);
    }

    @Test
    void heldClaims_ofOneJob_takeItNeitherFromTheQueueNorFromASilentWorker() {
        Job queued = db.submit("k");
        AssignedClaim request = AssignedClaim.of("w", queued.id());
        Claim silent = db.running("silent");
        db.age(silent.job().id(), Duration.ofSeconds(91));
        AssignedClaim takeover = AssignedClaim.of("w", silent.job().id()).withTakeover(Takeover.OUTAGE_GRACE_IS_OVER);
        db.controls.hold("ops", null);
        for (AssignedClaim held : List.of(request, takeover)) {
            assertThat(db.queue.claim(held))
                    .isInstanceOfSatisfying(
                            Assignment.Refused.class,
                            refused -> assertThat(refused.reason()).isEqualTo(Assignment.Reason.ON_HOLD));
        }
        assertThat(db.get(queued.id())).isEqualTo(queued);
        db.controls.release("ops");
        assertThat(db.queue.claim(request)).isInstanceOf(Assignment.Taken.class);
        assertThat(db.queue.claim(takeover)).isInstanceOf(Assignment.Taken.class);
    }

    @Test
    void heldSweeps_deleteNothing_untilTheRelease() {
        Job ended = db.submit("k");
        db.jobs.cancel(ended.id(), null, null);
        db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.EXPIRES_AT, DSL.val(Instant.EPOCH, DbTime.INSTANT))
                .where(EXECUTION_JOBS.OPERATION_ID.eq(ended.id()))
                .execute();
        String key = "lease-" + UUID.randomUUID();
        assertThat(db.leases.acquire(key, "w", Duration.ofMillis(1))).isPresent();
        db.awaitTime(db.now().plusMillis(2));
        db.controls.hold("ops", null);
        for (Retention.Subject subject : Retention.Subject.values()) {
            assertThat(db.store.retention().sweep(subject, 10).deleted())
                    .as("%s", subject)
                    .isZero();
        }
        assertThat(db.jobs.get(ended.id())).isPresent();
        db.controls.release("ops");
        assertThat(db.store.retention().sweep(Retention.Subject.JOBS, 10).deleted())
                .isOne();
        assertThat(db.store.retention().sweep(Retention.Subject.LEASES, 10).deleted())
                .isOne();
    }

    @Test
    void heldRecovery_findsSparesAndRepairsNothing_untilTheRelease() {
        Claim silent = db.running("k");
        db.age(silent.job().id(), Duration.ofSeconds(91));
        Suspect suspect = db.reconcilable.suspects("", 10).get(0);
        Claim tooLong = db.running("k");
        db.age(tooLong.job().id(), Duration.ofHours(2));
        Job lost = db.submit("lost");
        db.queue.remove(lost.id());
        NewJob remote = StoreFixture.newJob("k");
        db.submit(remote.withSpec(remote.spec().withBackend("farm")));
        db.controls.hold("ops", null);

        assertThat(db.reconcilable.suspects("", 10)).isEmpty();
        assertThat(db.reconcilable.candidates(null, 10)).isEmpty();
        assertThat(db.reconcilable.expire(suspect, RETRY)).isEqualTo(Expiry.SPARED);
        assertThat(db.reconcilable.expire(Suspect.of(tooLong, Cause.DURATION), RETRY))
                .isEqualTo(Expiry.SPARED);
        assertThat(db.queue.repair(Duration.ZERO, 10)).isZero();
        assertThat(db.get(silent.job().id()).status()).isEqualTo(JobStatus.RUNNING);
        assertThat(db.column(lost.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();

        db.controls.release("ops");
        assertThat(db.reconcilable.suspects("", 10)).hasSize(2);
        assertThat(db.reconcilable.candidates(null, 10)).hasSize(1);
        assertThat(db.reconcilable.expire(suspect, RETRY)).isEqualTo(Expiry.ENDED);
        assertThat(db.queue.repair(Duration.ZERO, 10)).isOne();
    }

    /** That a row is locked is no news while nothing may be done to it: it would be asked for again and again. */
    @Test
    void heldExpiry_ofALockedRow_isSpared() {
        Claim silent = db.running("k");
        db.age(silent.job().id(), Duration.ofSeconds(91));
        Suspect suspect = db.reconcilable.suspects("", 10).get(0);
        db.controls.hold("ops", null);
        db.undone(tx -> {
            tx.dsl().selectFrom(EXECUTION_JOBS).forNoKeyUpdate().fetch();
            assertThat(StoreFixture.withoutWaiting(() -> db.reconcilable.expire(suspect, RETRY)))
                    .isEqualTo(Expiry.SPARED);
        });
    }

    @Test
    void whatRuns_goesOn() {
        Claim claim = db.running("k");
        Claim cancelled = db.running("k");
        db.submit("queued");
        Claim provisioning = db.claimOne("queued");
        db.controls.hold("ops", null);
        assertThat(db.work.start(provisioning.attempt())).isEqualTo(Pulse.HELD);
        assertThat(db.work.beat(List.of(claim.attempt()))).containsValue(Pulse.HELD);
        assertThat(db.work.progress(claim.attempt(), 50.0, "half")).isEqualTo(Pulse.HELD);
        assertThat(db.work.finish(claim, new Finish.Succeed())).isTrue();
        assertThat(db.work.finish(provisioning, RETRY)).isTrue();
        assertThat(db.jobs.cancel(cancelled.job().id(), null, null)).isEqualTo(CancelResult.REQUESTED);
        Job submitted = db.submit("k");
        assertThat(db.jobs.cancel(submitted.id(), null, null)).isEqualTo(CancelResult.CANCELLED);
        assertThat(db.reconcilable.probe()).isNotNull();
        assertThat(db.reconcilable.shortestHeartbeatTimeout()).isPresent();
    }

    @Test
    void hold_thatIsNotCommitted_stopsNobody_andFromTheCommitOnEverybody() {
        db.submit("k");
        db.submit("k");
        PostgresStore stranger = PostgresStore.on(database.dataSource(), database.schema());
        db.dsl.transaction(tx -> {
            db.store.in(tx).controls().hold("ops", null);
            assertThat(StoreFixture.withoutWaiting(() -> db.claim(1, "k"))).hasSize(1);
        });
        assertThat(db.claim(1, "k")).isEmpty();
        assertThat(stranger.controls().held()).isPresent();
    }

    /** What an operator can do in psql before any process runs, right after a restore. */
    @Test
    void hold_thatWasInsertedByHand_counts() {
        db.submit("k");
        db.dsl
                .insertInto(CONTROLS, CONTROLS.NAME, CONTROLS.SET_BY, CONTROLS.SET_AT)
                .values("hold", "psql", Instant.EPOCH)
                .execute();
        assertThat(db.claim(1, "k")).isEmpty();
        assertThat(db.controls.held()).contains(new Hold("psql", null, Instant.EPOCH));
    }

    @Test
    void holdBySeveralAtOnce_isOneHold_andEverybodyIsToldWhose() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 50; round++) {
                db.controls.release("test");
                CyclicBarrier barrier = new CyclicBarrier(4);
                List<Callable<Hold>> racers = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    String by = "ops-" + i;
                    racers.add(() -> {
                        barrier.await(30, TimeUnit.SECONDS);
                        return db.controls.hold(by, null);
                    });
                }
                List<Hold> holds = new ArrayList<>();
                for (Future<Hold> result : threads.invokeAll(racers)) {
                    holds.add(result.get());
                }
                assertThat(holds).containsOnly(db.controls.held().orElseThrow());
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** However busy the queue is: a claim that is sent after hold() has returned takes nothing. */
    @Test
    void claims_thatAreSentAfterTheHold_takeNothing() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 10; round++) {
                for (int i = 0; i < 40; i++) {
                    db.submit("k" + i % 2);
                }
                AtomicBoolean held = new AtomicBoolean();
                AtomicInteger before = new AtomicInteger();
                CyclicBarrier barrier = new CyclicBarrier(4);
                String[][] forms = {{}, {"k0"}, {"k0", "k1"}};
                List<Future<Integer>> claimers = new ArrayList<>();
                for (String[] kinds : forms) {
                    claimers.add(threads.submit(() -> {
                        barrier.await(30, TimeUnit.SECONDS);
                        int late = 0;
                        for (int n = 0; n < 15; n++) {
                            boolean alreadyHeld = held.get();
                            int taken = db.claim(1, kinds).size();
                            late += alreadyHeld ? taken : 0;
                            before.addAndGet(alreadyHeld ? 0 : taken);
                        }
                        return late;
                    }));
                }
                barrier.await(30, TimeUnit.SECONDS);
                if (round > 0) {
                    // Once at once, then in the midst of it.
                    Awaitility.await().until(() -> before.get() > 0);
                }
                db.controls.hold("ops", null);
                held.set(true);
                for (Future<Integer> claimer : claimers) {
                    assertThat(claimer.get(30, TimeUnit.SECONDS)).isZero();
                }
                releasedAndEmpty();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void worker_goesOnAtTheRelease_withoutARestart() throws InterruptedException {
        record Task(int value) {}
        JobType<Task> task = JobType.of("task", Task.class);
        Millrace millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
        AtomicInteger runs = new AtomicInteger();
        millrace.controls().hold("ops", "look first");
        try (var worker = millrace.worker()
                .handle(task, (payload, context) -> runs.incrementAndGet())
                .pollInterval(Duration.ofMillis(20))
                .start()) {
            Job job = millrace.submit(task, new Task(1));
            Awaitility.await()
                    .pollDelay(Duration.ofMillis(300))
                    .until(() -> millrace.get(job.id()).isPresent());
            assertThat(runs).hasValue(0);
            assertThat(millrace.get(job.id()).orElseThrow().status()).isEqualTo(JobStatus.QUEUED);
            millrace.controls().release("ops");
            assertThat(millrace.await(job, Duration.ofSeconds(30)).status()).isEqualTo(JobStatus.SUCCEEDED);
        }
    }
}
