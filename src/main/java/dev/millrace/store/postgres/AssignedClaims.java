package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.PastAttempt;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.AssignedClaim.Takeover;
import dev.millrace.store.Assignment;
import dev.millrace.store.Assignment.Reason;
import dev.millrace.store.Claim;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;

/**
 * Claims of one job by its id. A queued one is taken by one statement, as any claim. Where that finds nothing to take, the
 * row is read to say why, or to take the job from a worker that is silent: its attempt goes into the record, so the
 * update is fenced on the version and token that were read, and its silence is checked again on the locked row, so that a
 * heartbeat that came in between wins.
 */
final class AssignedClaims {
    private static final Condition LOCAL = EXECUTION_JOBS.BACKEND.eq(DSL.inline(JobSpec.LOCAL_BACKEND));

    /** When a queued job may be claimed: as its place says, or else not before its next attempt. Null: at once. */
    private static final Field<Instant> DUE_AT =
            DSL.coalesce(EXECUTION_JOBS.QUEUE_VISIBLE_AT, EXECUTION_JOBS.NEXT_RETRY_AT);

    private static final Field<Boolean> IS_DUE = DSL.field(due()).as("is_due");
    private static final Field<Boolean> IS_SILENT =
            DSL.field(PostgresReconcilableJobs.silent(DbTime.CLOCK)).as("is_silent");
    private static final Field<Boolean> IS_OVERDUE =
            DSL.field(PostgresReconcilableJobs.tooLong(DbTime.CLOCK)).as("is_overdue");

    private static final Field<Boolean> ON_HOLD =
            DSL.field(DSL.not(HoldSwitch.NOT_HELD)).as("on_hold");

    private static final Condition NOT_PAUSED = Pauses.neither(EXECUTION_JOBS.QUEUE, EXECUTION_JOBS.KIND);
    private static final Field<Boolean> PAUSED = DSL.field(DSL.not(NOT_PAUSED)).as("paused");

    private final Database database;
    private final JobRows rows;

    AssignedClaims(Database database, JobRows rows) {
        this.database = database;
        this.rows = rows;
    }

    Assignment claim(AssignedClaim request) {
        String unsettled =
                "job \"" + request.jobId() + "\" was changed by others while it was to be claimed; try again.";
        return database.run(
                Operation.CLAIM_ASSIGNED,
                request.jobId(),
                dsl -> Rounds.first(() -> tryClaim(dsl, request), unsettled));
    }

    /** The answer, or null if the job changed while it was looked at. */
    private @Nullable Assignment tryClaim(DSLContext dsl, AssignedClaim request) {
        RowLock lock = RowLock.waiting(idIs(request), JobRows.QUEUED, LOCAL, due(), HoldSwitch.NOT_HELD, NOT_PAUSED);
        Result<? extends Record> claimed = lock.update(dsl, claimed(request))
                .returningResult(Attempts.CLAIM_FIELDS)
                .fetch();
        if (!claimed.isEmpty()) {
            List<Claim> readable = Attempts.readable(dsl, rows, claimed);
            return readable.isEmpty()
                    ? refused(Reason.UNREADABLE, request, "its record can't be read by this release; it has failed")
                    : new Assignment.Taken(readable.get(0));
        }
        Record row = dsl.select(Attempts.CLAIM_FIELDS)
                .select(EXECUTION_JOBS.BACKEND, DUE_AT.as("due_at"), DbTime.CLOCK.as("clock"))
                .select(IS_DUE, IS_SILENT, IS_OVERDUE, ON_HOLD, PAUSED)
                .from(EXECUTION_JOBS)
                .where(idIs(request))
                .fetchOne();
        if (row == null) {
            return refused(Reason.NOT_FOUND, request, "there is no such job");
        }
        return row.get(EXECUTION_JOBS.STATUS).isClaimed() ? claimed(dsl, request, row) : notClaimed(request, row);
    }

    private @Nullable Assignment notClaimed(AssignedClaim request, Record row) {
        JobStatus status = row.get(EXECUTION_JOBS.STATUS);
        if (status.isFinal()) {
            return refused(Reason.ENDED, request, "it has ended: " + status.literal());
        }
        if (!row.get(EXECUTION_JOBS.BACKEND).equals(JobSpec.LOCAL_BACKEND)) {
            return refused(
                    Reason.REMOTE,
                    request,
                    "it belongs to the backend \"" + row.get(EXECUTION_JOBS.BACKEND) + "\", which starts it");
        }
        if (!Boolean.TRUE.equals(row.get(IS_DUE))) {
            return refused(Reason.NOT_DUE, request, "it is due at " + row.get("due_at", Instant.class));
        }
        return stopped(request, row);
    }

    /** What stops claims at this moment, if anything does. */
    private static @Nullable Assignment stopped(AssignedClaim request, Record row) {
        if (Boolean.TRUE.equals(row.get(ON_HOLD))) {
            return refused(Reason.ON_HOLD, request, "claims and recovery are stopped until Controls.release");
        }
        return Boolean.TRUE.equals(row.get(PAUSED))
                ? refused(Reason.PAUSED, request, "its queue or kind is paused until Controls.resume")
                : null;
    }

    private @Nullable Assignment claimed(DSLContext dsl, AssignedClaim request, Record row) {
        Claim held;
        try {
            held = Attempts.claim(rows, row);
        } catch (UnreadableJobException e) {
            return refused(
                    Reason.UNREADABLE, request, "a worker holds it, and its record can't be read by this release");
        }
        String worker = "worker \"" + held.job().state().claimedBy() + "\"";
        if (token(request, held.job().state().attemptCount()).equals(held.token())
                && held.job().status() == JobStatus.PROVISIONING) {
            return foundAgain(dsl, held);
        }
        if (Boolean.TRUE.equals(row.get(IS_OVERDUE))) {
            return refused(Reason.OVERDUE, request, "its attempt took too long, and the recovery ends it");
        }
        if (!Boolean.TRUE.equals(row.get(IS_SILENT))) {
            return refused(Reason.HELD, request, worker + " holds it");
        }
        if (request.takeover() == Takeover.NEVER) {
            return refused(Reason.SILENT, request, worker + " holds it, silent since " + lastSeen(held.job()));
        }
        if (held.job().cancellationRequested()) {
            return refused(Reason.CANCELLATION_REQUESTED, request, "it is to be cancelled, and the recovery ends it");
        }
        if (!held.job().policies().retry().allowsAnother(held.countedAttempts())) {
            return refused(
                    Reason.NO_ATTEMPTS_LEFT,
                    request,
                    "it has had all of its " + held.countedAttempts() + " attempts, and the recovery ends it");
        }
        Assignment stopped = stopped(request, row);
        return stopped == null ? takeOver(dsl, request, held, row.get("clock", Instant.class)) : stopped;
    }

    /**
     * Claimed by this request, whose answer was lost. A claim is as young as its answer: without a sign of life this one could be
     * taken for dead at once.
     */
    private @Nullable Assignment foundAgain(DSLContext dsl, Claim held) {
        Record found = RowLock.waiting(Attempts.owned(held.attempt()))
                .update(dsl, Attempts.signOfLife())
                .returningResult(Attempts.CLAIM_FIELDS)
                .fetchOne();
        return found == null ? null : new Assignment.Taken(Attempts.claim(rows, found));
    }

    private @Nullable Assignment takeOver(DSLContext dsl, AssignedClaim request, Claim held, Instant now) {
        Condition same = idIs(request)
                .and(EXECUTION_JOBS.CLAIM_TOKEN.isNotDistinctFrom(held.token()))
                .and(EXECUTION_JOBS.VERSION.eq(held.job().version()))
                .and(JobRows.CLAIMED);
        Condition silent = PostgresReconcilableJobs.silent(DbTime.CLOCK)
                .and(HoldSwitch.NOT_HELD)
                .and(NOT_PAUSED);
        Ending expired = new Ending(
                JobStatus.QUEUED,
                PastAttempt.Ending.EXPIRED,
                Duration.ZERO,
                false,
                "The heartbeat expired, the last one was at " + lastSeen(held.job()) + "; worker \"" + request.worker()
                        + "\" took the job over.");
        Map<Field<?>, Object> values = claimed(request);
        values.putAll(rows.recordAndProjections(expired.after(held, now)));
        RowLock lock = RowLock.skipping(same, silent);
        Record taken = lock.update(dsl, values)
                .and(silent)
                .returningResult(Attempts.CLAIM_FIELDS)
                .fetchOne();
        if (taken != null) {
            return new Assignment.Taken(Attempts.claim(rows, taken));
        }
        return dsl.fetchExists(EXECUTION_JOBS, same, silent)
                ? refused(Reason.LOCKED, request, "its worker is silent, and another transaction has locked its row")
                : null;
    }

    /** What a claim assigns. A job without a place in the queue gets one, to be claimable when it is given back. */
    private static Map<Field<?>, Object> claimed(AssignedClaim request) {
        Map<Field<?>, Object> values = new LinkedHashMap<>(ClaimShape.assignments(
                DSL.val(request.worker(), EXECUTION_JOBS.CLAIMED_BY), nextToken(request), DbTime.LOCKED));
        values.put(EXECUTION_JOBS.QUEUE_PRIORITY, DSL.coalesce(EXECUTION_JOBS.QUEUE_PRIORITY, EXECUTION_JOBS.PRIORITY));
        values.put(EXECUTION_JOBS.QUEUE_VISIBLE_AT, DSL.coalesce(EXECUTION_JOBS.QUEUE_VISIBLE_AT, DbTime.LOCKED));
        return values;
    }

    /**
     * The token of a claim by this request that is the job's attempt of that number, which takes the place of the last 32
     * bits. A request may be used again, after its attempt has ended or was lost; the number has grown by then.
     */
    static UUID token(AssignedClaim request, int attempt) {
        UUID random = request.token();
        return new UUID(
                random.getMostSignificantBits(), (random.getLeastSignificantBits() & 0xFFFF_FFFF_0000_0000L) | attempt);
    }

    /** The same of the next attempt, whose number is known only in the row. */
    private static Field<UUID> nextToken(AssignedClaim request) {
        String random = request.token().toString();
        Field<String> attempt = DSL.function(
                DSL.name("pg_catalog", "to_hex"), SQLDataType.CLOB, EXECUTION_JOBS.ATTEMPT_COUNT.plus(DSL.inline(1)));
        Field<String> eightDigits =
                DSL.function(DSL.name("pg_catalog", "lpad"), SQLDataType.CLOB, attempt, DSL.inline(8), DSL.inline("0"));
        return DSL.val(random.substring(0, random.length() - 8))
                .concat(eightDigits)
                .cast(SQLDataType.UUID);
    }

    private static Condition due() {
        return DUE_AT.isNull().or(DUE_AT.le(DbTime.CLOCK));
    }

    private static Condition idIs(AssignedClaim request) {
        return EXECUTION_JOBS.OPERATION_ID.eq(request.jobId());
    }

    private static @Nullable Instant lastSeen(Job job) {
        Instant beat = job.state().lastHeartbeatAt();
        return beat == null ? job.state().claimedAt() : beat;
    }

    private static Assignment refused(Reason reason, AssignedClaim request, String found) {
        return new Assignment.Refused(reason, "Job \"" + request.jobId() + "\" can't be claimed: " + found + ".");
    }
}
