package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.AttemptState;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobReferences;
import dev.millrace.job.NewJob;
import dev.millrace.store.Claim;
import dev.millrace.types.JobStatus;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The rules of compare-and-set, one by one. */
@MillraceDatabase
class CompareAndSetTest {
    private static final Instant LONG_AGO = Instant.parse("2001-01-01T00:00:00Z");

    private final StoreFixture db;

    CompareAndSetTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @Test
    void change_ofJobAsRead_bumpsVersionAndUpdatedAt() {
        Job job = db.submit("k");
        assertThat(db.jobs.compareAndSet(job, job.withPriority(Priority.LOW))).isTrue();
        Job changed = db.get(job.id());
        assertThat(changed.version()).isEqualTo(2);
        assertThat(changed.priority()).isEqualTo(Priority.LOW);
        assertThat(changed.state().updatedAt()).isAfterOrEqualTo(job.state().updatedAt());
        assertThat(db.column(job.id(), EXECUTION_JOBS.PRIORITY)).isEqualTo(Priority.LOW);
        assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isEqualTo(Priority.LOW);
    }

    @Test
    void change_ofJobThatHasChangedSince_isNotMade() {
        Job job = db.submit("k");
        assertThat(db.jobs.compareAndSet(job, job.withPriority(Priority.LOW))).isTrue();
        assertThat(db.jobs.compareAndSet(job, job.withPriority(Priority.HIGH))).isFalse();
        assertThat(db.get(job.id()).priority()).isEqualTo(Priority.LOW);
    }

    @Test
    void change_ofJobThatIsGone_isNotMade() {
        Job job = db.submit("k");
        db.dsl
                .deleteFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                .execute();
        assertThat(db.jobs.compareAndSet(job, job.withPriority(Priority.LOW))).isFalse();
    }

    @Test
    void staleValuesThatTheWriterCarriesAlong_areNotWrittenBack() {
        Claim claim = db.running("k");
        Job read = db.get(claim.job().id());
        db.work.progress(claim.attempt(), 42.0, "later");
        Job beaten = db.get(read.id());
        assertThat(db.jobs.compareAndSet(
                        read, read.withSpec(read.spec().withReferences(JobReferences.NONE.withServer("s")))))
                .isTrue();
        Job changed = db.get(read.id());
        assertThat(changed.state().percentComplete()).isEqualTo(42.0);
        assertThat(changed.state().currentPhase()).isEqualTo("later");
        assertThat(changed.state().lastHeartbeatAt()).isEqualTo(beaten.state().lastHeartbeatAt());
        assertThat(changed.spec().references().server()).isEqualTo("s");
        assertThat(db.column(read.id(), EXECUTION_JOBS.LOOKUP_KEYS)).contains("server:S");
        assertThat(db.column(read.id(), EXECUTION_JOBS.CLAIM_TOKEN)).isEqualTo(claim.token());
    }

    @Test
    void change_thatTouchesNoRecord_leavesTheRecordAlone() {
        Job job = db.submit("k");
        var before = db.column(job.id(), EXECUTION_JOBS.RECORD);
        // Another release has since written a member into the record that we don't even read.
        assertThat(db.jobs.compareAndSet(job, job.withState(job.state().withClaimedBy("someone"))))
                .isTrue();
        assertThat(db.column(job.id(), EXECUTION_JOBS.RECORD)).isEqualTo(before);
        assertThat(db.get(job.id()).state().claimedBy()).isEqualTo("someone");
    }

    @Test
    void claimedAndCompletedTimes_becomeDatabaseTimeOrNull() {
        Job job = db.submit("k");
        Instant before = db.now();
        change(job.id(), state -> state.withClaimedAt(LONG_AGO).withCompletedAt(LONG_AGO));
        Job changed = db.get(job.id());
        assertThat(changed.state().claimedAt()).isBetween(before, db.now());
        assertThat(changed.state().completedAt()).isBetween(before, db.now());
        change(job.id(), state -> state.withClaimedAt(null).withCompletedAt(null));
        assertThat(db.get(job.id()).state().claimedAt()).isNull();
        assertThat(db.get(job.id()).state().completedAt()).isNull();
    }

    @Test
    void nextRetry_isTheDatabasesTimePlusTheDelayThatWasStated() {
        Job job = db.submit("k");
        Instant before = db.now();
        assertThat(db.jobs.compareAndSet(
                        job, job.withState(job.state().withNextRetryAt(LONG_AGO)), Duration.ofHours(1)))
                .isTrue();
        assertThat(db.get(job.id()).state().nextRetryAt())
                .isBetween(before.plus(Duration.ofHours(1)), db.now().plus(Duration.ofHours(1)));
        change(job.id(), state -> state.withNextRetryAt(null));
        assertThat(db.get(job.id()).state().nextRetryAt()).isNull();
    }

    @Test
    void finalStatus_leavesTheQueueAndStartsRetention() {
        for (JobStatus status : List.of(JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED)) {
            NewJob job = StoreFixture.newJob("k");
            job = job.withPolicies(job.policies().withRetention(Duration.ofDays(3)));
            Job read = db.submit(job);
            Instant before = db.now();
            assertThat(db.jobs.compareAndSet(read, read.withStatus(status))).isTrue();
            Job ended = db.get(job.id());
            assertThat(ended.status()).isEqualTo(status);
            assertThat(ended.state().completedAt()).isBetween(before, db.now());
            assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
            assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT)).isNull();
            assertThat(db.column(job.id(), EXECUTION_JOBS.EXPIRES_AT))
                    .isBetween(before.plus(Duration.ofDays(3)), db.now().plus(Duration.ofDays(3)));
        }
    }

    @Test
    void finalStatus_keepsTheTokenAndIsNeverLeft() {
        Claim claim = db.running("k");
        Job read = db.get(claim.job().id());
        assertThat(db.jobs.compareAndSet(read, read.withStatus(JobStatus.FAILED)))
                .isTrue();
        assertThat(db.column(read.id(), EXECUTION_JOBS.CLAIM_TOKEN)).isEqualTo(claim.token());
        Job ended = db.get(read.id());
        assertThatThrownBy(() -> db.jobs.compareAndSet(ended, ended.withStatus(JobStatus.QUEUED)))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("Failed");
    }

    @Test
    void backToQueued_clearsTheClaimAndMovesThePlaceByTheDelay() {
        Claim claim = db.running("k");
        Job read = db.get(claim.job().id());
        Instant before = db.now();
        assertThat(db.jobs.compareAndSet(read, read.withStatus(JobStatus.QUEUED), Duration.ofMinutes(7)))
                .isTrue();
        Job queued = db.get(read.id());
        assertThat(queued.status()).isEqualTo(JobStatus.QUEUED);
        assertThat(queued.state().claimedBy()).isNull();
        assertThat(queued.state().claimedAt()).isNull();
        assertThat(queued.state().lastHeartbeatAt()).isNull();
        assertThat(queued.state().attemptCount()).isEqualTo(1);
        assertThat(db.column(read.id(), EXECUTION_JOBS.CLAIM_TOKEN)).isNull();
        assertThat(db.column(read.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isEqualTo(Priority.NORMAL);
        assertThat(db.column(read.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT))
                .isBetween(before.plus(Duration.ofMinutes(7)), db.now().plus(Duration.ofMinutes(7)));
    }

    @Test
    void backToQueued_withoutAPlace_getsNone() {
        Claim claim = db.running("k");
        db.dsl
                .update(EXECUTION_JOBS)
                .setNull(EXECUTION_JOBS.QUEUE_PRIORITY)
                .setNull(EXECUTION_JOBS.QUEUE_VISIBLE_AT)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(claim.job().id()))
                .execute();
        Job read = db.get(claim.job().id());
        assertThat(db.jobs.compareAndSet(read, read.withStatus(JobStatus.QUEUED)))
                .isTrue();
        assertThat(db.column(read.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT)).isNull();
    }

    @Test
    void changeToRemoteBackend_leavesTheLocalQueue() {
        Job job = db.submit("k");
        assertThat(db.jobs.compareAndSet(job, job.withSpec(job.spec().withBackend("farm"))))
                .isTrue();
        assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
        assertThat(db.column(job.id(), EXECUTION_JOBS.BACKEND)).isEqualTo("farm");
    }

    @Test
    void changeOfWhatIsNotTheWriters_isRefusedBeforeAnySql() {
        Job job = db.get(db.running("k").job().id());
        AttemptState s = job.state();
        refused(
                job,
                new AttemptState(
                        s.version() + 1,
                        s.status(),
                        s.attemptCount(),
                        s.claimedBy(),
                        s.claimedAt(),
                        s.lastHeartbeatAt(),
                        null,
                        null,
                        null,
                        s.currentPhase(),
                        s.updatedAt()),
                "version");
        refused(
                job,
                new AttemptState(
                        s.version(),
                        s.status(),
                        7,
                        s.claimedBy(),
                        s.claimedAt(),
                        s.lastHeartbeatAt(),
                        null,
                        null,
                        null,
                        s.currentPhase(),
                        s.updatedAt()),
                "attemptCount");
        refused(
                job,
                new AttemptState(
                        s.version(),
                        s.status(),
                        s.attemptCount(),
                        s.claimedBy(),
                        s.claimedAt(),
                        LONG_AGO,
                        null,
                        null,
                        null,
                        s.currentPhase(),
                        s.updatedAt()),
                "lastHeartbeatAt");
        refused(
                job,
                new AttemptState(
                        s.version(),
                        s.status(),
                        s.attemptCount(),
                        s.claimedBy(),
                        s.claimedAt(),
                        s.lastHeartbeatAt(),
                        null,
                        null,
                        5.0,
                        s.currentPhase(),
                        s.updatedAt()),
                "percentComplete");
        refused(
                job,
                new AttemptState(
                        s.version(),
                        s.status(),
                        s.attemptCount(),
                        s.claimedBy(),
                        s.claimedAt(),
                        s.lastHeartbeatAt(),
                        null,
                        null,
                        null,
                        "mine",
                        s.updatedAt()),
                "currentPhase");
        assertThatThrownBy(() -> db.jobs.compareAndSet(job, job, Duration.ofSeconds(-1)))
                .isInstanceOf(InvalidJobException.class);
        assertThat(db.get(job.id())).isEqualTo(job);
    }

    @Test
    void acceptedCancellation_staysWithTheJob() {
        Claim claim = db.running("k");
        db.jobs.cancel(claim.job().id(), "ann", null);
        Job job = db.get(claim.job().id());
        assertThatThrownBy(() ->
                        db.jobs.compareAndSet(job, job.withAudit(job.audit().withCancellation(null))))
                .isInstanceOfSatisfying(
                        InvalidJobException.class, e -> assertThat(e.field()).isEqualTo("audit.cancellation"));
    }

    @Test
    void queuedLocalJob_becomesClaimedByAClaimOnly() {
        Job job = db.submit("k");
        assertThatThrownBy(() -> db.jobs.compareAndSet(job, job.withStatus(JobStatus.RUNNING)))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("only a claim");
    }

    private void refused(Job job, AttemptState state, String field) {
        assertThatThrownBy(() -> db.jobs.compareAndSet(job, job.withState(state)))
                .isInstanceOfSatisfying(
                        InvalidJobException.class, e -> assertThat(e.field()).isEqualTo(field));
    }

    private void change(String id, UnaryOperator<AttemptState> change) {
        Job job = db.get(id);
        assertThat(db.jobs.compareAndSet(job, job.withState(change.apply(job.state()))))
                .isTrue();
    }
}
