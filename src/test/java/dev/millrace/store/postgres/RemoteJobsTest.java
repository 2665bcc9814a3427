package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static dev.millrace.jooq.Tables.LEASES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.job.PastAttempt;
import dev.millrace.store.Attempt;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Claim;
import dev.millrace.store.Controls.Scope;
import dev.millrace.store.Finish;
import dev.millrace.store.Lease;
import dev.millrace.store.Notes;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.store.RemoteJobs;
import dev.millrace.store.RemoteJobs.Answer;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Attempts at remote jobs: begun behind a compare-and-set, and written only by who has their token and the lease. */
@MillraceDatabase
class RemoteJobsTest {
    private static final int ROUNDS = 100;

    private final StoreFixture db;
    private final RemoteJobs remote;
    private Lease lease;

    RemoteJobsTest(TestDatabase database) {
        this.db = new StoreFixture(database);
        this.remote = db.store.remote();
    }

    @BeforeEach
    void prepare() {
        db.controls.release("test");
        db.clear();
        lease = db.leases
                .acquire("lease-" + UUID.randomUUID(), "me", Duration.ofHours(1))
                .orElseThrow();
    }

    private Job queued() {
        return db.submit(newJob());
    }

    private static NewJob newJob() {
        NewJob job = StoreFixture.newJob("k");
        return job.withSpec(job.spec().withBackend("farm"));
    }

    private Optional<Claim> begin(Job job) {
        return remote.begin(job.id(), job.version(), "node", UUID.randomUUID(), lease);
    }

    private Claim begun() {
        return begin(queued()).orElseThrow();
    }

    private void loseLease() {
        db.dsl
                .update(LEASES)
                .set(LEASES.EXPIRES_AT, DbTime.minus(DbTime.CLOCK, DSL.val(Duration.ofSeconds(1), DbTime.DURATION)))
                .where(LEASES.LEASE_KEY.eq(lease.key()))
                .execute();
    }

    @Test
    void begin_countsAndDrawsTheToken() {
        Job job = queued();
        UUID token = UUID.randomUUID();
        Claim claim = remote.begin(job.id(), 1, "node", token, lease).orElseThrow();
        assertThat(claim.token()).isEqualTo(token);
        assertThat(claim.job().status()).isEqualTo(JobStatus.PROVISIONING);
        assertThat(claim.job().version()).isEqualTo(2);
        assertThat(claim.job().state().attemptCount()).isOne();
        assertThat(claim.job().state().claimedBy()).isEqualTo("node");
        assertThat(claim.job().state().claimedAt()).isNotNull();
        assertThat(remote.get(job.id())).contains(claim);
    }

    @Test
    void begin_ofAnythingElse_isNotDone() {
        Job local = db.submit("local");
        assertThat(begin(local)).isEmpty();
        Claim once = begun();
        assertThat(begin(once.job())).as("one that is begun").isEmpty();
        Job changed = queued();
        db.jobs.compareAndSet(changed, changed.withAudit(changed.audit().withCorrelationId("c")));
        assertThat(begin(changed)).as("of an old version").isEmpty();
        Job cancelled = queued();
        db.jobs.cancel(cancelled.id(), null, null);
        assertThat(begin(cancelled)).as("one that is cancelled").isEmpty();
        assertThat(remote.begin("nobody", 1, "node", UUID.randomUUID(), lease)).isEmpty();
        assertThatThrownBy(() -> remote.begin("x", 1, "", UUID.randomUUID(), lease))
                .isInstanceOf(InvalidJobException.class);
    }

    @Test
    void begin_whileItsKindOrQueueIsPaused_isNotDone_andNobodyIsToldToTry() {
        Job job = queued();
        for (Scope scope :
                List.of(Scope.kind(job.kind()), Scope.queue(job.spec().queue()))) {
            db.controls.pause(scope, "test", null);
            assertThat(begin(job)).isEmpty();
            assertThat(candidate(job).due()).isFalse();
            db.controls.resume(scope, "test");
        }
        assertThat(candidate(job).due()).isTrue();
        assertThat(begin(job)).isPresent();
    }

    private ReconcilableJobs.Candidate candidate(Job job) {
        return db.reconcilable.candidates(null, 1_000).stream()
                .filter(candidate -> candidate.jobId().equals(job.id()))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void begin_whileOnHold_orWithoutTheLease_isNotDone() {
        Job job = queued();
        db.controls.hold("test", null);
        assertThat(begin(job)).isEmpty();
        db.controls.release("test");
        Lease mine = lease;
        lease = new Lease(mine.key(), "other", mine.expiresAt());
        assertThat(begin(job)).isEmpty();
        lease = mine;
        loseLease();
        assertThat(begin(job)).isEmpty();
        assertThat(db.get(job.id())).isEqualTo(job);
    }

    @Test
    void begin_beforeTheNextAttemptIsDue_isNotDone() {
        Claim claim = begun();
        remote.finish(claim.attempt(), new Finish.Retry(Duration.ofHours(1), "again"), Notes.NONE, lease);
        Job waiting = db.get(claim.job().id());
        assertThat(begin(waiting)).isEmpty();
        db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.NEXT_RETRY_AT, DbTime.STATEMENT)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(waiting.id()))
                .execute();
        Claim second = begin(waiting).orElseThrow();
        assertThat(second.job().state().attemptCount()).isEqualTo(2);
        assertThat(second.job().state().nextRetryAt()).isNull();
        assertThat(second.token()).isNotEqualTo(claim.token());
    }

    @Test
    void begin_ofARetry_forgetsTheOperationOfTheAttemptBefore() {
        Claim claim = begun();
        remote.running(claim.attempt(), "op-1", lease);
        remote.finish(claim.attempt(), new Finish.Retry(Duration.ZERO, "again"), Notes.NONE, lease);
        Job waiting = db.get(claim.job().id());
        assertThat(waiting.outcome().providerOperationId()).isEqualTo("op-1");
        assertThat(begin(waiting).orElseThrow().job().outcome().providerOperationId())
                .isNull();
        assertThat(db.get(waiting.id()).outcome().providerOperationId()).isNull();
    }

    @Test
    void begin_ofAJobThatCannotBeRead_leavesItToANewerRelease() {
        Job job = queued();
        db.breakRecord(job.id(), JsonText.of("[]"));
        assertThatThrownBy(() -> begin(job)).isInstanceOf(UnreadableJobException.class);
        assertThat(db.column(job.id(), EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.QUEUED);
        assertThat(db.column(job.id(), EXECUTION_JOBS.VERSION)).isEqualTo(1);
    }

    @Test
    void running_keepsTheOperation_andIsRepeatable() {
        Claim claim = begun();
        assertThat(remote.running(claim.attempt(), "op-1", lease)).isEqualTo(Answer.DONE);
        Job running = db.get(claim.job().id());
        assertThat(running.status()).isEqualTo(JobStatus.RUNNING);
        assertThat(running.outcome().providerOperationId()).isEqualTo("op-1");
        assertThat(remote.running(claim.attempt(), "op-1", lease)).isEqualTo(Answer.DONE);
        assertThat(db.get(running.id()).version()).isEqualTo(running.version());
    }

    @Test
    void running_ofAJobThatIsToBeCancelledMeanwhile_keepsTheRequest_andSaysSo() {
        Claim claim = begun();
        assertThat(db.jobs.cancel(claim.job().id(), "me", "no need")).isEqualTo(CancelResult.REQUESTED);
        assertThat(remote.running(claim.attempt(), "op-1", lease)).isEqualTo(Answer.CANCELLATION_REQUESTED);
        Job job = db.get(claim.job().id());
        assertThat(job.cancellationRequested()).isTrue();
        assertThat(job.outcome().providerOperationId()).isEqualTo("op-1");
    }

    @Test
    void success_addsArtifacts() {
        Claim claim = begun();
        remote.running(claim.attempt(), "op-1", lease);
        assertThat(remote.finish(
                        claim.attempt(), new Finish.Succeed(), new Notes(List.of(), List.of("a", "b", "a")), lease))
                .isEqualTo(Answer.DONE);
        Job job = db.get(claim.job().id());
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.outcome().artifacts()).containsExactly("a", "b");
        assertThat(job.outcome().providerOperationId()).isEqualTo("op-1");
        assertThat(remote.finish(claim.attempt(), new Finish.Succeed(), Notes.NONE, lease))
                .as("again")
                .isEqualTo(Answer.DONE);
        assertThat(remote.finish(claim.attempt(), new Finish.Fail("no", Finish.Fail.Reason.HANDLER), Notes.NONE, lease))
                .as("otherwise")
                .isEqualTo(Answer.ATTEMPT_LOST);
    }

    @Test
    void retry_ofAJobThatIsToBeCancelled_cancelsIt() {
        Claim claim = begun();
        db.jobs.cancel(claim.job().id(), null, null);
        remote.finish(claim.attempt(), new Finish.Retry(Duration.ZERO, "again"), Notes.NONE, lease);
        assertThat(db.get(claim.job().id()).status()).isEqualTo(JobStatus.CANCELLED);
    }

    @Test
    void everyWriteOfAnAttemptThatIsOver_isRefused() {
        Claim claim = begun();
        remote.finish(claim.attempt(), new Finish.Retry(Duration.ZERO, "again"), Notes.NONE, lease);
        assertThat(begin(db.get(claim.job().id()))).isPresent();
        Job before = db.get(claim.job().id());
        assertRefused(claim.attempt(), Answer.ATTEMPT_LOST);
        assertThat(db.get(before.id())).isEqualTo(before);
        assertRefused(new Attempt("nobody", UUID.randomUUID()), Answer.ATTEMPT_LOST);
        assertRefused(new Attempt(before.id(), null), Answer.ATTEMPT_LOST);
    }

    @Test
    void everyWriteWithoutTheLease_isRefused() {
        Claim claim = begun();
        Job before = db.get(claim.job().id());
        loseLease();
        assertRefused(claim.attempt(), Answer.LEASE_LOST);
        assertThat(db.get(before.id())).isEqualTo(before);
        assertThat(db.leases.acquire(lease.key(), "successor", Duration.ofHours(1)))
                .isPresent();
        assertRefused(claim.attempt(), Answer.LEASE_LOST);
        assertThat(db.get(before.id())).isEqualTo(before);
    }

    private void assertRefused(Attempt attempt, Answer answer) {
        assertThat(remote.running(attempt, "late", lease)).isEqualTo(answer);
        assertThat(remote.progress(attempt, 99.0, "late", lease)).isEqualTo(answer);
        assertThat(remote.finish(attempt, new Finish.Succeed(), new Notes(List.of(), List.of("late")), lease))
                .isEqualTo(answer);
        assertThat(remote.finish(attempt, new Finish.Fail("late", Finish.Fail.Reason.HANDLER), Notes.NONE, lease))
                .isEqualTo(answer);
        assertThat(remote.finish(attempt, new Finish.Cancel(), Notes.NONE, lease))
                .isEqualTo(answer);
    }

    @Test
    void progress_thatWaitsForItsRow_isRefusedIfTheLeaseRunsOutMeanwhile() throws Exception {
        Claim claim = begun();
        CompletableFuture<Answer> waiting = db.dsl.transactionResult(tx -> {
            tx.dsl()
                    .selectFrom(EXECUTION_JOBS)
                    .where(EXECUTION_JOBS.OPERATION_ID.eq(claim.job().id()))
                    .forNoKeyUpdate()
                    .fetchSingle();
            Lease brief = db.leases
                    .acquire("brief-" + UUID.randomUUID(), "me", Duration.ofMillis(300))
                    .orElseThrow();
            CompletableFuture<Answer> result =
                    OwnThread.supply(() -> remote.progress(claim.attempt(), 50.0, null, brief));
            db.awaitLockWaiter();
            db.awaitTime(brief.expiresAt());
            return result;
        });
        assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo(Answer.LEASE_LOST);
        assertThat(db.get(claim.job().id()).state().percentComplete()).isNull();
    }

    @Test
    void clearProgress_ofAJobThatWasPutBack_andOfNoOther() {
        Job running = db.get(db.running("k").job().id());
        assertThat(remote.clearProgress(running.id(), running.version(), lease)).isFalse();
        db.jobs.compareAndSet(running, running.withStatus(JobStatus.QUEUED));
        Job queued = db.get(running.id());
        assertThat(queued.state().currentPhase()).isNotNull();
        assertThat(remote.clearProgress(queued.id(), queued.version() - 1, lease))
                .isFalse();
        assertThat(remote.clearProgress(queued.id(), queued.version(), lease)).isTrue();
        assertThat(db.get(queued.id()).state().currentPhase()).isNull();
        assertThat(remote.clearProgress(queued.id(), queued.version(), lease)).isFalse();
    }

    /** Field case A3: one of the two, and each caller knows which. */
    @Test
    void cancelAgainstBegin_isEitherCancelledAndNotBegun_orBegunAndRequested() throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(2);
        int begun = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Job job = queued();
            CompletableFuture<CancelResult> cancelling = OwnThread.supply(() -> {
                await(barrier);
                return db.jobs.cancel(job.id(), "me", null);
            });
            await(barrier);
            Optional<Claim> claim = begin(job);
            CancelResult cancelled = cancelling.get(30, TimeUnit.SECONDS);
            Job now = db.get(job.id());
            if (claim.isPresent()) {
                begun++;
                assertThat(cancelled).isEqualTo(CancelResult.REQUESTED);
                assertThat(now.status()).isEqualTo(JobStatus.PROVISIONING);
                assertThat(now.cancellationRequested()).isTrue();
            } else {
                assertThat(cancelled).isEqualTo(CancelResult.CANCELLED);
                assertThat(now.status()).isEqualTo(JobStatus.CANCELLED);
                assertThat(now.state().attemptCount()).isZero();
            }
        }
        System.out.println("Begun before the cancellation: " + begun + " of " + ROUNDS);
    }

    @Test
    void cancelAgainstRunning_losesNeither() throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(2);
        for (int round = 0; round < ROUNDS; round++) {
            Claim claim = begun();
            CompletableFuture<CancelResult> cancelling = OwnThread.supply(() -> {
                await(barrier);
                return db.jobs.cancel(claim.job().id(), "me", null);
            });
            await(barrier);
            Answer answer = remote.running(claim.attempt(), "op", lease);
            assertThat(cancelling.get(30, TimeUnit.SECONDS)).isEqualTo(CancelResult.REQUESTED);
            assertThat(answer).isIn(Answer.DONE, Answer.CANCELLATION_REQUESTED);
            Job now = db.get(claim.job().id());
            assertThat(now.cancellationRequested()).isTrue();
            assertThat(now.outcome().providerOperationId()).isEqualTo("op");
            assertThat(now.status()).isEqualTo(JobStatus.RUNNING);
        }
    }

    @Test
    void cancelAgainstFinish_endsOnceAndAsBothWereTold() throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(2);
        for (int round = 0; round < ROUNDS; round++) {
            Claim claim = begun();
            Finish finish = round % 2 == 0 ? new Finish.Succeed() : new Finish.Retry(Duration.ofHours(1), "no");
            CompletableFuture<CancelResult> cancelling = OwnThread.supply(() -> {
                await(barrier);
                return db.jobs.cancel(claim.job().id(), "me", null);
            });
            await(barrier);
            assertThat(remote.finish(claim.attempt(), finish, new Notes(List.of(), List.of("a")), lease))
                    .isEqualTo(Answer.DONE);
            CancelResult cancelled = cancelling.get(30, TimeUnit.SECONDS);
            Job now = db.get(claim.job().id());
            if (finish instanceof Finish.Succeed) {
                assertThat(now.status()).isEqualTo(JobStatus.SUCCEEDED);
                assertThat(cancelled).isIn(CancelResult.REQUESTED, CancelResult.ALREADY_ENDED);
            } else {
                assertThat(now.status()).isEqualTo(JobStatus.CANCELLED);
                assertThat(cancelled).isIn(CancelResult.REQUESTED, CancelResult.CANCELLED);
                assertThat(now.outcome().history())
                        .singleElement()
                        .extracting(PastAttempt::token)
                        .isEqualTo(claim.token());
            }
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
