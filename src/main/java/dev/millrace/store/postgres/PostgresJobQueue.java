package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.Checks;
import dev.millrace.job.JobSpec;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Assignment;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.store.JobQueue;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record2;
import org.jooq.impl.DSL;

/** The place of jobs in the local queue. It is no part of the job, so none of this changes a version. */
final class PostgresJobQueue implements JobQueue {
    private static final Condition LOCAL = EXECUTION_JOBS.BACKEND.eq(DSL.inline(JobSpec.LOCAL_BACKEND));
    private static final Condition PLACED = EXECUTION_JOBS.QUEUE_PRIORITY.isNotNull();

    /** Now, but for a job that waits for its next attempt no earlier than that. (PostgreSQL's GREATEST ignores nulls.) */
    private static final Field<Instant> NOT_EARLY = DSL.greatest(DbTime.LOCKED, EXECUTION_JOBS.NEXT_RETRY_AT);

    private final Database database;
    private final PostgresWorkSource work;
    private final AssignedClaims assigned;

    PostgresJobQueue(Database database, PostgresWorkSource work, JobCodec codec) {
        this.database = database;
        this.work = work;
        this.assigned = new AssignedClaims(database, new JobRows(codec));
    }

    @Override
    public boolean enqueue(String id) {
        Condition same = idIs(id);
        Condition unplaced = JobRows.QUEUED.and(LOCAL).and(EXECUTION_JOBS.QUEUE_PRIORITY.isNull());
        return database.run(
                Operation.ENQUEUE,
                id,
                dsl -> update(dsl, RowLock.waiting(same, unplaced), place(NOT_EARLY)) == 1
                        || dsl.fetchExists(EXECUTION_JOBS, same, JobRows.QUEUED, PLACED));
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        return work.claim(request);
    }

    @Override
    public Assignment claim(AssignedClaim request) {
        return assigned.claim(request);
    }

    @Override
    public boolean requeue(String id, Duration delay) {
        Map<Field<?>, Object> values = place(DbTime.plus(DbTime.LOCKED, Checks.delay("delay", delay)));
        RowLock lock = RowLock.waiting(idIs(id), JobRows.QUEUED, LOCAL);
        return database.run(Operation.REQUEUE, id, dsl -> update(dsl, lock, values) == 1);
    }

    @Override
    public boolean requeue(Attempt attempt, Duration delay) {
        return work.finish(attempt, new Finish.HandBack(delay, null));
    }

    @Override
    public boolean remove(String id) {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        JobRows.putNull(values, EXECUTION_JOBS.QUEUE_PRIORITY);
        JobRows.putNull(values, EXECUTION_JOBS.QUEUE_VISIBLE_AT);
        // Repair gives a place to rows that nobody has touched for a while; the removal is to last for that while.
        values.put(EXECUTION_JOBS.UPDATED_AT, DbTime.LOCKED);
        RowLock lock = RowLock.waiting(idIs(id), JobRows.QUEUED, PLACED);
        return database.confirm(
                Operation.REMOVE,
                id,
                (dsl, repetition) -> update(dsl, lock, values) == 1
                        || (repetition.mayHaveHappened() && removedSince(dsl, id, repetition)));
    }

    /** Whether the place was taken while this call was under way: by an earlier try, whose answer was lost. */
    private static boolean removedSince(DSLContext dsl, String id, Repetition repetition) {
        Record2<Instant, Instant> row = dsl.select(EXECUTION_JOBS.UPDATED_AT, DbTime.CLOCK)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id), JobRows.QUEUED, EXECUTION_JOBS.QUEUE_PRIORITY.isNull())
                .fetchOne();
        return row != null && !row.value1().isBefore(repetition.notBefore(row.value2()));
    }

    @Override
    public long depth(String runtimeProfile, String queue) {
        Checks.name("runtimeProfile", runtimeProfile);
        Checks.name("queue", queue);
        return database.run(Operation.DEPTH, queue, dsl ->
                (long) dsl.fetchCount(EXECUTION_JOBS, due(DSL.val(runtimeProfile), DSL.val(queue))));
    }

    /** What waits in a queue and is due. Names nothing that is not in the index of the queue. */
    static Condition due(Field<String> runtimeProfile, Field<String> queue) {
        return JobRows.QUEUED
                .and(PLACED)
                .and(EXECUTION_JOBS.RUNTIME_PROFILE.eq(runtimeProfile))
                .and(EXECUTION_JOBS.QUEUE.eq(queue))
                .and(EXECUTION_JOBS.QUEUE_VISIBLE_AT.le(DbTime.STATEMENT));
    }

    @Override
    public int repair(Duration untouchedFor, int limit) {
        Checks.delay("untouchedFor", untouchedFor);
        Checks.atLeast("limit", limit, 1);
        Condition forgotten = HoldSwitch.NOT_HELD
                .and(JobRows.QUEUED)
                .and(LOCAL)
                .and(EXECUTION_JOBS.QUEUE_PRIORITY.isNull())
                .and(EXECUTION_JOBS.CANCELLATION_REQUESTED.isFalse())
                .and(EXECUTION_JOBS.UPDATED_AT.lt(
                        DbTime.minus(DbTime.STATEMENT, DSL.val(untouchedFor, DbTime.DURATION))));
        return database.run(Operation.REPAIR, dsl -> update(dsl, RowLock.skipping(limit, forgotten), place(NOT_EARLY)));
    }

    private static Map<Field<?>, Object> place(Field<Instant> visibleAt) {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        values.put(EXECUTION_JOBS.QUEUE_PRIORITY, EXECUTION_JOBS.PRIORITY);
        values.put(EXECUTION_JOBS.QUEUE_VISIBLE_AT, visibleAt);
        return values;
    }

    private static Condition idIs(String id) {
        return EXECUTION_JOBS.OPERATION_ID.eq(Checks.id("id", id));
    }

    private static int update(DSLContext dsl, RowLock lock, Map<Field<?>, Object> values) {
        return lock.update(dsl, values).execute();
    }
}
