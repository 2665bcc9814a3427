package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.Attempt;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Claim;
import dev.millrace.store.Completion;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What an attempt may write, and what it may not write any more. */
@MillraceDatabase
class AttemptTest {
    private static final Finish SUCCEED = new Finish.Succeed();
    private static final Finish FAIL = new Finish.Fail("broken", Finish.Fail.Reason.HANDLER);
    private static final Finish RETRY = new Finish.Retry(Duration.ofMinutes(1), "boom");
    private static final Finish BACK = new Finish.HandBack(Duration.ZERO, "shutdown");
    private static final Finish CANCEL = new Finish.Cancel();

    private final StoreFixture db;

    AttemptTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    static List<Finish> everyFinish() {
        return List.of(SUCCEED, FAIL, RETRY, BACK, CANCEL);
    }

    @Test
    void start_makesItRunningOnce() {
        db.submit("start");
        Claim claim = db.claimOne("start");
        assertThat(db.work.start(claim.attempt())).isEqualTo(Pulse.HELD);
        Job running = db.get(claim.job().id());
        assertThat(running.status()).isEqualTo(JobStatus.RUNNING);
        assertThat(running.version()).isEqualTo(3);
        assertThat(db.work.start(claim.attempt())).isEqualTo(Pulse.HELD);
        assertThat(db.get(claim.job().id()).version()).isEqualTo(3);
    }

    @Test
    void start_ofJobWithARequestToCancel_saysSo() {
        db.submit("start-cancelled");
        Claim claim = db.claimOne("start-cancelled");
        db.jobs.cancel(claim.job().id(), null, null);
        assertThat(db.work.start(claim.attempt())).isEqualTo(Pulse.CANCELLATION_REQUESTED);
    }

    @Test
    void progress_isASignOfLifeAndNoNewVersion() {
        Claim claim = db.running("progress");
        Job before = db.get(claim.job().id());
        assertThat(db.work.progress(claim.attempt(), 12.5, "copying")).isEqualTo(Pulse.HELD);
        Job after = db.get(claim.job().id());
        assertThat(after.state().percentComplete()).isEqualTo(12.5);
        assertThat(after.state().currentPhase()).isEqualTo("copying");
        assertThat(after.state().lastHeartbeatAt()).isAfter(before.state().lastHeartbeatAt());
        assertThat(after.version()).isEqualTo(before.version());
        db.work.progress(claim.attempt(), null, "pasting");
        assertThat(db.get(claim.job().id()).state().percentComplete()).isEqualTo(12.5);
    }

    @Test
    void progress_ofAHandlerThatBeganUnasked_isAStartAsWell_once() {
        db.submit("unasked");
        Claim claim = db.claimOne("unasked");
        String id = claim.job().id();
        db.work.progress(claim.attempt(), 1.0, null);
        assertThat(db.get(id).state().currentPhase()).isEqualTo("Running");
        db.work.progress(claim.attempt(), null, "copying");
        assertThat(db.get(id).status()).isEqualTo(JobStatus.RUNNING);
        assertThat(db.get(id).version()).isEqualTo(3);
        db.work.progress(claim.attempt(), 50.0, null);
        assertThat(db.work.start(claim.attempt())).isEqualTo(Pulse.HELD);
        assertThat(db.get(id).version()).isEqualTo(3);
        assertThat(db.get(id).state().currentPhase()).isEqualTo("copying");
    }

    @Test
    void success_endsTheJobWithoutTouchingItsRecord() {
        Claim claim = db.running("success");
        JsonText record = db.column(claim.job().id(), EXECUTION_JOBS.RECORD);
        assertThat(db.work.finish(claim, SUCCEED)).isTrue();
        Job ended = db.get(claim.job().id());
        assertThat(ended.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(ended.state().percentComplete()).isEqualTo(100.0);
        assertThat(ended.state().completedAt()).isNotNull();
        assertThat(ended.version()).isEqualTo(4);
        assertThat(db.column(ended.id(), EXECUTION_JOBS.RECORD)).isEqualTo(record);
        assertThat(db.column(ended.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
        assertThat(db.column(ended.id(), EXECUTION_JOBS.CLAIM_TOKEN)).isEqualTo(claim.token());
    }

    @Test
    void failure_keepsTheMessageAndTheAttempt() {
        Claim claim = db.running("failure");
        assertThat(db.work.finish(
                        claim, new Finish.Fail("bro\u0000ken\ud800" + "x".repeat(5_000), Finish.Fail.Reason.TIMEOUT)))
                .isTrue();
        Job ended = db.get(claim.job().id());
        assertThat(ended.status()).isEqualTo(JobStatus.FAILED);
        assertThat(ended.outcome().errorMessage())
                .startsWith("bro\uFFFDken\uFFFDxxx")
                .hasSizeLessThanOrEqualTo(2_000);
        PastAttempt past = ended.outcome().history().get(0);
        assertThat(past.ending()).isEqualTo(PastAttempt.Ending.TIMED_OUT);
        assertThat(past.attempt()).isEqualTo(1);
        assertThat(past.token()).isEqualTo(claim.token());
        assertThat(past.worker()).isEqualTo("worker-1");
        assertThat(past.claimedAt()).isEqualTo(claim.job().state().claimedAt());
    }

    /** Invariant 5: a retry is not early, and queues behind its peers. */
    @Test
    void retry_isDueItsDelayAfterTheFailureAndBehindItsPeers() {
        Claim claim = db.running("retry");
        Instant failed = db.now();
        assertThat(db.work.finish(claim, RETRY)).isTrue();
        Job queued = db.get(claim.job().id());
        assertThat(queued.status()).isEqualTo(JobStatus.QUEUED);
        assertThat(queued.state().nextRetryAt())
                .isBetween(failed.plusSeconds(60), db.now().plusSeconds(60));
        assertThat(db.column(queued.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT))
                .isEqualTo(queued.state().nextRetryAt());
        assertThat(db.column(queued.id(), EXECUTION_JOBS.CLAIM_TOKEN)).isNull();
        assertThat(queued.state().claimedBy()).isNull();
        assertThat(queued.outcome().errorMessage()).isEqualTo("boom");
        assertThat(db.claim(1, "retry")).isEmpty();

        Claim again = db.running("retry-now");
        Job peer = db.submit("retry-now");
        assertThat(db.work.finish(again, new Finish.Retry(Duration.ZERO, "boom")))
                .isTrue();
        assertThat(db.claim(2, "retry-now"))
                .extracting(next -> next.job().id())
                .containsExactly(peer.id(), again.job().id());
    }

    @Test
    void handBack_isForgivenAndDueAtOnce() {
        Claim claim = db.running("back");
        assertThat(db.work.finish(claim, BACK)).isTrue();
        Job queued = db.get(claim.job().id());
        assertThat(queued.state().nextRetryAt()).isNull();
        assertThat(queued.outcome().errorMessage()).isNull();
        assertThat(db.column(queued.id(), EXECUTION_JOBS.FORGIVEN_ATTEMPTS)).isEqualTo(1);
        assertThat(db.claimOne("back").countedAttempts()).isEqualTo(1);
    }

    @Test
    void retryOrHandBack_ofJobThatIsToBeCancelled_cancelsIt() {
        for (Finish finish : List.of(RETRY, BACK)) {
            Claim claim = db.running("cancelled-retry");
            assertThat(db.jobs.cancel(claim.job().id(), "ann", "enough")).isEqualTo(CancelResult.REQUESTED);
            assertThat(db.work.finish(claim, finish)).isTrue();
            Job ended = db.get(claim.job().id());
            assertThat(ended.status()).isEqualTo(JobStatus.CANCELLED);
            assertThat(ended.audit().cancellation().by()).isEqualTo("ann");
            assertThat(db.column(ended.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
            assertThat(db.work.finish(claim, finish)).isTrue();
        }
    }

    @Test
    void finish_mergesWithWhatOthersHaveWrittenSinceTheClaim() {
        Claim claim = db.running("merge");
        Job read = db.get(claim.job().id());
        assertThat(db.jobs.compareAndSet(read, read.withAudit(read.audit().withCorrelationId("late"))))
                .isTrue();
        assertThat(db.work.finish(claim, FAIL)).isTrue();
        Job ended = db.get(read.id());
        assertThat(ended.audit().correlationId()).isEqualTo("late");
        assertThat(ended.outcome().errorMessage()).isEqualTo("broken");
    }

    @ParameterizedTest
    @MethodSource("everyFinish")
    void finish_repeatedAfterALostReply_isRecognised(Finish finish) {
        Claim claim = db.running("repeated");
        assertThat(db.work.finish(claim, finish)).isTrue();
        Job once = db.get(claim.job().id());
        assertThat(db.work.finish(claim, finish)).isTrue();
        assertThat(db.get(claim.job().id())).isEqualTo(once);
        if (once.status() == JobStatus.QUEUED) {
            db.makeDue(once.id());
            Claim next = db.claimOne("repeated");
            assertThat(db.work.finish(claim, finish)).isTrue();
            assertThat(db.get(once.id())).isEqualTo(next.job());
            assertThat(db.work.finish(next, SUCCEED)).isTrue();
        }
    }

    /** Invariant 2 and field case A33: the token is the fence, not the worker's name nor the attempt's number. */
    @ParameterizedTest
    @MethodSource("everyFinish")
    void everyWrite_ofASupersededAttempt_isRefusedAlsoIfTheSameWorkerHoldsTheNewOne(Finish finish) {
        Claim old = db.running("superseded");
        db.age(old.job().id(), Duration.ofDays(1));
        db.work.finish(old, BACK);
        Claim current = db.claimOne("superseded");
        db.work.start(current.attempt());
        assertThat(current.job().state().claimedBy())
                .isEqualTo(old.job().state().claimedBy());
        refusesEverything(old, finish);
        assertThat(db.work.finish(current, SUCCEED)).isTrue();
        refusesEverything(old, finish);
    }

    @ParameterizedTest
    @MethodSource("everyFinish")
    void everyWrite_afterTheEnd_isRefused(Finish finish) {
        Claim claim = db.running("ended");
        Job read = db.get(claim.job().id());
        db.jobs.compareAndSet(read, read.withStatus(JobStatus.CANCELLED));
        refusesEverything(claim, finish);
    }

    @ParameterizedTest
    @MethodSource("everyFinish")
    void everyWrite_ofAnAttemptThatNeverWas_isRefused(Finish finish) {
        Claim claim = db.running("never");
        refusesEverything(new Claim(claim.job(), UUID.randomUUID(), 0), finish);
        assertThat(db.work.finish(claim, SUCCEED)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("everyFinish")
    void everyWrite_toADeletedJob_isRefused(Finish finish) {
        Claim claim = db.running("deleted");
        db.dsl
                .deleteFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(claim.job().id()))
                .execute();
        assertThat(db.work.finish(claim, finish)).isFalse();
        assertThat(db.work.start(claim.attempt())).isEqualTo(Pulse.LOST);
        assertThat(db.work.beat(List.of(claim.attempt()))).containsValue(Pulse.LOST);
    }

    private void refusesEverything(Claim claim, Finish finish) {
        Attempt attempt = claim.attempt();
        Job before = db.get(attempt.jobId());
        boolean handedBackBefore = before.outcome().history().stream()
                .anyMatch(past -> attempt.token().equals(past.token()));
        assertThat(db.work.start(attempt)).isEqualTo(Pulse.LOST);
        assertThat(db.work.progress(attempt, 1.0, "late")).isEqualTo(Pulse.LOST);
        assertThat(db.work.beat(List.of(attempt))).containsEntry(attempt, Pulse.LOST);
        // Handing back again what was handed back is a repetition, not a late write.
        assertThat(db.work.finish(claim, finish)).isEqualTo(handedBackBefore && finish == BACK);
        assertThat(db.get(attempt.jobId())).isEqualTo(before);
    }

    /** Field case A2: heartbeats don't invalidate the owner's own writes. */
    @Test
    void ownerThatBeatsAndReportsAllTheTime_finishesOnceAndIsNeverToldThatItIsLost() throws Exception {
        Claim claim = db.running("busy-owner");
        Thread beats = new Thread(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                Pulse pulse = db.work.beat(List.of(claim.attempt())).get(claim.attempt());
                if (pulse == Pulse.LOST) {
                    return;
                }
            }
        });
        beats.start();
        try {
            for (int i = 0; i < 300; i++) {
                assertThat(db.work.progress(claim.attempt(), i / 3.0, "step " + i))
                        .isEqualTo(Pulse.HELD);
            }
            assertThat(db.work.finish(claim, FAIL)).isTrue();
        } catch (Throwable e) {
            beats.interrupt();
            throw e;
        }
        beats.join(30_000);
        assertThat(beats.isAlive())
                .as("the beat after the end says that it is lost")
                .isFalse();
        Job ended = db.get(claim.job().id());
        assertThat(ended.status()).isEqualTo(JobStatus.FAILED);
        assertThat(ended.outcome().history()).hasSize(1);
    }

    /** What an ending adds to the record must not keep the job from ending. */
    @ParameterizedTest
    @MethodSource("everyFinish")
    void finish_ofAJobAsLargeAsItMayBe_endsIt(Finish finish) {
        String kind = "large";
        int room = JobCodec.MAX_RECORD_BYTES - 450;
        NewJob job = NewJob.of(StoreFixture.newId(), kind, JsonText.of("{\"x\":\"" + "y".repeat(room - 100) + "\"}"));
        Claim claim = db.running(job);
        assertThat(db.work.finish(claim, finish)).isTrue();
        assertThat(db.get(job.id()).status()).isNotEqualTo(JobStatus.RUNNING);
        if (db.get(job.id()).status() == JobStatus.QUEUED) {
            assertThat(db.jobs.cancel(job.id(), "ann", "w".repeat(2_000))).isEqualTo(CancelResult.CANCELLED);
        }
    }

    /** A slot must not be taken for ever by a job that a newer release has written to. */
    @ParameterizedTest
    @MethodSource("everyFinish")
    void finish_ofAJobThatCantBeReadAnyMore_endsIt(Finish finish) {
        Claim claim = db.running("unreadable");
        db.breakRecord(claim.job().id(), JsonText.of("null"));
        assertThat(db.work.finish(claim, finish)).isTrue();
        JobStatus expected = finish == SUCCEED ? JobStatus.SUCCEEDED : JobStatus.FAILED;
        assertThat(db.column(claim.job().id(), EXECUTION_JOBS.STATUS)).isEqualTo(expected);
        assertThat(db.work.finish(claim, finish)).isEqualTo(finish == SUCCEED);
    }

    @Test
    void success_keepsTheRetentionThatTheJobHasNow() {
        Claim claim = db.running("retention");
        Job read = db.get(claim.job().id());
        assertThat(db.jobs.compareAndSet(read, read.withPolicies(read.policies().withRetention(Duration.ofDays(30)))))
                .isTrue();
        assertThat(db.work.finish(claim, SUCCEED)).isTrue();
        assertThat(db.column(read.id(), EXECUTION_JOBS.EXPIRES_AT))
                .isAfter(db.now().plus(Duration.ofDays(29)));
    }

    /** Not started in the database, so the version that it was claimed in is the last one of its own. */
    @Test
    void success_ofAJobThatWasNeverStarted_keepsTheRetentionThatItHasNow() {
        for (boolean together : new boolean[] {false, true}) {
            db.submit("unstarted");
            Claim claim = db.claimOne("unstarted");
            Job read = db.get(claim.job().id());
            assertThat(db.jobs.compareAndSet(
                            read, read.withPolicies(read.policies().withRetention(Duration.ofDays(30)))))
                    .isTrue();
            if (together) {
                assertThat(db.work.finishAll(List.of(new Completion(claim, SUCCEED))))
                        .containsExactly(claim.attempt());
            } else {
                assertThat(db.work.finish(claim, SUCCEED)).isTrue();
            }
            assertThat(db.column(read.id(), EXECUTION_JOBS.EXPIRES_AT))
                    .isAfter(db.now().plus(Duration.ofDays(29)));
        }
    }

    @Test
    void startOfMany_isNewsOnce_andIsToldWhatEachJobSays() {
        db.submit("many");
        db.submit("many");
        db.submit("many");
        Claim held = db.claimOne("many");
        Claim cancelled = db.claimOne("many");
        Claim lost = db.claimOne("many");
        db.jobs.cancel(cancelled.job().id(), null, null);
        db.work.finish(lost, SUCCEED);
        List<Attempt> attempts = List.of(held.attempt(), cancelled.attempt(), lost.attempt());
        for (int i = 0; i < 2; i++) {
            assertThat(db.work.startAll(attempts))
                    .isEqualTo(Map.of(
                            held.attempt(), Pulse.HELD,
                            cancelled.attempt(), Pulse.CANCELLATION_REQUESTED,
                            lost.attempt(), Pulse.LOST));
        }
        assertThat(db.get(held.job().id()).version()).isEqualTo(3);
        assertThat(db.get(held.job().id()).status()).isEqualTo(JobStatus.RUNNING);
        assertThat(db.get(held.job().id()).state().currentPhase()).isEqualTo("Running");
        assertThat(db.get(lost.job().id()).status()).isEqualTo(JobStatus.SUCCEEDED);
    }

    @Test
    void history_isBounded() {
        NewJob job = StoreFixture.newJob("history");
        db.submit(job.withPolicies(job.policies().withRetry(RetryPolicy.fixed(100, Duration.ZERO))));
        for (int i = 0; i < 25; i++) {
            assertThat(db.work.finish(db.claimOne("history"), new Finish.Retry(Duration.ZERO, "boom " + i)))
                    .isTrue();
        }
        List<PastAttempt> history = db.get(job.id()).outcome().history();
        assertThat(history).hasSize(20);
        assertThat(history.get(19).attempt()).isEqualTo(25);
        assertThat(history.get(19).message()).isEqualTo("boom 24");
    }
}
