package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.job.PastAttempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.store.ReconcilableJobs.Cause;
import dev.millrace.store.ReconcilableJobs.Expiry;
import dev.millrace.store.ReconcilableJobs.Suspect;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Overdue attempts: who is one, and that whoever moved since is spared. */
@MillraceDatabase
class ReconcilableTest {
    private static final Finish RETRY = new Finish.Retry(Duration.ZERO, "its heartbeat expired");

    private final StoreFixture db;

    ReconcilableTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.clear();
    }

    private Suspect overdue(String kind) {
        Claim claim = db.running(kind);
        db.age(claim.job().id(), Duration.ofSeconds(91));
        return suspect(claim);
    }

    private Suspect suspect(Claim claim) {
        return db.reconcilable.suspects("", 100).stream()
                .filter(suspect -> suspect.attempt().equals(claim.attempt()))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void suspects_areThoseThatAreSilentOrTakeTooLong() {
        Claim fresh = db.running("k");
        Claim silent = db.running("k");
        db.age(silent.job().id(), Duration.ofSeconds(91));
        NewJob quick = StoreFixture.newJob("k");
        Claim tooLong = db.running(quick.withPolicies(quick.policies().withMaxDuration(Duration.ofSeconds(30))));
        db.age(tooLong.job().id(), Duration.ofSeconds(31));
        db.work.beat(List.of(tooLong.attempt()));
        assertThat(db.reconcilable.suspects("", 100))
                .extracting(suspect -> suspect.attempt().jobId(), Suspect::cause)
                .containsExactlyInAnyOrder(
                        org.assertj.core.api.Assertions.tuple(silent.job().id(), Cause.HEARTBEAT),
                        org.assertj.core.api.Assertions.tuple(tooLong.job().id(), Cause.DURATION));
        assertThat(db.get(fresh.job().id()).status()).isEqualTo(JobStatus.RUNNING);
    }

    @Test
    void suspects_comeInPages() {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            ids.add(overdue("k").attempt().jobId());
        }
        ids.sort(null);
        List<String> seen = new ArrayList<>();
        List<Suspect> page = db.reconcilable.suspects("", 2);
        while (!page.isEmpty()) {
            page.forEach(suspect -> seen.add(suspect.attempt().jobId()));
            page = db.reconcilable.suspects(seen.get(seen.size() - 1), 2);
        }
        assertThat(seen).isEqualTo(ids);
    }

    @Test
    void suspects_ofRemoteJobs_areThoseThatTakeTooLongOnly() {
        Claim claim = db.running("k");
        Job read = db.get(claim.job().id());
        db.jobs.compareAndSet(read, read.withSpec(read.spec().withBackend("farm")));
        db.age(read.id(), Duration.ofSeconds(91));
        assertThat(db.reconcilable.suspects("", 100)).isEmpty();
        db.age(read.id(), Duration.ofHours(1));
        assertThat(suspect(claim).cause()).isEqualTo(Cause.DURATION);
    }

    @Test
    void expire_endsTheAttemptAndFencesIt() {
        Suspect suspect = overdue("k");
        assertThat(db.reconcilable.expire(suspect, RETRY)).isEqualTo(Expiry.ENDED);
        Job queued = db.get(suspect.attempt().jobId());
        assertThat(queued.status()).isEqualTo(JobStatus.QUEUED);
        assertThat(queued.outcome().errorMessage()).isEqualTo("its heartbeat expired");
        assertThat(queued.outcome().history().get(0).ending()).isEqualTo(PastAttempt.Ending.EXPIRED);
        assertThat(db.work.beat(List.of(suspect.attempt()))).containsValue(Pulse.LOST);
        assertThat(db.reconcilable.expire(suspect, RETRY)).isEqualTo(Expiry.SPARED);
        assertThat(db.claimOne("k").countedAttempts()).isEqualTo(2);
    }

    /** A beat that lands between the sweep's read and its write wins. */
    @Test
    void expire_afterABeat_sparesTheAttempt() {
        Suspect suspect = overdue("k");
        assertThat(db.work.beat(List.of(suspect.attempt()))).containsValue(Pulse.HELD);
        assertThat(db.reconcilable.expire(suspect, RETRY)).isEqualTo(Expiry.SPARED);
        assertThat(db.get(suspect.attempt().jobId()).status()).isEqualTo(JobStatus.RUNNING);
    }

    /** A sweep that was held up overwrites nothing that has happened since. */
    @Test
    void expire_afterTheEndOrANewClaim_sparesTheJob() {
        Suspect finished = overdue("k");
        db.work.finish(finished.claim(), new Finish.Succeed());
        Job succeeded = db.get(finished.attempt().jobId());
        assertThat(db.reconcilable.expire(finished, RETRY)).isEqualTo(Expiry.SPARED);
        assertThat(db.get(succeeded.id())).isEqualTo(succeeded);

        Suspect claimedAgain = overdue("k2");
        db.work.finish(claimedAgain.claim(), new Finish.HandBack(Duration.ZERO, null));
        Claim current = db.claimOne("k2");
        db.age(current.job().id(), Duration.ofSeconds(91));
        assertThat(db.reconcilable.expire(claimedAgain, RETRY)).isEqualTo(Expiry.SPARED);
        assertThat(db.column(current.job().id(), EXECUTION_JOBS.CLAIM_TOKEN)).isEqualTo(current.token());
    }

    @Test
    void expire_ofALockedRow_doesNotWait() {
        Suspect suspect = overdue("k");
        db.dsl.transaction(tx -> {
            tx.dsl()
                    .selectFrom(EXECUTION_JOBS)
                    .where(EXECUTION_JOBS.OPERATION_ID.eq(suspect.attempt().jobId()))
                    .forNoKeyUpdate()
                    .fetch();
            assertThat(StoreFixture.withoutWaiting(() -> db.reconcilable.isLocked(suspect)))
                    .isTrue();
            assertThat(StoreFixture.withoutWaiting(() -> db.reconcilable.expire(suspect, RETRY)))
                    .isEqualTo(Expiry.LOCKED);
        });
        assertThat(db.reconcilable.isLocked(suspect)).isFalse();
        assertThat(db.reconcilable.expire(suspect, RETRY)).isEqualTo(Expiry.ENDED);
    }

    @Test
    void expire_ofARecordThatNobodyCanRead_failsTheJobAndKeepsTheRecord() {
        Claim claim = db.running("k");
        JsonText unreadable = JsonText.of("{\"priority\":\"Sometime\"}");
        db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.RECORD, unreadable)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(claim.job().id()))
                .execute();
        db.age(claim.job().id(), Duration.ofSeconds(91));
        Suspect suspect = suspect(claim);
        assertThat(suspect.claim()).isNull();
        assertThat(db.reconcilable.expire(suspect, RETRY)).isEqualTo(Expiry.ENDED);
        assertThat(db.column(claim.job().id(), EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.FAILED);
        assertThat(db.column(claim.job().id(), EXECUTION_JOBS.RECORD)).isEqualTo(unreadable);
    }

    /** Field case A34: of two sweeps that expire the same attempt one wins, and the other sees it. */
    @Test
    void expire_bySeveralAtOnce_isDoneByOne() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 50; round++) {
                Suspect suspect = overdue("race-" + round);
                CyclicBarrier barrier = new CyclicBarrier(4);
                Callable<Expiry> racer = () -> {
                    barrier.await(30, TimeUnit.SECONDS);
                    return db.reconcilable.expire(suspect, RETRY);
                };
                List<Expiry> results = new ArrayList<>();
                for (Future<Expiry> result : threads.invokeAll(List.of(racer, racer, racer, racer))) {
                    results.add(result.get());
                }
                assertThat(results).containsOnlyOnce(Expiry.ENDED);
                Job job = db.get(suspect.attempt().jobId());
                assertThat(job.outcome().history()).hasSize(1);
                assertThat(job.version()).isEqualTo(4);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** Field case A34 with a beat in the race: whoever wins, the other is told. */
    @Test
    void expire_againstABeat_leavesNoAttemptThatBelievesItIsHeldAndIsNot() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            for (int round = 0; round < 100; round++) {
                Suspect suspect = overdue("beat-" + round);
                CyclicBarrier barrier = new CyclicBarrier(2);
                Future<Expiry> expiry = threads.submit(() -> {
                    barrier.await(30, TimeUnit.SECONDS);
                    return db.reconcilable.expire(suspect, RETRY);
                });
                Future<Pulse> pulse = threads.submit(() -> {
                    barrier.await(30, TimeUnit.SECONDS);
                    return db.work.beat(List.of(suspect.attempt())).get(suspect.attempt());
                });
                if (expiry.get() == Expiry.ENDED) {
                    assertThat(pulse.get()).isIn(Pulse.LOST, Pulse.BUSY);
                } else {
                    assertThat(pulse.get()).isEqualTo(Pulse.HELD);
                }
                boolean queued = db.get(suspect.attempt().jobId()).status() == JobStatus.QUEUED;
                assertThat(queued).isEqualTo(expiry.get() == Expiry.ENDED);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void shortestHeartbeatTimeout_isThatOfClaimedLocalJobs() {
        assertThat(db.reconcilable.shortestHeartbeatTimeout()).isEmpty();
        db.running("k");
        NewJob quick = StoreFixture.newJob("quick");
        quick = quick.withPolicies(
                quick.policies().withHeartbeat(new HeartbeatPolicy(Duration.ofMillis(500), Duration.ofMillis(1_500))));
        db.submit(quick);
        assertThat(db.reconcilable.shortestHeartbeatTimeout()).contains(Duration.ofSeconds(90));
        db.claimOne("quick");
        assertThat(db.reconcilable.shortestHeartbeatTimeout()).contains(Duration.ofMillis(1_500));
    }

    @Test
    void probe_answersTheTimeAndWritesNothing() {
        Job job = db.submit("k");
        assertThat(db.reconcilable.probe()).isBetween(job.createdAt(), db.now());
        assertThat(db.get(job.id())).isEqualTo(job);
    }
}
