package dev.millrace.testkit;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.types.JobStatus;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.impl.DSL;

/**
 * Finds which job is next: in the order of claims, over all queues and profiles that are looked at. In one queue that is
 * the order in which workers get them; between queues workers take turns, and a test wants one order. Rows that others have
 * locked are passed over, as by a claim.
 */
final class DueJobs {
    private static final Field<Instant> NOW =
            DSL.function(DSL.name("pg_catalog", "statement_timestamp"), EXECUTION_JOBS.QUEUE_VISIBLE_AT.getDataType());

    /** A job that can be claimed. */
    record Due(String id, String kind) {}

    private DueJobs() {}

    /**
     * @param kinds only jobs of these kinds
     * @param except not these jobs
     */
    static Optional<Due> next(DSLContext dsl, Selection selection, Set<String> kinds, Collection<String> except) {
        return next(dsl, selection.condition().and(EXECUTION_JOBS.KIND.in(kinds)), except);
    }

    static Optional<Due> nextOfAnyKind(DSLContext dsl, Selection selection, Collection<String> except) {
        return next(dsl, selection.condition(), except);
    }

    private static Optional<Due> next(DSLContext dsl, Condition selected, Collection<String> except) {
        return dsl.select(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.KIND)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.STATUS.eq(JobStatus.QUEUED))
                .and(EXECUTION_JOBS.QUEUE_PRIORITY.isNotNull())
                .and(EXECUTION_JOBS.QUEUE_VISIBLE_AT.le(NOW))
                .and(selected)
                .and(Selection.isNone(EXECUTION_JOBS.OPERATION_ID, except))
                .orderBy(EXECUTION_JOBS.QUEUE_PRIORITY, EXECUTION_JOBS.QUEUE_VISIBLE_AT, EXECUTION_JOBS.OPERATION_ID)
                .limit(DSL.inline(1))
                .forNoKeyUpdate()
                .skipLocked()
                .fetchOptional(row -> new Due(row.value1(), row.value2()));
    }
}
