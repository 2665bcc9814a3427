package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.AttemptState;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobReferences;
import dev.millrace.store.Dimension;
import dev.millrace.store.LookupKey;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/** Jobs as rows: which columns make a job, and which columns a job's record projects into. */
final class JobRows {
    /** What must be selected for {@link #job}. */
    static final List<Field<?>> FIELDS = List.of(
            EXECUTION_JOBS.OPERATION_ID,
            EXECUTION_JOBS.VERSION,
            EXECUTION_JOBS.STATUS,
            EXECUTION_JOBS.ATTEMPT_COUNT,
            EXECUTION_JOBS.CLAIMED_BY,
            EXECUTION_JOBS.CLAIMED_AT,
            EXECUTION_JOBS.LAST_HEARTBEAT_AT,
            EXECUTION_JOBS.NEXT_RETRY_AT,
            EXECUTION_JOBS.COMPLETED_AT,
            EXECUTION_JOBS.PERCENT_COMPLETE,
            EXECUTION_JOBS.CURRENT_PHASE,
            EXECUTION_JOBS.UPDATED_AT,
            EXECUTION_JOBS.CREATED_AT,
            EXECUTION_JOBS.RECORD);

    /** What {@link #recordAndProjections} assigns. */
    static final List<Field<?>> PROJECTED = List.of(
            EXECUTION_JOBS.RECORD,
            EXECUTION_JOBS.KIND,
            EXECUTION_JOBS.RUNTIME_PROFILE,
            EXECUTION_JOBS.QUEUE,
            EXECUTION_JOBS.BACKEND,
            EXECUTION_JOBS.PRIORITY,
            EXECUTION_JOBS.TENANT_ID,
            EXECUTION_JOBS.CANCELLATION_REQUESTED,
            EXECUTION_JOBS.HEARTBEAT_TIMEOUT,
            EXECUTION_JOBS.MAX_DURATION,
            EXECUTION_JOBS.LOOKUP_KEYS);

    /** Claimed by a worker or backend. As literals: a partial index can't be used for a parameter. */
    static final Condition CLAIMED =
            EXECUTION_JOBS.STATUS.in(literal(JobStatus.PROVISIONING), literal(JobStatus.RUNNING));

    /**
     * Not ended. Means the same as {@link #CLAIMED} where a claim token is matched, since a queued row has none; and as
     * it names no status that a row must have, no index on the status is read for it, but the primary key.
     */
    static final Condition LIVE = EXECUTION_JOBS
            .STATUS
            .ne(literal(JobStatus.SUCCEEDED))
            .and(EXECUTION_JOBS.STATUS.ne(literal(JobStatus.FAILED)))
            .and(EXECUTION_JOBS.STATUS.ne(literal(JobStatus.CANCELLED)));

    static final Condition QUEUED = EXECUTION_JOBS.STATUS.eq(literal(JobStatus.QUEUED));

    private final JobCodec codec;

    JobRows(JobCodec codec) {
        this.codec = codec;
    }

    static Field<JobStatus> literal(JobStatus status) {
        return DSL.inline(status, EXECUTION_JOBS.STATUS);
    }

    /**
     * The job of a row that holds {@link #FIELDS}.
     *
     * @throws UnreadableJobException if this release can't read its record
     */
    Job job(Record row) {
        String id = row.get(EXECUTION_JOBS.OPERATION_ID);
        try {
            return codec.decode(id, row.get(EXECUTION_JOBS.RECORD)).at(row.get(EXECUTION_JOBS.CREATED_AT), state(row));
        } catch (InvalidJobException e) {
            throw new UnreadableJobException(
                    id, "a column holds what this release would not write: " + e.getMessage(), e);
        }
    }

    private static AttemptState state(Record row) {
        return new AttemptState(
                row.get(EXECUTION_JOBS.VERSION),
                row.get(EXECUTION_JOBS.STATUS),
                row.get(EXECUTION_JOBS.ATTEMPT_COUNT),
                row.get(EXECUTION_JOBS.CLAIMED_BY),
                row.get(EXECUTION_JOBS.CLAIMED_AT),
                row.get(EXECUTION_JOBS.LAST_HEARTBEAT_AT),
                row.get(EXECUTION_JOBS.NEXT_RETRY_AT),
                row.get(EXECUTION_JOBS.COMPLETED_AT),
                row.get(EXECUTION_JOBS.PERCENT_COMPLETE),
                row.get(EXECUTION_JOBS.CURRENT_PHASE),
                row.get(EXECUTION_JOBS.UPDATED_AT));
    }

    /** The record of a job and all that projects it: whoever writes the one writes the others. */
    Map<Field<?>, Object> recordAndProjections(Job job) {
        return recordAndProjections(job, codec.encode(job));
    }

    /** The same of a job that comes in, whose record may not be too large. */
    Map<Field<?>, Object> boundedRecordAndProjections(Job job) {
        return recordAndProjections(job, JobCodec.bounded(codec.encode(job)));
    }

    /** The same with the job's record as it was encoded. */
    Map<Field<?>, Object> recordAndProjections(Job job, JsonText record) {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        values.put(EXECUTION_JOBS.RECORD, record);
        values.put(EXECUTION_JOBS.KIND, job.spec().kind());
        values.put(EXECUTION_JOBS.RUNTIME_PROFILE, job.spec().runtimeProfile());
        values.put(EXECUTION_JOBS.QUEUE, job.spec().queue());
        values.put(EXECUTION_JOBS.BACKEND, job.spec().backend());
        values.put(EXECUTION_JOBS.PRIORITY, job.priority());
        putNullable(values, EXECUTION_JOBS.TENANT_ID, job.audit().tenantId());
        values.put(EXECUTION_JOBS.CANCELLATION_REQUESTED, job.cancellationRequested());
        values.put(EXECUTION_JOBS.HEARTBEAT_TIMEOUT, job.policies().heartbeat().timeout());
        values.put(EXECUTION_JOBS.MAX_DURATION, job.policies().maxDuration());
        values.put(EXECUTION_JOBS.LOOKUP_KEYS, lookupKeys(job));
        return values;
    }

    /** A map value that may be null: jOOQ assigns NULL for a typed null. */
    static <T> void putNullable(Map<Field<?>, Object> values, Field<T> field, @Nullable T value) {
        values.put(field, DSL.val(value, field));
    }

    /** Null as a literal, for statements that always assign it. */
    static <T> void putNull(Map<Field<?>, Object> values, Field<T> field) {
        values.put(field, DSL.inline(null, field));
    }

    /** What lists can be filtered by, as {@code dimension:VALUE}. */
    static List<String> lookupKeys(Job job) {
        Set<String> keys = new LinkedHashSet<>();
        JobReferences references = job.spec().references();
        key(keys, Dimension.BACKEND, job.spec().backend());
        key(keys, Dimension.QUEUE, job.spec().queue());
        key(keys, Dimension.REQUESTED_BY, job.audit().requestedBy());
        key(keys, Dimension.CORRELATION, job.audit().correlationId());
        key(keys, Dimension.TRACE, job.audit().traceContext());
        key(keys, Dimension.DEFINITION, references.definitionId());
        key(keys, Dimension.DEFINITION, references.planId());
        references.resources().forEach(resource -> key(keys, Dimension.RESOURCE, resource));
        key(keys, Dimension.ENVIRONMENT, references.environment());
        key(keys, Dimension.SERVER, references.server());
        key(keys, Dimension.RELEASE, references.release());
        key(keys, Dimension.CHANGE_SET, references.changeSet());
        key(keys, Dimension.ALERT, references.alert());
        key(keys, Dimension.RUN, references.runId());
        return List.copyOf(keys);
    }

    private static void key(Set<String> keys, Dimension dimension, @Nullable String value) {
        if (value != null && !value.isBlank()) {
            keys.add(new LookupKey(dimension, value).text());
        }
    }
}
