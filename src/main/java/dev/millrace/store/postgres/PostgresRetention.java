package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_STREAMS;
import static dev.millrace.jooq.Tables.LEASES;
import static dev.millrace.jooq.Tables.RESULT_PACKAGES;

import dev.millrace.job.Checks;
import dev.millrace.jooq.tables.ExecutionJobLogStreams;
import dev.millrace.store.Retention;
import dev.millrace.types.JobStatus;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jooq.CommonTableExpression;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record1;
import org.jooq.Record2;
import org.jooq.Select;
import org.jooq.Table;
import org.jooq.TableField;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * Deletes in batches: rows are picked by the index on their expiry, locked, and checked again under the lock, all in one
 * MATERIALIZED part, so that no plan can pick more than the limit; then exactly these are deleted. The lock is FOR UPDATE,
 * the one that a DELETE takes: with a weaker one it would pick rows that are being referenced, and then wait for them.
 */
final class PostgresRetention implements Retention {
    /** Violations of foreign keys, and of those that say ON DELETE RESTRICT: until PostgreSQL 17 both are the first. */
    private static final Set<String> HELD_BY_REFERENCE = Set.of("23503", "23001");

    private static final ExecutionJobLogStreams STREAMS = EXECUTION_JOB_LOG_STREAMS;

    /** When anything may be deleted, or postponed, at all. */
    private static final Condition MAY_DELETE = HoldSwitch.NOT_HELD;

    /** Literals, so that it is seen that the index of expired jobs holds all of these. */
    private static final Condition ENDED = EXECUTION_JOBS.STATUS.in(
            JobRows.literal(JobStatus.SUCCEEDED),
            JobRows.literal(JobStatus.FAILED),
            JobRows.literal(JobStatus.CANCELLED));

    private final Database database;

    PostgresRetention(Database database) {
        this.database = database;
    }

    @Override
    public Batch sweep(Subject subject, int limit) {
        Checks.atLeast("limit", limit, 1);
        return switch (subject) {
            case JOBS -> jobs(limit);
            case LOGS -> run(subject, dsl -> logs(dsl, limit));
            case RESULTS ->
                deleted(run(
                        subject,
                        dsl -> delete(dsl, RESULT_PACKAGES.JOB_ID, oldest(RESULT_PACKAGES.EXPIRES_AT, limit))));
            case LEASES ->
                deleted(run(subject, dsl -> delete(dsl, LEASES.LEASE_KEY, oldest(LEASES.EXPIRES_AT, limit))));
        };
    }

    private static Batch deleted(int number) {
        return new Batch(number, 0, null);
    }

    private <T> T run(Subject subject, Function<DSLContext, T> statements) {
        return database.run(Operation.SWEEP, subject.name().toLowerCase(Locale.ROOT), statements);
    }

    private static int delete(DSLContext dsl, TableField<?, String> key, Picked picked) {
        CommonTableExpression<Record1<String>> expired = picked.rows(key);
        return dsl.with(expired)
                .delete(table(key))
                .where(isAmong(key, DSL.select(expired.field(0, String.class)).from(expired)))
                .execute();
    }

    /** As an array, which leads to the primary key. A join might read the whole table, to find a few of its rows in it. */
    private static Condition isAmong(Field<String> key, Select<Record1<String>> picked) {
        return key.eq(DSL.any(DSL.array(picked)));
    }

    /** Which rows are to be picked. */
    private interface Picked {
        CommonTableExpression<Record1<String>> rows(TableField<?, String> key);
    }

    private static Picked oldest(TableField<?, Instant> expiresAt, int limit, Condition... conditions) {
        return key -> DSL.name("expired")
                .asMaterialized(DSL.select(key)
                        .from(table(key))
                        .where(conditions)
                        .and(expiresAt.le(DbTime.STATEMENT))
                        .and(MAY_DELETE)
                        .orderBy(expiresAt)
                        .limit(DSL.inline(limit))
                        .forUpdate()
                        .skipLocked());
    }

    private static Picked these(List<String> ids) {
        return key -> DSL.name("expired")
                .asMaterialized(DSL.select(key)
                        .from(table(key))
                        .where(key.eq(DSL.any(DSL.val(ids.toArray(String[]::new), SQLDataType.CLOB.array()))))
                        .and(ENDED)
                        .and(EXECUTION_JOBS.EXPIRES_AT.le(DbTime.STATEMENT))
                        .and(MAY_DELETE)
                        .forUpdate()
                        .skipLocked());
    }

    private static Table<?> table(TableField<?, String> key) {
        return Objects.requireNonNull(key.getTable());
    }

    /**
     * All at once, as a rule. If another table's foreign key holds some of them fast, or a trigger refuses them, nothing is deleted, and which they are
     * is not said: then the same jobs in halves, and halves of these, until those that are held are alone. They are
     * postponed, or each later batch would begin with them.
     */
    private Batch jobs(int limit) {
        Attempted all = attempt(oldest(EXECUTION_JOBS.EXPIRES_AT, limit, ENDED));
        if (all.heldBy() == null) {
            return deleted(all.deleted());
        }
        List<String> ids = run(
                Subject.JOBS,
                dsl -> dsl.select(EXECUTION_JOBS.OPERATION_ID)
                        .from(EXECUTION_JOBS)
                        .where(ENDED)
                        .and(EXECUTION_JOBS.EXPIRES_AT.le(DbTime.STATEMENT))
                        .orderBy(EXECUTION_JOBS.EXPIRES_AT)
                        .limit(DSL.inline(limit))
                        .fetch(EXECUTION_JOBS.OPERATION_ID));
        return inHalves(ids);
    }

    private Batch inHalves(List<String> ids) {
        if (ids.isEmpty()) {
            return deleted(0);
        }
        Attempted some = attempt(these(ids));
        if (some.heldBy() == null) {
            return deleted(some.deleted());
        }
        if (ids.size() == 1) {
            return new Batch(0, postpone(ids.get(0)), some.heldBy());
        }
        Batch first = inHalves(ids.subList(0, ids.size() / 2));
        Batch second = inHalves(ids.subList(ids.size() / 2, ids.size()));
        return new Batch(
                first.deleted() + second.deleted(),
                first.postponed() + second.postponed(),
                second.heldBy() == null ? first.heldBy() : second.heldBy());
    }

    private record Attempted(int deleted, @Nullable String heldBy) {}

    private Attempted attempt(Picked picked) {
        return run(Subject.JOBS, dsl -> {
            try {
                return new Attempted(delete(dsl, EXECUTION_JOBS.OPERATION_ID, picked), null);
            } catch (DataAccessException e) {
                if (new Failure(e).isAboutRows()) {
                    return new Attempted(0, what(e));
                }
                throw e;
            }
        });
    }

    private static String what(DataAccessException failure) {
        PSQLException postgres = failure.getCause(PSQLException.class);
        ServerErrorMessage said = postgres == null ? null : postgres.getServerErrorMessage();
        if (said == null) {
            return String.valueOf(failure.getMessage());
        }
        return HELD_BY_REFERENCE.contains(failure.sqlState())
                ? "foreign key " + said.getConstraint() + " of table " + said.getSchema() + "." + said.getTable()
                : "error \"" + said.getMessage() + "\"";
    }

    private int postpone(String id) {
        return run(
                Subject.JOBS,
                dsl -> RowLock.skipping(
                                EXECUTION_JOBS.OPERATION_ID.eq(id),
                                ENDED,
                                EXECUTION_JOBS.EXPIRES_AT.le(DbTime.STATEMENT),
                                MAY_DELETE)
                        .update(dsl, Map.of(EXECUTION_JOBS.EXPIRES_AT, DbTime.plus(DbTime.LOCKED, POSTPONEMENT)))
                        .execute());
    }

    /**
     * Logs whose job is gone or has ended are deleted, the others postponed. A job that has ended is locked until its log
     * is deleted, and checked again under that lock: it may be retried by hand at this moment, which then comes before
     * (the log stays) or after (a new one begins).
     */
    private static Batch logs(DSLContext dsl, int limit) {
        CommonTableExpression<Record1<String>> expired =
                oldest(STREAMS.EXPIRES_AT, limit).rows(STREAMS.OPERATION_ID);
        Field<String> id = DSL.field(DSL.name("expired", "operation_id"), STREAMS.OPERATION_ID.getDataType());
        Table<?> job = DSL.select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .and(ENDED)
                .forNoKeyUpdate()
                .skipLocked()
                .asTable("job");
        var ofEndedJobs = DSL.name("of_ended_jobs")
                .asMaterialized(DSL.select(id).from(expired).crossJoin(DSL.lateral(job)));
        var ofNoJob = DSL.name("of_no_job")
                .asMaterialized(DSL.select(id)
                        .from(expired)
                        .where(DSL.field(DSL.select(EXECUTION_JOBS.STATUS)
                                        .from(EXECUTION_JOBS)
                                        .where(EXECUTION_JOBS.OPERATION_ID.eq(id)))
                                .isNull()));
        Field<String> ended = DSL.field(DSL.name("of_ended_jobs", "operation_id"), SQLDataType.CLOB);
        Field<String> gone = DSL.field(DSL.name("of_no_job", "operation_id"), SQLDataType.CLOB);
        CommonTableExpression<Record1<String>> inactive = DSL.name("inactive")
                .asMaterialized(DSL.select(ended)
                        .from(ofEndedJobs)
                        .unionAll(DSL.select(gone).from(ofNoJob)));
        Field<String> inactiveId = DSL.field(DSL.name("inactive", "operation_id"), SQLDataType.CLOB);
        CommonTableExpression<?> postponed = DSL.name("postponed")
                .as(DSL.update(STREAMS)
                        .set(STREAMS.EXPIRES_AT, DbTime.plus(DbTime.CLOCK, POSTPONEMENT))
                        .where(isAmong(
                                STREAMS.OPERATION_ID,
                                DSL.select(id)
                                        .from(expired)
                                        .where(id.notIn(DSL.select(inactiveId).from(inactive)))))
                        .returningResult(STREAMS.OPERATION_ID));
        CommonTableExpression<?> deleted = DSL.name("deleted")
                .as(DSL.deleteFrom(STREAMS)
                        .where(isAmong(
                                STREAMS.OPERATION_ID, DSL.select(inactiveId).from(inactive)))
                        .returningResult(STREAMS.OPERATION_ID));
        Record2<Integer, Integer> counts = dsl.with(expired, ofEndedJobs, ofNoJob, inactive, postponed, deleted)
                .select(
                        DSL.field(DSL.selectCount().from(deleted)),
                        DSL.field(DSL.selectCount().from(postponed)))
                .fetchSingle();
        return new Batch(counts.value1(), counts.value2(), null);
    }
}
