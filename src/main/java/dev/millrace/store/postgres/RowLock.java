package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import org.jooq.CommonTableExpression;
import org.jooq.Condition;
import org.jooq.Record1;
import org.jooq.ResultQuery;
import org.jooq.impl.DSL;

/**
 * The first half of a fenced write: rows that fulfil a condition, locked before anything about them is computed.
 *
 * <p>Two things depend on it. An UPDATE that waits for a row lock has computed its clock_timestamp() before it waited,
 * so a heartbeat or deadline made of it may be over when it is written; here the lock is held before the UPDATE sees the
 * row. And the condition is checked again on the row as it is when the lock is obtained, so what a concurrent writer
 * has just committed decides. The lock is FOR NO KEY UPDATE, which leaves users' foreign keys to the table alone.
 */
final class RowLock {
    private final CommonTableExpression<Record1<String>> cte;

    private RowLock(ResultQuery<Record1<String>> rows) {
        this.cte = DSL.name("locked").asMaterialized(rows);
    }

    /** Waits for a row that someone else has locked. For conditions that match one row. */
    static RowLock waiting(Condition... conditions) {
        return new RowLock(DSL.select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(conditions)
                .forNoKeyUpdate());
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

    CommonTableExpression<Record1<String>> cte() {
        return cte;
    }

    /** That a row of the table is one of the locked ones. */
    Condition joined() {
        return EXECUTION_JOBS.OPERATION_ID.eq(cte.field(EXECUTION_JOBS.OPERATION_ID));
    }
}
