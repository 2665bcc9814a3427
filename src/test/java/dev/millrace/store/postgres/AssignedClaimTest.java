package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.AssignedClaim.Takeover;
import dev.millrace.store.Assignment;
import dev.millrace.store.Assignment.Reason;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@MillraceDatabase
class AssignedClaimTest {
    private final StoreFixture db;

    AssignedClaimTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    private static AssignedClaim request(String id) {
        return AssignedClaim.of("assigned", id);
    }

    private static AssignedClaim takeover(String id) {
        return request(id).withTakeover(Takeover.OUTAGE_GRACE_IS_OVER);
    }

    private Claim taken(AssignedClaim request) {
        Assignment answer = db.queue.claim(request);
        assertThat(answer).isInstanceOf(Assignment.Taken.class);
        return ((Assignment.Taken) answer).claim();
    }

    private Reason refused(AssignedClaim request) {
        Assignment answer = db.queue.claim(request);
        assertThat(answer).isInstanceOf(Assignment.Refused.class);
        Assignment.Refused refused = (Assignment.Refused) answer;
        assertThat(refused.message()).contains(request.jobId());
        return refused.reason();
    }

    @Test
    void claim_ofQueuedJob_isAClaimLikeAnyOther() {
        Job job = db.submit("a");
        AssignedClaim request = request(job.id());
        Claim claim = taken(request);
        assertThat(claim.token()).isEqualTo(AssignedClaims.token(request, 1));
        assertThat(claim.job().status()).isEqualTo(JobStatus.PROVISIONING);
        assertThat(claim.job().version()).isEqualTo(2);
        assertThat(claim.job().state().attemptCount()).isEqualTo(1);
        assertThat(claim.job().state().claimedBy()).isEqualTo("assigned");
        assertThat(claim.job().state().currentPhase()).isEqualTo("Claimed");
        assertThat(claim.job().state().claimedAt())
                .isNotNull()
                .isEqualTo(claim.job().state().lastHeartbeatAt())
                .isEqualTo(claim.job().state().updatedAt());
        assertThat(db.claim(1, "a")).isEmpty();
        assertThat(db.work.start(claim.attempt())).isEqualTo(Pulse.HELD);
        assertThat(db.work.finish(claim, new Finish.Succeed())).isTrue();
    }

    @Test
    void claim_whoseAnswerWasLost_isFoundByItsTokenAndByTheSameRequest() {
        Job job = db.submit("lost");
        AssignedClaim request = request(job.id());
        Claim claim = taken(request);
        assertThat(db.work.recover(List.of(claim.token())))
                .singleElement()
                .extracting(Claim::attempt)
                .isEqualTo(claim.attempt());
        assertThat(taken(request).job().state().attemptCount()).isEqualTo(1);
        assertThat(refused(request(job.id()))).isEqualTo(Reason.HELD);
        db.work.start(claim.attempt());
        assertThat(refused(request)).isEqualTo(Reason.HELD);
    }

    /** Whoever is given it takes it for a claim of this moment, and may run it unasked. */
    @Test
    void claim_thatIsFoundLate_isNotSilent() {
        Job job = db.submit("late");
        AssignedClaim request = request(job.id());
        Claim claim = taken(request);
        db.age(job.id(), Duration.ofSeconds(91));
        assertThat(refused(request(job.id()))).isEqualTo(Reason.SILENT);
        assertThat(taken(request).attempt()).isEqualTo(claim.attempt());
        assertThat(refused(request(job.id()))).isEqualTo(Reason.HELD);
        assertThat(db.get(job.id()).version()).isEqualTo(2);
    }

    /** Invariant 2, also for who asks by the same request: an attempt that is over or lost has another token. */
    @Test
    void claim_byARequestThatWasUsedBefore_hasATokenOfItsOwn() {
        Job job = db.submit("again");
        AssignedClaim request = takeover(job.id());
        Claim first = taken(request);
        db.work.finish(first, new Finish.HandBack(Duration.ZERO, null));
        Claim second = taken(request);
        assertThat(taken(request).attempt()).isEqualTo(second.attempt());
        db.work.start(second.attempt());
        assertThat(db.work.beat(List.of(first.attempt()))).containsValue(Pulse.LOST);
        db.age(job.id(), Duration.ofSeconds(91));
        Claim third = taken(request);
        db.work.start(third.attempt());

        assertThat(List.of(first.token(), second.token(), third.token())).doesNotHaveDuplicates();
        for (Claim late : List.of(first, second)) {
            assertThat(db.work.beat(List.of(late.attempt()))).containsValue(Pulse.LOST);
            assertThat(db.work.progress(late.attempt(), 1.0, null)).isEqualTo(Pulse.LOST);
            assertThat(db.work.finish(late, new Finish.Fail("late", Finish.Fail.Reason.HANDLER)))
                    .isFalse();
        }
        assertThat(db.work.finish(third, new Finish.Succeed())).isTrue();
    }

    @Test
    void claim_ofDelayedJob_isNotEarly() {
        Job job = db.submit(StoreFixture.newJob("delayed").withDelay(Duration.ofHours(1)));
        assertThat(refused(takeover(job.id()))).isEqualTo(Reason.NOT_DUE);
        assertThat(db.get(job.id()).version()).isEqualTo(1);
        db.makeDue(job.id());
        taken(request(job.id()));
    }

    @Test
    void claim_betweenTwoAttempts_isNotEarlyWithOrWithoutAPlace() {
        Claim first = db.running("backoff");
        String id = first.job().id();
        db.work.finish(first, new Finish.Retry(Duration.ofHours(1), "boom"));
        assertThat(refused(request(id))).isEqualTo(Reason.NOT_DUE);
        db.queue.remove(id);
        assertThat(refused(request(id))).isEqualTo(Reason.NOT_DUE);
        db.queue.requeue(id, Duration.ZERO); // somebody decided so
        assertThat(taken(request(id)).job().state().attemptCount()).isEqualTo(2);
    }

    /** Invariant 3: such a job must not need repair when it comes back. */
    @Test
    void claim_ofJobWithoutAPlace_givesItOne() {
        Job job = Job.of(StoreFixture.newId(), JobSpec.of("unplaced", JsonText.of("{}")), Instant.EPOCH);
        db.jobs.create(job);
        Claim claim = taken(request(job.id()));
        db.work.finish(claim, new Finish.HandBack(Duration.ZERO, null));
        assertThat(db.claim(1, "unplaced")).hasSize(1);
    }

    @Test
    void claim_ofJobThatIsNotToBeTaken_saysWhy() {
        assertThat(refused(request("nowhere"))).isEqualTo(Reason.NOT_FOUND);
        Job ended = db.submit("ended");
        db.jobs.cancel(ended.id(), null, null);
        assertThat(refused(takeover(ended.id()))).isEqualTo(Reason.ENDED);
        Job remote = db.submit(StoreFixture.newJob("remote")
                .withSpec(JobSpec.of("remote", JsonText.of("{}")).withBackend("elsewhere")));
        assertThat(refused(takeover(remote.id()))).isEqualTo(Reason.REMOTE);
        Claim held = db.running("held");
        assertThat(refused(takeover(held.job().id()))).isEqualTo(Reason.HELD);
        assertThat(db.get(held.job().id()).state().claimedBy()).isEqualTo("worker-1");
    }

    @Test
    void claim_ofSilentJob_takesItOverOnlyIfToldThatTheGraceIsOver() {
        Claim silent = db.running("silent");
        String id = silent.job().id();
        db.age(id, Duration.ofSeconds(91));
        Job before = db.get(id);
        assertThat(refused(request(id))).isEqualTo(Reason.SILENT);
        assertThat(db.get(id)).isEqualTo(before);

        AssignedClaim request = takeover(id);
        Claim claim = taken(request);
        assertThat(claim.token()).isEqualTo(AssignedClaims.token(request, 2)).isNotEqualTo(silent.token());
        assertThat(claim.countedAttempts()).isEqualTo(2);
        assertThat(claim.job().status()).isEqualTo(JobStatus.PROVISIONING);
        assertThat(claim.job().version()).isEqualTo(before.version() + 1);
        assertThat(claim.job().outcome().history()).singleElement().satisfies(past -> {
            assertThat(past.ending()).isEqualTo(PastAttempt.Ending.EXPIRED);
            assertThat(past.token()).isEqualTo(silent.token());
            assertThat(past.worker()).isEqualTo("worker-1");
            assertThat(past.attempt()).isEqualTo(1);
        });
        assertThat(db.get(id)).isEqualTo(claim.job());
        assertThat(db.work.beat(List.of(silent.attempt()))).containsValue(Pulse.LOST);
        assertThat(db.work.finish(silent, new Finish.Succeed())).isFalse();
        assertThat(db.work.recover(List.of(claim.token()))).hasSize(1);
        assertThat(db.work.finish(claim, new Finish.Succeed())).isTrue();
    }

    @Test
    void takeover_ofJobWithoutAttemptsLeft_isLeftToTheRecovery() {
        Claim last = db.running(StoreFixture.newJob("last")
                .withPolicies(StoreFixture.newJob("x").policies().withRetry(RetryPolicy.DEFAULT.withMaxAttempts(1))));
        db.age(last.job().id(), Duration.ofSeconds(91));
        assertThat(refused(takeover(last.job().id()))).isEqualTo(Reason.NO_ATTEMPTS_LEFT);
        assertThat(db.work.beat(List.of(last.attempt()))).containsValue(Pulse.HELD);
    }

    @Test
    void takeover_ofJobThatIsToBeCancelled_isLeftToTheRecovery() {
        Claim claim = db.running("cancelled");
        db.jobs.cancel(claim.job().id(), "ann", null);
        db.age(claim.job().id(), Duration.ofSeconds(91));
        assertThat(refused(takeover(claim.job().id()))).isEqualTo(Reason.CANCELLATION_REQUESTED);
        assertThat(db.column(claim.job().id(), EXECUTION_JOBS.CLAIM_TOKEN)).isEqualTo(claim.token());
    }

    @Test
    void takeover_ofJobThatTookTooLong_isLeftToTheRecovery() {
        Claim claim = db.running("long");
        db.age(claim.job().id(), Duration.ofHours(2));
        assertThat(refused(takeover(claim.job().id()))).isEqualTo(Reason.OVERDUE);
    }

    /** Whoever has locked the row may be what keeps the heartbeats out. */
    @Test
    void takeover_ofLockedRow_doesNotWaitAndTakesNothing() throws Exception {
        Claim claim = db.running("locked");
        db.age(claim.job().id(), Duration.ofSeconds(91));
        db.undone(tx -> {
            RowLock.waiting(EXECUTION_JOBS.OPERATION_ID.eq(claim.job().id()))
                    .update(tx.dsl(), Map.of(EXECUTION_JOBS.CURRENT_PHASE, "mine"))
                    .execute();
            assertThat(StoreFixture.withoutWaiting(
                            () -> refused(takeover(claim.job().id()))))
                    .isEqualTo(Reason.LOCKED);
        });
        assertThat(db.work.beat(List.of(claim.attempt()))).containsValue(Pulse.HELD);
    }

    @Test
    void claim_ofJobThatCannotBeRead_failsItAndKeepsItsRecord() {
        Job job = db.submit("unreadable");
        db.breakRecord(job.id(), JsonText.of("{\"no\":\"job\"}"));
        assertThat(refused(request(job.id()))).isEqualTo(Reason.UNREADABLE);
        assertThat(db.column(job.id(), EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.FAILED);
        assertThat(db.column(job.id(), EXECUTION_JOBS.RECORD)).isEqualTo(JsonText.of("{\"no\":\"job\"}"));
    }

    /** Invariant 1. */
    @Test
    void claim_byManyAtOnce_isOfOne() throws Exception {
        for (int round = 0; round < 20; round++) {
            boolean silent = round % 2 == 1;
            String id;
            if (silent) {
                id = db.running("race").job().id();
                db.age(id, Duration.ofSeconds(91));
            } else {
                id = db.submit("race").id();
            }
            CyclicBarrier barrier = new CyclicBarrier(4);
            List<CompletableFuture<Assignment>> answers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                answers.add(OwnThread.supply(() -> {
                    try {
                        barrier.await(20, TimeUnit.SECONDS);
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                    return db.queue.claim(takeover(id));
                }));
            }
            List<Attempt> takers = new ArrayList<>();
            for (CompletableFuture<Assignment> answer : answers) {
                if (answer.get(30, TimeUnit.SECONDS) instanceof Assignment.Taken taken) {
                    takers.add(taken.claim().attempt());
                } else {
                    assertThat(((Assignment.Refused) answer.join()).reason()).isIn(Reason.HELD, Reason.LOCKED);
                }
            }
            assertThat(takers).as("round %d", round).hasSize(1);
            assertThat(db.get(id).state().attemptCount()).isEqualTo(silent ? 2 : 1);
        }
    }

    @Test
    void request_thatIsNotAllowed_isRefused() {
        assertThatThrownBy(() -> AssignedClaim.of("w", "")).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> AssignedClaim.of("", "id")).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> new AssignedClaim("w", "id", UUID.randomUUID(), null))
                .isInstanceOf(InvalidJobException.class);
    }
}
