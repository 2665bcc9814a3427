package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.Job;
import dev.millrace.job.JobOutcome;
import dev.millrace.job.ManualRetry;
import dev.millrace.store.RetryResult;
import dev.millrace.types.JobStatus;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jspecify.annotations.Nullable;

/**
 * An ended job runs again because an operator says so. What was written is recognised by what the job then says about it:
 * who had it retried, why, and when to the microsecond.
 */
final class RetryByHand {

    private final Database database;
    private final JobRows rows;

    RetryByHand(Database database, JobRows rows) {
        this.database = database;
        this.rows = rows;
    }

    RetryResult retry(String id, @Nullable String by, @Nullable String why) {
        // Outlives a repetition of the statements after an answer that was lost.
        AtomicReference<@Nullable ManualRetry> mine = new AtomicReference<>();
        String unsettled = "job \"" + id + "\" was changed by others while it was to be retried; try again.";
        return database.run(
                Operation.RETRY, id, dsl -> Rounds.first(() -> tryRetry(dsl, id, by, why, mine), unsettled));
    }

    /** The answer, or null if the job changed while it was looked at. */
    private @Nullable RetryResult tryRetry(
            DSLContext dsl,
            String id,
            @Nullable String by,
            @Nullable String why,
            AtomicReference<@Nullable ManualRetry> mine) {
        Record row = dsl.select(Attempts.CLAIM_FIELDS)
                .select(DbTime.CLOCK.as("clock"))
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .fetchOne();
        if (row == null) {
            return RetryResult.NOT_FOUND;
        }
        Job job = rows.job(row);
        if (isDone(row, job, mine.get(), by, why)) {
            return RetryResult.QUEUED;
        }
        if (!job.status().isFinal()) {
            return RetryResult.NOT_ENDED;
        }
        ManualRetry retry = new ManualRetry(row.get("clock", Instant.class), by, why);
        mine.set(retry);
        return queueAgain(dsl, job, retry) ? RetryResult.QUEUED : null;
    }

    /** Whether this call has written it already, or the same one did before and the job still waits. */
    private static boolean isDone(
            Record row, Job job, @Nullable ManualRetry mine, @Nullable String by, @Nullable String why) {
        ManualRetry last = job.audit().retried();
        if (last == null) {
            return false;
        }
        boolean unclaimed = job.status() == JobStatus.QUEUED
                && row.get(EXECUTION_JOBS.FORGIVEN_ATTEMPTS) == job.state().attemptCount();
        return last.equals(mine) || (unclaimed && last.isOf(by, why));
    }

    private boolean queueAgain(DSLContext dsl, Job job, ManualRetry retry) {
        Job again = job.withOutcome(JobOutcome.NONE)
                .withAudit(job.audit().withCancellation(null).withRetried(retry));
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        values.put(EXECUTION_JOBS.STATUS, JobRows.literal(JobStatus.QUEUED));
        values.put(EXECUTION_JOBS.VERSION, EXECUTION_JOBS.VERSION.plus(1));
        values.put(EXECUTION_JOBS.FORGIVEN_ATTEMPTS, EXECUTION_JOBS.ATTEMPT_COUNT);
        values.put(EXECUTION_JOBS.UPDATED_AT, DbTime.LOCKED);
        JobRows.putNull(values, EXECUTION_JOBS.NEXT_RETRY_AT);
        JobRows.putNull(values, EXECUTION_JOBS.COMPLETED_AT);
        JobRows.putNull(values, EXECUTION_JOBS.PERCENT_COMPLETE);
        JobRows.putNull(values, EXECUTION_JOBS.CURRENT_PHASE);
        if (job.spec().local()) {
            values.put(EXECUTION_JOBS.QUEUE_PRIORITY, job.priority());
            values.put(EXECUTION_JOBS.QUEUE_VISIBLE_AT, DbTime.LOCKED);
        }
        CompareAndSet.unclaimed(values);
        values.putAll(rows.recordAndProjections(again));
        RowLock lock =
                RowLock.waiting(EXECUTION_JOBS.OPERATION_ID.eq(job.id()), EXECUTION_JOBS.VERSION.eq(job.version()));
        return lock.update(dsl, values).execute() == 1;
    }
}
