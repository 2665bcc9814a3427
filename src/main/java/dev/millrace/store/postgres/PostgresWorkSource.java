package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.Job;
import dev.millrace.job.Progress;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Completion;
import dev.millrace.store.Finish;
import dev.millrace.store.Notes;
import dev.millrace.store.Pulse;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.store.WorkSource;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims, and the writes of attempts. Why no stale write can pass: each is fenced on the attempt's token and a live
 * status, both checked on the row under its lock. A token is drawn for one claim; what ends the attempt clears it or
 * makes the status final, and the next claim sets another. So a worker that was stopped, superseded and continued, or
 * that holds the job again by a later claim, finds its old token nowhere.
 */
final class PostgresWorkSource implements WorkSource {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresWorkSource.class);

    static final Shape START = new Shape(
            List.of(EXECUTION_JOBS.CANCELLATION_REQUESTED),
            dsl -> RowLock.waiting(Attempts.OWNED)
                    .update(dsl, started())
                    .returningResult(EXECUTION_JOBS.CANCELLATION_REQUESTED));

    private static final Param<Long> CLAIMED = DSL.param("claimed", EXECUTION_JOBS.VERSION.getDataType());
    private static final Param<Duration> RETENTION = DSL.param("retention", DbTime.DURATION);
    static final Shape SUCCEED = new Shape(
            List.of(EXECUTION_JOBS.OPERATION_ID),
            dsl -> RowLock.waiting(Attempts.OWNED, unchangedSince(CLAIMED))
                    .update(dsl, Ending.success(RETENTION))
                    .returningResult(EXECUTION_JOBS.OPERATION_ID));

    private final Database database;
    private final JobRows rows;
    private final ClaimStatement claims;
    private final Heartbeat heartbeat;
    private final BulkFinish bulk;

    PostgresWorkSource(Database database, JobCodec codec) {
        this.database = database;
        this.rows = new JobRows(codec);
        this.claims = new ClaimStatement(database, rows);
        this.heartbeat = new Heartbeat(database);
        this.bulk = new BulkFinish(database, rows, this);
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        return claims.claim(request);
    }

    @Override
    public List<Claim> recover(Collection<UUID> tokens) {
        Field<UUID[]> wanted = DSL.val(tokens.toArray(UUID[]::new), SQLDataType.UUID.array());
        return database.run(
                Operation.RECOVER,
                dsl -> Attempts.readable(
                        dsl,
                        rows,
                        dsl.select(Attempts.CLAIM_FIELDS)
                                .from(EXECUTION_JOBS)
                                .where(EXECUTION_JOBS.STATUS.eq(JobRows.literal(JobStatus.PROVISIONING)))
                                .and(SentArray.contains(wanted, EXECUTION_JOBS.CLAIM_TOKEN))
                                .orderBy(EXECUTION_JOBS.OPERATION_ID)
                                .fetch()));
    }

    @Override
    public Map<Attempt, Pulse> beat(Collection<Attempt> attempts) {
        return heartbeat.beat(attempts);
    }

    @Override
    public Pulse start(Attempt attempt) {
        return database.run(Operation.START, attempt.jobId(), dsl -> pulse(START.fetch(dsl, Attempts.bound(attempt))));
    }

    @Override
    public Map<Attempt, Pulse> startAll(Collection<Attempt> attempts) {
        return heartbeat.start(attempts);
    }

    /** What is assigned to a job whose handler runs. */
    static Map<Field<?>, Object> started() {
        Map<Field<?>, Object> values = Attempts.signOfLife();
        // It may be so already: no second change of status.
        values.put(
                EXECUTION_JOBS.VERSION,
                DSL.when(
                                EXECUTION_JOBS.STATUS.eq(JobRows.literal(JobStatus.PROVISIONING)),
                                EXECUTION_JOBS.VERSION.plus(DSL.inline(1)))
                        .otherwise(EXECUTION_JOBS.VERSION));
        values.put(EXECUTION_JOBS.STATUS, JobRows.literal(JobStatus.RUNNING));
        // A handler that runs already may have said what it does.
        values.put(
                EXECUTION_JOBS.CURRENT_PHASE,
                DSL.coalesce(
                        DSL.nullif(EXECUTION_JOBS.CURRENT_PHASE, DSL.inline(ClaimShape.PHASE)), DSL.inline("Running")));
        return values;
    }

    @Override
    public Pulse progress(Attempt attempt, @Nullable Double percent, @Nullable String phase) {
        Progress progress = new Progress(percent, phase);
        Map<Field<?>, Object> values = started();
        if (progress.percent() != null) {
            values.put(EXECUTION_JOBS.PERCENT_COMPLETE, progress.percent());
        }
        if (progress.phase() != null) {
            values.put(EXECUTION_JOBS.CURRENT_PHASE, progress.phase());
        }
        return database.run(
                Operation.PROGRESS,
                attempt.jobId(),
                dsl -> pulse(RowLock.waiting(Attempts.owned(attempt))
                        .update(dsl, values)
                        .returningResult(EXECUTION_JOBS.CANCELLATION_REQUESTED)
                        .fetch()));
    }

    /** The answer to a write of one attempt that carries no record, and so needs no version. */
    private static Pulse pulse(Result<? extends Record> written) {
        if (written.isEmpty()) {
            return Pulse.LOST;
        }
        return written.get(0).get(EXECUTION_JOBS.CANCELLATION_REQUESTED) ? Pulse.CANCELLATION_REQUESTED : Pulse.HELD;
    }

    @Override
    public boolean finish(Completion completion) {
        Claim claim = completion.claim();
        return database.confirm(Operation.FINISH, claim.job().id(), (dsl, repetition) -> {
            if (saysNothing(completion) && succeedAsClaimed(dsl, claim)) {
                return true;
            }
            return finishAsItIsNow(dsl, claim.attempt(), completion.finish(), completion.notes(), repetition);
        });
    }

    /** A success that leaves the job's record as it is. */
    static boolean saysNothing(Completion completion) {
        return completion.finish() instanceof Finish.Succeed
                && completion.notes().isEmpty();
    }

    @Override
    public Set<Attempt> finishAll(Collection<Completion> completions) {
        return bulk.finish(completions, true);
    }

    @Override
    public Set<Attempt> finishUnlocked(Collection<Completion> completions) {
        return bulk.finish(completions, false);
    }

    /** The same by the attempt alone. */
    boolean finish(Attempt attempt, Finish finish) {
        return database.confirm(
                Operation.FINISH,
                attempt.jobId(),
                (dsl, repetition) -> finishAsItIsNow(dsl, attempt, finish, Notes.NONE, repetition));
    }

    /** Nobody has changed the job since it was claimed in this version; that it was started is another version. */
    static Condition unchangedSince(Field<Long> claimed) {
        return EXECUTION_JOBS.VERSION.eq(
                DSL.when(EXECUTION_JOBS.STATUS.eq(JobRows.literal(JobStatus.RUNNING)), claimed.plus(DSL.inline(1)))
                        .otherwise(claimed));
    }

    /** The short way to success: one statement, if nobody but this attempt has changed the job since the claim. */
    private static boolean succeedAsClaimed(DSLContext dsl, Claim claim) {
        Binds binds = Attempts.bound(claim.attempt())
                .with(CLAIMED, claim.job().version())
                .with(RETENTION, claim.job().policies().retention());
        return SUCCEED.fetch(dsl, binds).size() == 1;
    }

    /** Rereads, merges and repeats until the record's version is the one that was read, or the attempt is not ours. */
    boolean finishAsItIsNow(DSLContext dsl, Attempt attempt, Finish finish, Notes notes, Repetition repetition) {
        return Rounds.first(
                () -> {
                    Record row = dsl.select(Attempts.CLAIM_FIELDS)
                            .select(DbTime.CLOCK.as("clock"))
                            .from(EXECUTION_JOBS)
                            .where(Attempts.owned(attempt))
                            .fetchOne();
                    if (row == null) {
                        return finishedBefore(dsl, attempt, finish, repetition);
                    }
                    RowLock lock = RowLock.waiting(
                            Attempts.owned(attempt), EXECUTION_JOBS.VERSION.eq(row.get(EXECUTION_JOBS.VERSION)));
                    return lock.update(dsl, assignments(row, finish, notes)).execute() == 1 ? true : null;
                },
                "job \"" + attempt.jobId() + "\" was changed by others while its attempt was to be ended; try again.");
    }

    /** What the ending of an attempt assigns to its row, which holds the clock as well. */
    Map<Field<?>, Object> assignments(Record row, Finish finish, Notes notes) {
        Claim current;
        try {
            current = Attempts.claim(rows, row);
        } catch (UnreadableJobException e) {
            LOG.error("A job fails at the end of its attempt: {}", e.getMessage(), e);
            return Attempts.unreadable();
        }
        if (finish instanceof Finish.Succeed) {
            return success(current.job(), notes);
        }
        Claim noted = notes.isEmpty() ? current : current.withJob(noted(current.job(), notes));
        return Ending.of(finish, current.job()).assignments(rows, noted, row.get("clock", Instant.class));
    }

    private Map<Field<?>, Object> success(Job job, Notes notes) {
        Map<Field<?>, Object> values = Ending.success(job.policies().retention());
        if (!notes.isEmpty()) {
            values.putAll(rows.recordAndProjections(noted(job, notes)));
        }
        return values;
    }

    /** The job with what an attempt adds to it. */
    static Job noted(Job job, Notes notes) {
        return job.withOutcome(job.outcome().withNotes(notes.warnings(), notes.artifacts()));
    }

    /** Whether an earlier call, whose answer was lost, has already written this ending. */
    private boolean finishedBefore(DSLContext dsl, Attempt attempt, Finish finish, Repetition repetition) {
        Record row = dsl.select(Attempts.CLAIM_FIELDS)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(attempt.jobId()))
                .fetchOne();
        return row != null && showsEnd(row, attempt, finish, repetition);
    }

    /** Whether a row, which is no longer the attempt's, says that the attempt ended like this. */
    boolean showsEnd(Record row, Attempt attempt, Finish finish, Repetition repetition) {
        if (finish instanceof Finish.Succeed) {
            return row.get(EXECUTION_JOBS.STATUS) == JobStatus.SUCCEEDED
                    && Attempts.isTokenOf(attempt, row.get(EXECUTION_JOBS.CLAIM_TOKEN));
        }
        try {
            Job job = rows.job(row);
            return job.outcome().history().stream()
                    .anyMatch(past -> Attempts.isTokenOf(attempt, past.token()) && Ending.explains(past, finish, job));
        } catch (UnreadableJobException e) {
            if (repetition.mayHaveHappened() && Attempts.failedAsUnreadable(row, attempt)) {
                return true;
            }
            LOG.warn("It can't be seen whether an attempt ended as it was to: {}", e.getMessage());
            return false;
        }
    }
}
