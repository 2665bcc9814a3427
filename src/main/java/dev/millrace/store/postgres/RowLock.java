package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static dev.millrace.jooq.Tables.LEASES;

import dev.millrace.jooq.tables.records.ExecutionJobsRecord;
import dev.millrace.store.Lease;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jooq.CommonTableExpression;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record1;
import org.jooq.Record2;
import org.jooq.ResultQuery;
import org.jooq.UpdateConditionStep;
import org.jooq.impl.DSL;

/**
 * The first half of a fenced write: rows that fulfil a condition, locked before anything about them is computed.
 *
 * <p>Two things depend on it. An UPDATE that waits for a row lock has computed its clock_timestamp() before it waited,
 * so a heartbeat or deadline made of it may be over when it is written; here the lock is held before the UPDATE sees the
 * row, and its times are read after that, once: {@link DbTime#LOCKED}. And the condition is checked again on the row as it is when the lock is obtained, so what a concurrent writer
 * has just committed decides. The lock is FOR NO KEY UPDATE, which leaves users' foreign keys to the table alone.
 */
final class RowLock {
    private final List<CommonTableExpression<?>> parts = new ArrayList<>();
    private final CommonTableExpression<Record2<String, Instant>> locked;

    /** What must be true of the time at which the rows are locked. */
    private final Condition inTime;

    private RowLock(ResultQuery<Record1<String>> query) {
        this(List.of(), query, DSL.noCondition());
    }

    private RowLock(List<CommonTableExpression<?>> before, ResultQuery<Record1<String>> query, Condition inTime) {
        CommonTableExpression<Record1<String>> rows = DSL.name("rows_to_lock").asMaterialized(query);
        this.inTime = inTime;
        this.locked = DSL.name("locked")
                .asMaterialized(DSL.select(rows.field(EXECUTION_JOBS.OPERATION_ID), DbTime.CLOCK.as("now"))
                        .from(rows));
        parts.addAll(before);
        parts.add(rows);
        parts.add(locked);
    }

    /** Waits for a row that someone else has locked. For conditions that match one row. */
    static RowLock waiting(Condition... conditions) {
        return new RowLock(locking(conditions));
    }

    /**
     * The same under a lease: its row is locked first, so that nobody can take it over until the statement has ended, and
     * whether it has expired is seen once both rows are locked, at the very time that is written. So a lease that ran out
     * while either lock was waited for is refused.
     *
     * <p>Whoever locks both, locks the lease first; nothing locks a lease after a job, so these can't deadlock.
     */
    static RowLock waitingUnder(Lease lease, Condition... conditions) {
        CommonTableExpression<Record1<Instant>> held = PostgresLeaseStore.locked(lease);
        Field<Instant> expiresAt =
                DSL.field(DSL.select(held.field(LEASES.EXPIRES_AT)).from(held));
        ResultQuery<Record1<String>> query = DSL.select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(conditions)
                .and(expiresAt.isNotNull()) // there is one, and it was locked before the job is
                .forNoKeyUpdate();
        return new RowLock(List.of(held), query, expiresAt.gt(DbTime.LOCKED));
    }

    /** The id of a row that fulfils a condition, which stays so until the transaction ends; for writes to other tables. */
    static CommonTableExpression<Record1<String>> held(Condition... conditions) {
        return DSL.name("held_job").asMaterialized(locking(conditions));
    }

    private static ResultQuery<Record1<String>> locking(Condition... conditions) {
        return DSL.select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(conditions)
                .forNoKeyUpdate();
    }

    /** Leaves out rows that someone else has locked, and locks the others in the order of their ids. */
    static RowLock skipping(Condition... conditions) {
        return new RowLock(DSL.select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(conditions)
                .orderBy(EXECUTION_JOBS.OPERATION_ID)
                .forNoKeyUpdate()
                .skipLocked());
    }

    /**
     * The same for {@code limit} rows at most, in any order: nobody waits, so none is needed, and for one the planner
     * would walk through the whole primary key.
     */
    static RowLock skipping(int limit, Condition... conditions) {
        return new RowLock(DSL.select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(conditions)
                .limit(DSL.inline(limit))
                .forNoKeyUpdate()
                .skipLocked());
    }

    /** The second half: an update of the locked rows, to be run, or to be asked for what it returns. */
    UpdateConditionStep<ExecutionJobsRecord> update(DSLContext dsl, Map<Field<?>, Object> values) {
        return dsl.with(parts)
                .update(EXECUTION_JOBS)
                .set(values)
                .from(locked)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(locked.field(EXECUTION_JOBS.OPERATION_ID)))
                .and(inTime);
    }
}
