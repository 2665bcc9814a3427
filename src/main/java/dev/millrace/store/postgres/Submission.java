package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.AttemptState;
import dev.millrace.job.Job;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Query;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/** The insertion of one job that is submitted. */
final class Submission {
    private static final Param<Duration> DELAY = DSL.param("delay", DbTime.DURATION);
    private static final Param<Duration> RETENTION = DSL.param("retention", DbTime.DURATION);
    private static final Param<String> CHANNEL = DSL.param("channel", String.class);

    static final Shape REMOTE = shape(null);
    static final Shape DUE = shape(DbTime.STATEMENT);
    static final Shape DUE_AND_SIGNALLED =
            shape(DbTime.STATEMENT, PostgresJobSignals.sent(CHANNEL, EXECUTION_JOBS.QUEUE));
    static final Shape DELAYED = shape(DbTime.STATEMENT.add(DELAY));

    private final Job job;
    private final Duration delay;
    private final Binds binds;

    /** @param job as it shall be, its record small enough; see {@link JobCodec#bounded} */
    Submission(JobRows rows, Job job, Duration delay) {
        this.job = job;
        this.delay = delay;
        this.binds = new Binds()
                .withAll(rows.boundedRecordAndProjections(job))
                .with(Binds.parameter(EXECUTION_JOBS.OPERATION_ID), job.id())
                .with(RETENTION, job.policies().retention())
                .with(DELAY, delay);
    }

    /**
     * Inserts it.
     *
     * @param channel where those listen who are to be told of jobs that can be claimed at once; null to tell nobody
     * @return the job as it is then; null if there is one of its id
     */
    @Nullable
    Job insert(DSLContext dsl, @Nullable String channel) {
        Result<Record> inserted = wanted(channel).fetch(dsl, binds.with(CHANNEL, channel));
        if (inserted.isEmpty()) {
            return null;
        }
        Instant now = inserted.get(0).get(EXECUTION_JOBS.CREATED_AT);
        return job.at(now, AttemptState.queued(now));
    }

    private Shape wanted(@Nullable String channel) {
        if (!job.spec().local()) {
            return REMOTE;
        }
        if (!delay.isZero()) {
            return DELAYED;
        }
        return channel == null ? DUE : DUE_AND_SIGNALLED;
    }

    /**
     * @param visibleAt when it can be claimed; null for a job that no worker claims
     * @param signal what tells of it, if anything does
     */
    private static Shape shape(@Nullable Field<Instant> visibleAt, Field<?>... signal) {
        List<Field<?>> returned = new ArrayList<>(List.of(signal));
        returned.add(0, EXECUTION_JOBS.CREATED_AT);
        return new Shape(returned, dsl -> compose(dsl, visibleAt, returned));
    }

    private static Query compose(DSLContext dsl, @Nullable Field<Instant> visibleAt, List<Field<?>> returned) {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        JobRows.PROJECTED.forEach(column -> values.put(column, Binds.parameter(column)));
        values.put(EXECUTION_JOBS.OPERATION_ID, Binds.parameter(EXECUTION_JOBS.OPERATION_ID));
        values.put(EXECUTION_JOBS.VERSION, DSL.inline(1L));
        values.put(EXECUTION_JOBS.STATUS, JobRows.literal(JobStatus.QUEUED));
        values.put(EXECUTION_JOBS.CANCELLATION_REQUESTED, DSL.inline(false)); // who submits a job wants it
        values.put(EXECUTION_JOBS.CREATED_AT, DbTime.STATEMENT);
        values.put(EXECUTION_JOBS.UPDATED_AT, DbTime.STATEMENT);
        values.put(EXECUTION_JOBS.EXPIRES_AT, DbTime.STATEMENT.add(RETENTION));
        if (visibleAt != null) {
            values.put(EXECUTION_JOBS.QUEUE_PRIORITY, Binds.parameter(EXECUTION_JOBS.PRIORITY));
            values.put(EXECUTION_JOBS.QUEUE_VISIBLE_AT, visibleAt);
        }
        return dsl.insertInto(EXECUTION_JOBS)
                .set(values)
                .onConflict(EXECUTION_JOBS.OPERATION_ID)
                .doNothing()
                .returningResult(returned);
    }
}
