package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static dev.millrace.jooq.Tables.LEASES;

import dev.millrace.job.Checks;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.Progress;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.Lease;
import dev.millrace.store.Notes;
import dev.millrace.store.RemoteJobs;
import dev.millrace.types.JobStatus;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/**
 * Attempts at remote jobs. Two fences, each against another danger: the token, against an attempt that is over; the
 * lease, against a process that was suspended while it looked after the attempt, and that another one has taken over
 * from. Both are checked on locked rows, the lease's locked first. What carries the record is fenced on the version as
 * well, and reads again and merges when that has moved, as a cancellation request moves it.
 */
final class PostgresRemoteJobs implements RemoteJobs {
    private static final Condition REMOTE = EXECUTION_JOBS.BACKEND.ne(DSL.inline(JobSpec.LOCAL_BACKEND));

    /** A job that has a percentage or a phase. */
    static final Condition SHOWS_PROGRESS =
            EXECUTION_JOBS.PERCENT_COMPLETE.isNotNull().or(EXECUTION_JOBS.CURRENT_PHASE.isNotNull());

    private final Database database;
    private final JobRows rows;
    private final PostgresWorkSource attempts;

    PostgresRemoteJobs(Database database, JobCodec codec, PostgresWorkSource attempts) {
        this.database = database;
        this.rows = new JobRows(codec);
        this.attempts = attempts;
    }

    /** Whether a job's next attempt may begin, as far as its back-off goes. */
    static Condition due(Field<Instant> now) {
        return DSL.condition(DSL.coalesce(DSL.field(EXECUTION_JOBS.NEXT_RETRY_AT.le(now)), DSL.inline(true)));
    }

    @Override
    public Optional<Claim> get(String jobId) {
        Checks.id("jobId", jobId);
        return database.run(
                Operation.GET_REMOTE,
                jobId,
                dsl -> Optional.ofNullable(row(dsl, jobId)).map(row -> Attempts.claim(rows, row)));
    }

    @Override
    public Optional<Claim> begin(String jobId, long version, String node, UUID token, Lease lease) {
        Checks.id("node", node);
        return database.confirm(Operation.BEGIN_REMOTE, Checks.id("jobId", jobId), (dsl, repetition) -> {
            Record row = row(dsl, jobId);
            if (row == null) {
                return Optional.empty();
            }
            if (repetition.mayHaveHappened() && token.equals(row.get(EXECUTION_JOBS.CLAIM_TOKEN))) {
                return Optional.of(Attempts.claim(rows, row)); // by an earlier try, whose answer was lost
            }
            RowLock lock = RowLock.waitingUnder(
                    lease,
                    EXECUTION_JOBS.OPERATION_ID.eq(jobId),
                    EXECUTION_JOBS.VERSION.eq(version),
                    JobRows.QUEUED,
                    REMOTE,
                    EXECUTION_JOBS.CANCELLATION_REQUESTED.isFalse(),
                    due(DbTime.CLOCK),
                    HoldSwitch.NOT_HELD,
                    Pauses.neither(EXECUTION_JOBS.QUEUE, EXECUTION_JOBS.KIND));
            return lock.update(dsl, begun(rows.job(row), node, token))
                    .returningResult(Attempts.CLAIM_FIELDS)
                    .fetchOptional(begun -> Attempts.claim(rows, begun));
        });
    }

    /** What a begin assigns: that of a claim. */
    private Map<Field<?>, Object> begun(Job job, String node, UUID token) {
        Map<Field<?>, Object> values = new LinkedHashMap<>(ClaimShape.assignments(
                DSL.val(node, EXECUTION_JOBS.CLAIMED_BY),
                DSL.val(token, EXECUTION_JOBS.CLAIM_TOKEN.getDataType()),
                DbTime.LOCKED));
        values.put(EXECUTION_JOBS.CURRENT_PHASE, "Starting");
        if (job.outcome().providerOperationId() != null) {
            // That of an earlier attempt: whoever finds this one without an answer must not look at the other.
            values.putAll(
                    rows.recordAndProjections(job.withOutcome(job.outcome().withProviderOperationId(null))));
        }
        return values;
    }

    @Override
    public Answer running(Attempt attempt, String providerOperationId, Lease lease) {
        Checks.id("providerOperationId", providerOperationId);
        return database.run(
                Operation.RUNNING_REMOTE,
                attempt.jobId(),
                dsl -> Rounds.first(() -> tryRunning(dsl, attempt, providerOperationId, lease), unsettled(attempt)));
    }

    /** The answer, or null if the job changed while it was looked at. */
    private @Nullable Answer tryRunning(DSLContext dsl, Attempt attempt, String providerOperationId, Lease lease) {
        Record row = owned(dsl, attempt);
        if (row == null) {
            return Answer.ATTEMPT_LOST;
        }
        Job job = rows.job(row);
        if (job.status() == JobStatus.RUNNING
                && providerOperationId.equals(job.outcome().providerOperationId())) {
            return answer(job.cancellationRequested());
        }
        Map<Field<?>, Object> values = signOfLife();
        values.put(EXECUTION_JOBS.VERSION, EXECUTION_JOBS.VERSION.plus(1));
        values.put(EXECUTION_JOBS.STATUS, JobRows.literal(JobStatus.RUNNING));
        values.put(EXECUTION_JOBS.CURRENT_PHASE, "Running");
        values.putAll(
                rows.recordAndProjections(job.withOutcome(job.outcome().withProviderOperationId(providerOperationId))));
        return asRead(attempt, row, lease).update(dsl, values).execute() == 1
                ? answer(job.cancellationRequested())
                : refusal(dsl, lease);
    }

    @Override
    public Answer progress(Attempt attempt, @Nullable Double percent, @Nullable String phase, Lease lease) {
        Progress progress = new Progress(percent, phase);
        Map<Field<?>, Object> values = signOfLife();
        if (progress.percent() != null) {
            values.put(EXECUTION_JOBS.PERCENT_COMPLETE, progress.percent());
        }
        if (progress.phase() != null) {
            values.put(EXECUTION_JOBS.CURRENT_PHASE, progress.phase());
        }
        return database.run(Operation.PROGRESS_REMOTE, attempt.jobId(), dsl -> {
            Boolean cancel = RowLock.waitingUnder(lease, Attempts.owned(attempt))
                    .update(dsl, values)
                    .returningResult(EXECUTION_JOBS.CANCELLATION_REQUESTED)
                    .fetchOne(EXECUTION_JOBS.CANCELLATION_REQUESTED);
            if (cancel == null) {
                return isHeld(dsl, lease) ? Answer.ATTEMPT_LOST : Answer.LEASE_LOST;
            }
            return answer(cancel);
        });
    }

    @Override
    public Answer finish(Attempt attempt, Finish finish, Notes notes, Lease lease) {
        return database.confirm(
                Operation.FINISH_REMOTE,
                attempt.jobId(),
                (dsl, repetition) -> Rounds.first(
                        () -> tryFinish(dsl, attempt, finish, notes, lease, repetition), unsettled(attempt)));
    }

    private @Nullable Answer tryFinish(
            DSLContext dsl, Attempt attempt, Finish finish, Notes notes, Lease lease, Repetition repetition) {
        Record row = row(dsl, attempt.jobId());
        if (row == null) {
            return Answer.ATTEMPT_LOST;
        }
        if (!Attempts.isOwned(row, attempt)) {
            return attempts.showsEnd(row, attempt, finish, repetition) ? Answer.DONE : Answer.ATTEMPT_LOST;
        }
        Map<Field<?>, Object> ending = attempts.assignments(row, finish, notes);
        boolean ended = asRead(attempt, row, lease).update(dsl, ending).execute() == 1;
        return ended ? Answer.DONE : refusal(dsl, lease);
    }

    @Override
    public boolean clearProgress(String jobId, long version, Lease lease) {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        JobRows.putNullable(values, EXECUTION_JOBS.PERCENT_COMPLETE, null);
        JobRows.putNullable(values, EXECUTION_JOBS.CURRENT_PHASE, null);
        RowLock lock = RowLock.waitingUnder(
                lease,
                EXECUTION_JOBS.OPERATION_ID.eq(Checks.id("jobId", jobId)),
                EXECUTION_JOBS.VERSION.eq(version),
                JobRows.QUEUED,
                SHOWS_PROGRESS,
                HoldSwitch.NOT_HELD);
        return database.run(
                Operation.CLEAR_PROGRESS, jobId, dsl -> lock.update(dsl, values).execute() == 1);
    }

    private static Map<Field<?>, Object> signOfLife() {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        values.put(EXECUTION_JOBS.LAST_HEARTBEAT_AT, DbTime.LOCKED);
        values.put(EXECUTION_JOBS.UPDATED_AT, DbTime.LOCKED);
        return values;
    }

    private static @Nullable Record row(DSLContext dsl, String jobId) {
        return dsl.select(Attempts.CLAIM_FIELDS)
                .select(DbTime.CLOCK.as("clock"))
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(jobId))
                .fetchOne();
    }

    private static @Nullable Record owned(DSLContext dsl, Attempt attempt) {
        Record row = row(dsl, attempt.jobId());
        return row != null && Attempts.isOwned(row, attempt) ? row : null;
    }

    /** The attempt, in the version that was read, under the lease. */
    private static RowLock asRead(Attempt attempt, Record row, Lease lease) {
        return RowLock.waitingUnder(
                lease, Attempts.owned(attempt), EXECUTION_JOBS.VERSION.eq(row.get(EXECUTION_JOBS.VERSION)));
    }

    /** Why nothing was written: the lease, or else null, since then the job has changed since it was read. */
    private static @Nullable Answer refusal(DSLContext dsl, Lease lease) {
        return isHeld(dsl, lease) ? null : Answer.LEASE_LOST;
    }

    private static boolean isHeld(DSLContext dsl, Lease lease) {
        return dsl.fetchExists(
                LEASES,
                LEASES.LEASE_KEY.eq(lease.key()),
                LEASES.OWNER_ID.eq(lease.owner()),
                LEASES.EXPIRES_AT.gt(DbTime.CLOCK));
    }

    private static Answer answer(boolean cancellationRequested) {
        return cancellationRequested ? Answer.CANCELLATION_REQUESTED : Answer.DONE;
    }

    private static String unsettled(Attempt attempt) {
        return "remote job \"" + attempt.jobId() + "\" was changed by others while it was to be written; try again.";
    }
}
