package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.Job;
import dev.millrace.types.JobStatus;
import java.time.Duration;
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

    private static final Shape REMOTE = shape(false, false);
    private static final Shape QUEUED = shape(true, false);
    private static final Shape QUEUED_AND_SIGNALLED = shape(true, true);

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
     * @return the times that the job has then; none if there is one of its id
     */
    Result<Record> insert(DSLContext dsl, @Nullable String channel) {
        boolean local = job.spec().local();
        boolean signalled = local && delay.isZero() && channel != null;
        Shape shape = !local ? REMOTE : signalled ? QUEUED_AND_SIGNALLED : QUEUED;
        return shape.fetch(dsl, binds.with(CHANNEL, channel));
    }

    private static Shape shape(boolean local, boolean signalled) {
        List<Field<?>> returned = new ArrayList<>(List.of(EXECUTION_JOBS.CREATED_AT, EXECUTION_JOBS.UPDATED_AT));
        if (signalled) {
            returned.add(PostgresJobSignals.sent(CHANNEL, EXECUTION_JOBS.QUEUE));
        }
        return new Shape(returned, dsl -> compose(dsl, local, returned));
    }

    private static Query compose(DSLContext dsl, boolean local, List<Field<?>> returned) {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        JobRows.PROJECTED.forEach(column -> values.put(column, Binds.parameter(column)));
        values.put(EXECUTION_JOBS.OPERATION_ID, Binds.parameter(EXECUTION_JOBS.OPERATION_ID));
        values.put(EXECUTION_JOBS.VERSION, DSL.inline(1L));
        values.put(EXECUTION_JOBS.STATUS, JobRows.literal(JobStatus.QUEUED));
        values.put(EXECUTION_JOBS.CREATED_AT, DbTime.STATEMENT);
        values.put(EXECUTION_JOBS.UPDATED_AT, DbTime.STATEMENT);
        values.put(EXECUTION_JOBS.EXPIRES_AT, DbTime.STATEMENT.add(RETENTION));
        if (local) {
            values.put(EXECUTION_JOBS.QUEUE_PRIORITY, Binds.parameter(EXECUTION_JOBS.PRIORITY));
            values.put(EXECUTION_JOBS.QUEUE_VISIBLE_AT, DbTime.STATEMENT.add(DELAY));
        }
        return dsl.insertInto(EXECUTION_JOBS)
                .set(values)
                .onConflict(EXECUTION_JOBS.OPERATION_ID)
                .doNothing()
                .returningResult(returned);
    }
}
