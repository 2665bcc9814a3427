package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.Checks;
import dev.millrace.job.JobSpec;
import dev.millrace.job.PastAttempt;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.CommonTableExpression;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Overdue attempts. Their age is a condition of the UPDATE as well as of the read before it, so a beat that lands in
 * between wins, and a sweep that was delayed writes nothing.
 */
final class PostgresReconcilableJobs implements ReconcilableJobs {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresReconcilableJobs.class);

    private static final Condition LOCAL = EXECUTION_JOBS.BACKEND.eq(DSL.inline(JobSpec.LOCAL_BACKEND));

    /** The condition of the index of that name, as the planner has to find it in a statement to use the index. */
    private static final Condition RECONCILABLE = EXECUTION_JOBS
            .STATUS
            .in(
                    JobRows.literal(JobStatus.QUEUED),
                    JobRows.literal(JobStatus.PROVISIONING),
                    JobRows.literal(JobStatus.RUNNING))
            .and(DSL.not(JobRows.QUEUED
                    .and(LOCAL)
                    .and(EXECUTION_JOBS.QUEUE_PRIORITY.isNotNull())
                    .and(EXECUTION_JOBS.ATTEMPT_COUNT.eq(DSL.inline(0)))
                    .and(DSL.not(DSL.condition(EXECUTION_JOBS.CANCELLATION_REQUESTED)))));

    /** Of those in that index, what only a {@code BackendReconciler} acts on. */
    private static final Condition FOR_BACKENDS = DSL.not(LOCAL)
            .or(JobRows.QUEUED.and(
                    DSL.condition(EXECUTION_JOBS.CANCELLATION_REQUESTED).or(PostgresRemoteJobs.SHOWS_PROGRESS)));

    private final Database database;
    private final JobRows rows;

    PostgresReconcilableJobs(Database database, JobCodec codec) {
        this.database = database;
        this.rows = new JobRows(codec);
    }

    @Override
    public Instant probe() {
        // No job has an empty id: takes the locks of a beat and needs its privileges, and writes nothing.
        CommonTableExpression<?> beat = DSL.name("beat")
                .as(DSL.update(EXECUTION_JOBS)
                        .set(EXECUTION_JOBS.LAST_HEARTBEAT_AT, DbTime.CLOCK)
                        .where(EXECUTION_JOBS.OPERATION_ID.eq(DSL.inline("")))
                        .returningResult(EXECUTION_JOBS.OPERATION_ID));
        return database.run(
                Operation.PROBE,
                dsl -> dsl.with(beat).select(DbTime.CLOCK).fetchSingle().value1());
    }

    @Override
    public List<Suspect> suspects(String after, int limit) {
        Checks.atLeast("limit", limit, 1);
        Field<Boolean> tooLong = DSL.field(tooLong(DbTime.STATEMENT)).as("too_long");
        return database.run(
                Operation.SUSPECTS,
                dsl -> dsl.select(Attempts.CLAIM_FIELDS)
                        .select(tooLong)
                        .from(EXECUTION_JOBS)
                        .where(HoldSwitch.NOT_HELD)
                        .and(JobRows.CLAIMED)
                        .and(EXECUTION_JOBS.OPERATION_ID.gt(after))
                        .and(silent(DbTime.STATEMENT).or(tooLong(DbTime.STATEMENT)))
                        .orderBy(EXECUTION_JOBS.OPERATION_ID)
                        .limit(DSL.inline(limit))
                        .fetch(this::suspect));
    }

    private Suspect suspect(Record row) {
        Cause cause = Boolean.TRUE.equals(row.get("too_long", Boolean.class)) ? Cause.DURATION : Cause.HEARTBEAT;
        try {
            return Suspect.of(Attempts.claim(rows, row), cause);
        } catch (UnreadableJobException e) {
            LOG.error("An overdue job's record can't be read: {}", e.getMessage(), e);
            Attempt attempt = new Attempt(row.get(EXECUTION_JOBS.OPERATION_ID), row.get(EXECUTION_JOBS.CLAIM_TOKEN));
            return new Suspect(attempt, cause, null);
        }
    }

    @Override
    public List<Candidate> candidates(@Nullable Candidate after, int limit) {
        Checks.atLeast("limit", limit, 1);
        // By both columns: for ids alone the planner would take the primary key, and walk past all that has ended.
        Field<String> status = EXECUTION_JOBS.STATUS.coerce(SQLDataType.CLOB);
        Condition behind = after == null
                ? DSL.noCondition()
                : DSL.row(status, EXECUTION_JOBS.OPERATION_ID).gt(after.status().literal(), after.jobId());
        Field<Boolean> due = DSL.field(PostgresRemoteJobs.due(DbTime.STATEMENT)
                        .and(Pauses.neither(EXECUTION_JOBS.QUEUE, EXECUTION_JOBS.KIND)))
                .as("due");
        Field<Boolean> showsProgress =
                DSL.field(PostgresRemoteJobs.SHOWS_PROGRESS).as("shows_progress");
        return database.run(
                Operation.CANDIDATES,
                dsl -> dsl.select(
                                EXECUTION_JOBS.OPERATION_ID,
                                EXECUTION_JOBS.STATUS,
                                EXECUTION_JOBS.VERSION,
                                EXECUTION_JOBS.BACKEND,
                                EXECUTION_JOBS.CANCELLATION_REQUESTED,
                                due,
                                showsProgress,
                                EXECUTION_JOBS.PRIORITY,
                                DSL.coalesce(EXECUTION_JOBS.NEXT_RETRY_AT, EXECUTION_JOBS.CREATED_AT))
                        .from(EXECUTION_JOBS)
                        .where(HoldSwitch.NOT_HELD)
                        .and(RECONCILABLE)
                        .and(FOR_BACKENDS)
                        .and(behind)
                        .orderBy(status, EXECUTION_JOBS.OPERATION_ID)
                        .limit(DSL.inline(limit))
                        .fetch(row -> new Candidate(
                                row.value1(),
                                row.value2(),
                                row.value3(),
                                row.value4(),
                                row.value5(),
                                row.value6(),
                                row.value7(),
                                row.value8(),
                                row.value9())));
    }

    @Override
    public Expiry expire(Suspect suspect, Finish finish) {
        Condition same = sameAttempt(suspect);
        Condition overdue = overdue(suspect.cause()).and(HoldSwitch.NOT_HELD);
        List<Instant> tried = new ArrayList<>(); // the times of endings, which are nobody else's
        return database.confirm(Operation.EXPIRE, suspect.attempt().jobId(), (dsl, repetition) -> {
            if (repetition.mayHaveHappened() && endedBefore(dsl, suspect, finish, tried)) {
                return Expiry.ENDED;
            }
            Instant now = dsl.select(DbTime.CLOCK).fetchSingle().value1();
            tried.add(now);
            int ended = RowLock.skipping(same, overdue)
                    .update(dsl, assignments(suspect, finish, now))
                    .and(overdue)
                    .execute();
            if (ended == 1) {
                return Expiry.ENDED;
            }
            return dsl.fetchExists(EXECUTION_JOBS, same, overdue) ? Expiry.LOCKED : Expiry.SPARED;
        });
    }

    /** Whether an earlier try, whose answer was lost, has ended the attempt: the job's history has that very entry. */
    private boolean endedBefore(DSLContext dsl, Suspect suspect, Finish finish, List<Instant> tried) {
        Record row = dsl.select(Attempts.CLAIM_FIELDS)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(suspect.attempt().jobId()))
                .fetchOne();
        Claim claim = suspect.claim();
        if (row == null) {
            return false;
        }
        if (claim == null) {
            return Attempts.failedAsUnreadable(row, suspect.attempt());
        }
        Ending ending = Ending.of(finish, claim.job()).overdue(suspect.cause());
        List<PastAttempt> history = rows.job(row).outcome().history();
        return tried.stream().map(now -> ending.past(claim, now)).anyMatch(history::contains);
    }

    private Map<Field<?>, Object> assignments(Suspect suspect, Finish finish, Instant now) {
        Claim claim = suspect.claim();
        return claim == null
                ? Attempts.unreadable()
                : Ending.of(finish, claim.job()).overdue(suspect.cause()).assignments(rows, claim, now);
    }

    @Override
    public boolean isLocked(Suspect suspect) {
        Condition same = EXECUTION_JOBS.OPERATION_ID.eq(suspect.attempt().jobId());
        return database.run(Operation.IS_LOCKED, suspect.attempt().jobId(), dsl -> {
            boolean free = dsl.select(EXECUTION_JOBS.OPERATION_ID)
                            .from(EXECUTION_JOBS)
                            .where(same)
                            .forNoKeyUpdate()
                            .skipLocked()
                            .fetchOne()
                    != null;
            return !free && dsl.fetchExists(EXECUTION_JOBS, same);
        });
    }

    @Override
    public Optional<Duration> shortestHeartbeatTimeout() {
        return database.run(
                Operation.SHORTEST_TIMEOUT,
                dsl -> Optional.ofNullable(dsl.select(DSL.min(EXECUTION_JOBS.HEARTBEAT_TIMEOUT))
                        .from(EXECUTION_JOBS)
                        .where(JobRows.CLAIMED, LOCAL)
                        .fetchSingle()
                        .value1()));
    }

    /** The attempt that was read, as it was read: the record that is written was made from that version. */
    private static Condition sameAttempt(Suspect suspect) {
        Claim claim = suspect.claim();
        return EXECUTION_JOBS
                .OPERATION_ID
                .eq(suspect.attempt().jobId())
                .and(EXECUTION_JOBS.CLAIM_TOKEN.isNotDistinctFrom(
                        suspect.attempt().token()))
                .and(
                        claim == null
                                ? DSL.noCondition()
                                : EXECUTION_JOBS.VERSION.eq(claim.job().version()))
                .and(JobRows.CLAIMED);
    }

    private static Condition overdue(Cause cause) {
        return cause == Cause.DURATION ? tooLong(DbTime.CLOCK) : silent(DbTime.CLOCK);
    }

    /** Of a local job: no sign of life for its heartbeat timeout. */
    static Condition silent(Field<Instant> now) {
        Field<Instant> lastSeen =
                DSL.coalesce(EXECUTION_JOBS.LAST_HEARTBEAT_AT, EXECUTION_JOBS.CLAIMED_AT, EXECUTION_JOBS.UPDATED_AT);
        return LOCAL.and(lastSeen.lt(DbTime.minus(now, EXECUTION_JOBS.HEARTBEAT_TIMEOUT)));
    }

    /** An attempt that has taken longer than its job allows. */
    static Condition tooLong(Field<Instant> now) {
        return EXECUTION_JOBS.CLAIMED_AT.lt(DbTime.minus(now, EXECUTION_JOBS.MAX_DURATION));
    }
}
