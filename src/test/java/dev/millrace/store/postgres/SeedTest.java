package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.AttemptState;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobAudit;
import dev.millrace.job.JobOutcome;
import dev.millrace.job.JobSpec;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.Claim;
import dev.millrace.store.Completion;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@MillraceDatabase
class SeedTest {
    private static final Instant CREATED = Instant.parse("2020-02-29T23:59:59.123456Z");

    private final StoreFixture db;

    SeedTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.clear();
    }

    private static Job job(JobStatus status) {
        AttemptState state = new AttemptState(
                17,
                status,
                5,
                "old-worker",
                CREATED.plusSeconds(1),
                CREATED.plusSeconds(2),
                CREATED.plusSeconds(3),
                CREATED.plusSeconds(4),
                12.5,
                "phase",
                CREATED.plusSeconds(5));
        Job job = Job.of(StoreFixture.newId(), JobSpec.of("seed", JsonText.of("{\"a\":1}")), CREATED);
        return job.withPriority(Priority.HIGH)
                .withPolicies(job.policies().withRetention(Duration.ofDays(2)))
                .withAudit(JobAudit.NONE.withTenantId("t").withCorrelationId("c"))
                .withOutcome(JobOutcome.NONE
                        .withErrorMessage("boom")
                        .withPastAttempt(new PastAttempt(
                                4, UUID.randomUUID(), "w", CREATED, CREATED, PastAttempt.Ending.RETRIED, "m")))
                .withState(state);
    }

    @ParameterizedTest
    @EnumSource(JobStatus.class)
    void seed_ofAnyStatus_isReadAsItWasGiven(JobStatus status) {
        Job job = job(status);
        assertThat(db.jobs.seed(job)).isTrue();
        assertThat(db.get(job.id())).isEqualTo(job);
        assertThat(db.column(job.id(), EXECUTION_JOBS.CLAIM_TOKEN)).isNull();
        assertThat(db.column(job.id(), EXECUTION_JOBS.TENANT_ID)).isEqualTo("t");
        assertThat(db.column(job.id(), EXECUTION_JOBS.LOOKUP_KEYS)).contains("correlation:C");
        assertThat(db.column(job.id(), EXECUTION_JOBS.PRIORITY)).isEqualTo(Priority.HIGH);
        if (status.isFinal()) {
            assertThat(db.column(job.id(), EXECUTION_JOBS.EXPIRES_AT))
                    .isEqualTo(CREATED.plusSeconds(4).plus(Duration.ofDays(2)));
        }
        assertThat(db.jobs.seed(job)).isTrue();
        assertIsButForItsVersion(db.get(job.id()), job);
    }

    private static void assertIsButForItsVersion(Job found, Job expected) {
        assertThat(found)
                .usingRecursiveComparison()
                .ignoringFields("state.version")
                .isEqualTo(expected);
    }

    /** Whoever has read the job that was there must not write over the one that is there now. */
    @Test
    void seed_overAJobThatSomebodyHasRead_isNotOverwrittenByHim() {
        Job read = db.submit("before");
        Job other = read.withSpec(JobSpec.of("seed", JsonText.of("{\"a\":1}")));
        assertThat(db.jobs.seed(other)).isTrue();
        assertThat(db.jobs.compareAndSet(read, read.withAudit(read.audit().withCorrelationId("late"))))
                .isFalse();
        assertIsButForItsVersion(db.get(read.id()), other);
        assertThat(db.get(read.id()).version()).isGreaterThan(read.version());
    }

    @ParameterizedTest
    @EnumSource(JobStatus.class)
    void seed_overAJobThatNobodyHolds_leavesNothingOfIt(JobStatus status) {
        Claim claim = db.running("before");
        db.work.finish(claim, new Finish.Fail("boom", Finish.Fail.Reason.HANDLER));
        Job job = job(status);
        Job over = new Job(
                claim.job().id(),
                job.spec(),
                job.priority(),
                job.policies(),
                job.audit(),
                job.outcome(),
                job.createdAt(),
                job.state(),
                null);
        assertThat(db.jobs.seed(over)).isTrue();
        assertIsButForItsVersion(db.get(over.id()), over);
        assertThat(db.column(over.id(), EXECUTION_JOBS.CLAIM_TOKEN)).isNull();
        assertThat(db.column(over.id(), EXECUTION_JOBS.KIND)).isEqualTo("seed");
    }

    @Test
    void seed_overAJobThatAnAttemptHolds_leavesItAlone() {
        Claim claim = db.running("held");
        Job before = db.get(claim.job().id());
        assertThat(db.jobs.seed(before.withStatus(JobStatus.SUCCEEDED))).isFalse();
        assertThat(db.get(before.id())).isEqualTo(before);
        assertThat(db.work.beat(List.of(claim.attempt()))).containsValue(Pulse.HELD);
    }

    /** Invariant 3. */
    @Test
    void seed_ofAQueuedLocalJob_isClaimableButNotBeforeItsNextAttempt() {
        Job job = job(JobStatus.QUEUED);
        db.jobs.seed(job);
        assertThat(db.claimOne("seed").job().id()).isEqualTo(job.id());
        Job later = job(JobStatus.QUEUED);
        Instant tomorrow = db.now().plus(Duration.ofDays(1));
        db.jobs.seed(later.withState(later.state().withNextRetryAt(tomorrow)));
        assertThat(db.claim(1, "seed")).isEmpty();
        assertThat(db.column(later.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT)).isEqualTo(tomorrow);
        Job remote = job(JobStatus.QUEUED);
        db.jobs.seed(remote.withSpec(remote.spec().withBackend("elsewhere")));
        assertThat(db.column(remote.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
    }

    @Test
    void seed_ofARunningJob_isRecoveredAsAnyOther() {
        Job job = job(JobStatus.RUNNING);
        job = job.withPolicies(job.policies()
                .withMaxDuration(Duration.ofDays(36_500))
                .withRetry(RetryPolicy.DEFAULT.withMaxAttempts(9)));
        db.jobs.seed(job);
        var suspects = db.reconcilable.suspects("", 10);
        assertThat(suspects).hasSize(1);
        db.reconcilable.expire(suspects.get(0), new Finish.Retry(Duration.ZERO, "silent"));
        assertThat(db.claim(1, "seed")).hasSize(1);
    }

    /** It has no token, and whoever has none either is not its attempt. */
    @Test
    void seed_ofARunningJob_isNobodysToWrite() {
        Job job = job(JobStatus.RUNNING);
        db.jobs.seed(job);
        Claim none = db.reconcilable.suspects("", 10).get(0).claim();
        assertThat(none.token()).isNull();
        assertThat(db.work.beat(List.of(none.attempt()))).containsValue(Pulse.LOST);
        assertThat(db.work.start(none.attempt())).isEqualTo(Pulse.LOST);
        assertThat(db.work.progress(none.attempt(), 1.0, null)).isEqualTo(Pulse.LOST);
        assertThat(db.queue.requeue(none.attempt(), Duration.ZERO)).isFalse();
        for (Finish finish : List.of(new Finish.Succeed(), new Finish.Retry(Duration.ZERO, "x"))) {
            assertThat(db.work.finish(none, finish)).isFalse();
            assertThat(db.work.finishAll(List.of(new Completion(none, finish)))).isEmpty();
        }
        assertThat(db.get(job.id()).status()).isEqualTo(JobStatus.RUNNING);
    }

    @Test
    void seed_ofTooLargeAJob_isRefused() {
        Job job = job(JobStatus.QUEUED)
                .withSpec(JobSpec.of("k", JsonText.of("{\"a\":\"" + "x".repeat(1024 * 1024) + "\"}")));
        assertThatThrownBy(() -> db.jobs.seed(job)).isInstanceOf(InvalidJobException.class);
    }
}
