package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.Job;
import dev.millrace.job.JobOutcome;
import dev.millrace.job.PastAttempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jooq.Field;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/**
 * How a claimed job ends its attempt, success aside: the status that follows, and what is assigned with it. Every ending that says
 * something goes into the job's history together with the attempt's token, by which it can be recognised later; success
 * says nothing but itself, and is written without the record: {@link #success}.
 */
record Ending(
        JobStatus status,
        PastAttempt.Ending how,
        Duration delay,
        boolean forgiven,
        @Nullable String note) {
    /** The ending that was asked for, or {@code Cancelled} where the job would go on although it shall not. */
    static Ending of(Finish finish, Job job) {
        Ending asked = asked(finish);
        boolean goesOn = asked.status == JobStatus.QUEUED;
        return goesOn && job.cancellationRequested()
                ? new Ending(
                        JobStatus.CANCELLED, PastAttempt.Ending.CANCELLED, Duration.ZERO, asked.forgiven, asked.note)
                : asked;
    }

    private static Ending asked(Finish finish) {
        String note = finish.note();
        if (finish instanceof Finish.Fail fail) {
            return new Ending(JobStatus.FAILED, how(fail.reason()), Duration.ZERO, false, note);
        }
        if (finish instanceof Finish.Retry retry) {
            return new Ending(JobStatus.QUEUED, PastAttempt.Ending.RETRIED, retry.delay(), false, note);
        }
        if (finish instanceof Finish.HandBack back) {
            return new Ending(JobStatus.QUEUED, PastAttempt.Ending.HANDED_BACK, back.delay(), true, note);
        }
        return new Ending(JobStatus.CANCELLED, PastAttempt.Ending.CANCELLED, Duration.ZERO, false, note);
    }

    private static PastAttempt.Ending how(Finish.Fail.Reason reason) {
        return switch (reason) {
            case HANDLER -> PastAttempt.Ending.FAILED;
            case TIMEOUT -> PastAttempt.Ending.TIMED_OUT;
            case EXPIRED -> PastAttempt.Ending.EXPIRED;
        };
    }

    /** Whether an attempt of this job that ended like this was ended by that. */
    static boolean explains(PastAttempt past, Finish finish, Job job) {
        Ending asked = asked(finish);
        boolean cancelledInstead = asked.status == JobStatus.QUEUED && job.cancellationRequested();
        return past.ending() == asked.how || (cancelledInstead && past.ending() == PastAttempt.Ending.CANCELLED);
    }

    /** The same ending, decided by the recovery: the history says what was overdue. */
    Ending overdue(ReconcilableJobs.Cause cause) {
        PastAttempt.Ending overdue =
                cause == ReconcilableJobs.Cause.DURATION ? PastAttempt.Ending.TIMED_OUT : PastAttempt.Ending.EXPIRED;
        return new Ending(status, overdue, delay, forgiven, note);
    }

    /** What the job's history will say of it. */
    PastAttempt past(Claim claim, Instant now) {
        Job job = claim.job();
        return new PastAttempt(
                job.state().attemptCount(),
                claim.token(),
                job.state().claimedBy(),
                job.state().claimedAt(),
                now,
                how,
                note);
    }

    /** Everything that this ending assigns, record included. */
    Map<Field<?>, Object> assignments(JobRows rows, Claim claim, Instant now) {
        Map<Field<?>, Object> values = newStatus(status);
        if (status.isFinal()) {
            CompareAndSet.ended(values, claim.job().policies().retention());
        } else {
            queuedAgain(values);
        }
        if (forgiven) {
            values.put(EXECUTION_JOBS.FORGIVEN_ATTEMPTS, EXECUTION_JOBS.FORGIVEN_ATTEMPTS.plus(1));
        }
        values.putAll(rows.recordAndProjections(after(claim, now)));
        return values;
    }

    /** The job with this ending in its history. */
    Job after(Claim claim, Instant now) {
        Job job = claim.job();
        JobOutcome outcome = job.outcome().withPastAttempt(past(claim, now));
        if (how != PastAttempt.Ending.HANDED_BACK && how != PastAttempt.Ending.CANCELLED) {
            outcome = outcome.withErrorMessage(note);
        }
        return job.withOutcome(outcome);
    }

    private void queuedAgain(Map<Field<?>, Object> values) {
        queuedAgain(values, DbTime.plus(DbTime.LOCKED, delay));
        if (!delay.isZero() || !forgiven) {
            values.put(EXECUTION_JOBS.NEXT_RETRY_AT, DbTime.plus(DbTime.LOCKED, delay));
        }
    }

    /** What every job gets that goes on. */
    static void queuedAgain(Map<Field<?>, Object> values, Field<Instant> visibleAt) {
        CompareAndSet.queuedAgain(values, visibleAt);
        JobRows.putNull(values, EXECUTION_JOBS.PERCENT_COMPLETE);
        JobRows.putNull(values, EXECUTION_JOBS.CURRENT_PHASE);
    }

    /** What success assigns: no record, for there is nothing to say. */
    static Map<Field<?>, Object> success(Duration retention) {
        return success(DSL.val(retention, DbTime.DURATION));
    }

    /** The same with the retention of each row. */
    static Map<Field<?>, Object> success(Field<Duration> retention) {
        Map<Field<?>, Object> values = newStatus(JobStatus.SUCCEEDED);
        CompareAndSet.ended(values, retention);
        values.put(EXECUTION_JOBS.PERCENT_COMPLETE, DSL.inline(100.0));
        return values;
    }

    private static Map<Field<?>, Object> newStatus(JobStatus status) {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        values.put(EXECUTION_JOBS.STATUS, JobRows.literal(status));
        values.put(EXECUTION_JOBS.VERSION, EXECUTION_JOBS.VERSION.plus(DSL.inline(1)));
        values.put(EXECUTION_JOBS.UPDATED_AT, DbTime.LOCKED);
        return values;
    }
}
