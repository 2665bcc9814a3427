package dev.millrace.testkit;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_STREAMS;
import static dev.millrace.jooq.Tables.RESULT_PACKAGES;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jooq.CommonTableExpression;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record1;
import org.jooq.Table;
import org.jooq.TableField;
import org.jooq.impl.DSL;

/**
 * Lets time pass for jobs. The database's clock can't be moved, so their times are: all that is written of a job, of its
 * log's retention and of its result's was written so much earlier.
 */
final class Aging {
    private static final List<TableField<?, Instant>> TIMES_OF_JOB = List.of(
            EXECUTION_JOBS.CREATED_AT,
            EXECUTION_JOBS.CLAIMED_AT,
            EXECUTION_JOBS.LAST_HEARTBEAT_AT,
            EXECUTION_JOBS.NEXT_RETRY_AT,
            EXECUTION_JOBS.COMPLETED_AT,
            EXECUTION_JOBS.UPDATED_AT,
            EXECUTION_JOBS.QUEUE_VISIBLE_AT,
            EXECUTION_JOBS.EXPIRES_AT);

    private final DSLContext dsl;
    private final Field<Duration> by;

    Aging(DSLContext dsl, Duration by) {
        this.dsl = dsl;
        this.by = DSL.val(by, EXECUTION_JOBS.MAX_DURATION.getDataType());
    }

    /** {@return whether there is such a job} */
    boolean job(String id) {
        if (older(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.OPERATION_ID.eq(id), TIMES_OF_JOB) == 0) {
            return false;
        }
        logsAndResults(EXECUTION_JOB_LOG_STREAMS.OPERATION_ID.eq(id), RESULT_PACKAGES.JOB_ID.eq(id));
        return true;
    }

    void jobs(Selection selection) {
        older(EXECUTION_JOBS.OPERATION_ID, selection.condition(), TIMES_OF_JOB);
        logsAndResults(
                belongsTo(selection, EXECUTION_JOB_LOG_STREAMS.OPERATION_ID),
                belongsTo(selection, RESULT_PACKAGES.JOB_ID));
    }

    /** Logs and results outlive their jobs; where queues or profiles are chosen only those whose job says so count. */
    private static Condition belongsTo(Selection selection, Field<String> id) {
        Condition since = Selection.isNone(id, selection.before());
        return selection.queues().isEmpty() && selection.profiles().isEmpty()
                ? since
                : since.and(id.in(DSL.select(EXECUTION_JOBS.OPERATION_ID)
                        .from(EXECUTION_JOBS)
                        .where(selection.ofQueuesAndProfiles())));
    }

    private void logsAndResults(Condition logs, Condition results) {
        older(EXECUTION_JOB_LOG_STREAMS.OPERATION_ID, logs, List.of(EXECUTION_JOB_LOG_STREAMS.EXPIRES_AT));
        older(RESULT_PACKAGES.JOB_ID, results, List.of(RESULT_PACKAGES.EXPIRES_AT));
    }

    /** Rows are locked in the order of their ids, as by all statements of the library. */
    private int older(TableField<?, String> id, Condition which, List<TableField<?, Instant>> times) {
        Table<?> table = Objects.requireNonNull(id.getTable());
        CommonTableExpression<Record1<String>> locked = DSL.name("locked")
                .asMaterialized(
                        DSL.select(id).from(table).where(which).orderBy(id).forNoKeyUpdate());
        Field<String> lockedId = DSL.field(DSL.name("locked", id.getName()), id.getDataType());
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        times.forEach(time -> values.put(time, time.sub(by)));
        return dsl.with(locked)
                .update(table)
                .set(values)
                .from(locked)
                .where(id.eq(lockedId))
                .execute();
    }
}
