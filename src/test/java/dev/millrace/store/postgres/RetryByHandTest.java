package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobOutcome;
import dev.millrace.job.JobSpec;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.RetryResult;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@MillraceDatabase
class RetryByHandTest {
    private final StoreFixture db;

    RetryByHandTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    private String failed(String kind) {
        Claim claim = db.running(kind);
        db.work.progress(claim.attempt(), 40.0, "half");
        db.work.finish(claim, new Finish.Fail("boom", Finish.Fail.Reason.HANDLER));
        return claim.job().id();
    }

    static Stream<Finish> endings() {
        return Stream.of(
                new Finish.Succeed(), new Finish.Fail("boom", Finish.Fail.Reason.HANDLER), new Finish.Cancel());
    }

    @ParameterizedTest
    @MethodSource("endings")
    void retry_ofEndedJob_makesItClaimableWithAllAttemptsAndNothingOfTheLastOnes(Finish ending) {
        Claim first = db.running("retry");
        String id = first.job().id();
        db.jobs.cancel(id, "bob", "not now");
        db.work.finish(first, ending);
        Job ended = db.get(id);

        assertThat(db.jobs.retry(id, "ann", "mended")).isEqualTo(RetryResult.QUEUED);

        Job again = db.get(id);
        assertThat(again.status()).isEqualTo(JobStatus.QUEUED);
        assertThat(again.version()).isEqualTo(ended.version() + 1);
        assertThat(again.outcome()).isEqualTo(JobOutcome.NONE);
        assertThat(again.cancellationRequested()).isFalse();
        assertThat(again.spec()).isEqualTo(ended.spec());
        assertThat(again.createdAt()).isEqualTo(ended.createdAt());
        assertThat(Stream.of(
                                again.state().claimedBy(),
                                again.state().claimedAt(),
                                again.state().lastHeartbeatAt(),
                                again.state().nextRetryAt(),
                                again.state().completedAt(),
                                again.state().percentComplete(),
                                again.state().currentPhase())
                        .filter(Objects::nonNull))
                .isEmpty();
        assertThat(again.audit().retried()).satisfies(retry -> {
            assertThat(retry.by()).isEqualTo("ann");
            assertThat(retry.why()).isEqualTo("mended");
            assertThat(retry.at()).isAfterOrEqualTo(ended.state().completedAt());
        });
        assertThat(db.column(id, EXECUTION_JOBS.CLAIM_TOKEN)).isNull();
        assertThat(db.column(id, EXECUTION_JOBS.CANCELLATION_REQUESTED)).isFalse();
        assertThat(again.state().attemptCount()).isEqualTo(1);

        Claim claim = db.claimOne("retry"); // invariant 3: nobody had to help
        assertThat(claim.countedAttempts()).isEqualTo(1);
        assertThat(claim.job().state().attemptCount()).isEqualTo(2);
        assertThat(db.work.finish(first, new Finish.Succeed())).isFalse();
    }

    @Test
    void retry_ofJobThatHasNotEnded_changesNothing() {
        Job queued = db.submit("open");
        assertThat(db.jobs.retry(queued.id(), "ann", null)).isEqualTo(RetryResult.NOT_ENDED);
        assertThat(db.get(queued.id())).isEqualTo(queued);
        Claim claim = db.running("open2");
        Job running = db.get(claim.job().id());
        assertThat(db.jobs.retry(running.id(), "ann", null)).isEqualTo(RetryResult.NOT_ENDED);
        assertThat(db.get(running.id())).isEqualTo(running);
        assertThat(db.jobs.retry("nowhere", "ann", null)).isEqualTo(RetryResult.NOT_FOUND);
    }

    @Test
    void retry_thatIsRepeated_recognisesItsEarlierSuccess() {
        String id = failed("repeat");
        assertThat(db.jobs.retry(id, "ann", "mended")).isEqualTo(RetryResult.QUEUED);
        Job queued = db.get(id);
        assertThat(db.jobs.retry(id, "ann", "mended")).isEqualTo(RetryResult.QUEUED);
        assertThat(db.jobs.retry(id, "bob", "mended")).isEqualTo(RetryResult.NOT_ENDED);
        assertThat(db.get(id)).isEqualTo(queued);
        db.claimOne("repeat");
        assertThat(db.jobs.retry(id, "ann", "mended")).isEqualTo(RetryResult.NOT_ENDED);
    }

    @Test
    void retry_byTwoAtOnce_isOne() throws Exception {
        for (int round = 0; round < 20; round++) {
            String id = failed("race-" + round);
            long version = db.get(id).version();
            var ann = OwnThread.supply(() -> db.jobs.retry(id, "ann", null));
            var bob = OwnThread.supply(() -> db.jobs.retry(id, "bob", null));
            assertThat(List.of(ann.get(30, TimeUnit.SECONDS), bob.get(30, TimeUnit.SECONDS)))
                    .containsExactlyInAnyOrder(RetryResult.QUEUED, RetryResult.NOT_ENDED);
            assertThat(db.get(id).version()).isEqualTo(version + 1);
        }
    }

    @Test
    void retry_thatWaitsForTheDeletionOfItsJob_findsNone() throws Exception {
        String id = failed("deleted");
        CompletableFuture<RetryResult> retry = new CompletableFuture<>();
        db.dsl.transaction(tx -> {
            tx.dsl()
                    .deleteFrom(EXECUTION_JOBS)
                    .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                    .execute();
            OwnThread.complete(retry, () -> db.jobs.retry(id, "ann", null));
            db.awaitLockWaiter();
        });
        assertThat(retry.get(30, TimeUnit.SECONDS)).isEqualTo(RetryResult.NOT_FOUND);
    }

    @Test
    void retry_ofRemoteJob_leavesItToItsBackend() {
        Job job = db.submit(StoreFixture.newJob("remote")
                .withSpec(JobSpec.of("remote", JsonText.of("{}")).withBackend("elsewhere")));
        db.jobs.cancel(job.id(), null, null);
        assertThat(db.jobs.retry(job.id(), null, null)).isEqualTo(RetryResult.QUEUED);
        assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
        assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT)).isNull();
    }

    /** Field case A21, the last part: what an operator has mended can run again. */
    @Test
    void retry_ofJobThatCannotBeRead_isRefusedUntilItIsMended() {
        Job job = db.submit("mend");
        JsonText good = db.column(job.id(), EXECUTION_JOBS.RECORD);
        JsonText bad = JsonText.of(good.text().replace("\"spec\"", "\"specification\""));
        db.breakRecord(job.id(), bad);
        assertThat(db.claim(1, "mend")).isEmpty();
        var row = db.dsl
                .selectFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                .fetchSingle();
        assertThat(row.getStatus()).isEqualTo(JobStatus.FAILED);
        assertThatThrownBy(() -> db.jobs.retry(job.id(), "ann", null)).isInstanceOf(UnreadableJobException.class);
        assertThat(db.dsl
                        .selectFrom(EXECUTION_JOBS)
                        .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                        .fetchSingle())
                .isEqualTo(row);
        db.breakRecord(job.id(), good);
        assertThat(db.jobs.retry(job.id(), "ann", null)).isEqualTo(RetryResult.QUEUED);
        assertThat(db.work.finish(db.claimOne("mend"), new Finish.Succeed())).isTrue();
    }

    @Test
    void retry_byTooLongAName_isRefused() {
        assertThatThrownBy(() -> db.jobs.retry("id", "x".repeat(513), null)).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> db.jobs.retry("id", null, "x".repeat(2_001))).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> db.jobs.retry("", null, null)).isInstanceOf(InvalidJobException.class);
    }

    /** Substrate 4.3: retention counts from the end, so another one moves the end of being kept. */
    @Test
    void compareAndSet_ofTheRetentionOfAnEndedJob_countsFromItsEnd() {
        String id = failed("retention");
        Job ended = db.get(id);
        var before = db.column(id, EXECUTION_JOBS.EXPIRES_AT);
        assertThat(before).isEqualTo(ended.state().completedAt().plus(Duration.ofDays(7)));
        assertThat(db.jobs.compareAndSet(ended, ended.withAudit(ended.audit().withCorrelationId("c"))))
                .isTrue();
        assertThat(db.column(id, EXECUTION_JOBS.EXPIRES_AT)).isEqualTo(before);
        Job read = db.get(id);
        assertThat(db.jobs.compareAndSet(read, read.withPolicies(read.policies().withRetention(Duration.ofHours(1)))))
                .isTrue();
        assertThat(db.column(id, EXECUTION_JOBS.EXPIRES_AT))
                .isEqualTo(ended.state().completedAt().plus(Duration.ofHours(1)));
    }

    @Test
    void compareAndSet_ofTheRetentionOfALiveJob_countsOnceItEnds() {
        Job job = db.submit("live");
        var before = db.column(job.id(), EXECUTION_JOBS.EXPIRES_AT);
        db.jobs.compareAndSet(job, job.withPolicies(job.policies().withRetention(Duration.ofHours(1))));
        assertThat(db.column(job.id(), EXECUTION_JOBS.EXPIRES_AT)).isEqualTo(before);
        db.jobs.cancel(job.id(), null, null);
        assertThat(db.column(job.id(), EXECUTION_JOBS.EXPIRES_AT))
                .isEqualTo(db.get(job.id()).state().completedAt().plus(Duration.ofHours(1)));
    }
}
