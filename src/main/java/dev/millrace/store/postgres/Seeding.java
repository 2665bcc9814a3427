package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.AttemptState;
import dev.millrace.job.Job;
import dev.millrace.types.JsonText;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/** Jobs stored as they are given, over those that are there. */
final class Seeding {
    /** An attempt has the token, and would be robbed of the job. */
    private static final Condition HELD = JobRows.CLAIMED.and(EXECUTION_JOBS.CLAIM_TOKEN.isNotNull());

    private final Database database;
    private final JobRows rows;
    private final JobCodec codec;

    Seeding(Database database, JobRows rows, JobCodec codec) {
        this.database = database;
        this.rows = rows;
        this.codec = codec;
    }

    boolean seed(Job job) {
        JsonText record = JobCodec.bounded(codec.encode(job));
        Map<Field<?>, Object> values = values(job, record);
        // An answer that was lost may have been a yes, and the job claimed or even ended since: not once more, then.
        return database.confirm(
                Operation.SEED,
                job.id(),
                (dsl, repetition) ->
                        (repetition.mayHaveHappened() && isThere(dsl, job, record, repetition)) || upsert(dsl, values));
    }

    private static boolean upsert(DSLContext dsl, Map<Field<?>, Object> values) {
        Map<Field<?>, Object> over = new LinkedHashMap<>();
        values.keySet().forEach(column -> over.put(column, DSL.excluded(column)));
        over.remove(EXECUTION_JOBS.OPERATION_ID);
        // Never the version that somebody has read: a change of the job that was there must not hit the one that is
        // now.
        over.put(
                EXECUTION_JOBS.VERSION,
                DSL.greatest(DSL.excluded(EXECUTION_JOBS.VERSION), EXECUTION_JOBS.VERSION.plus(1)));
        return dsl.insertInto(EXECUTION_JOBS)
                        .set(values)
                        .onConflict(EXECUTION_JOBS.OPERATION_ID)
                        .doUpdate()
                        .set(over)
                        .where(HELD.not())
                        .execute()
                == 1;
    }

    /**
     * The job as it was given since the call began, or what has become of it. Only of one that goes on does it matter: one
     * that was given as ended is stored once more.
     */
    private static boolean isThere(DSLContext dsl, Job job, JsonText record, Repetition repetition) {
        if (job.status().isFinal()) {
            return false;
        }
        Record row = dsl.select(
                        EXECUTION_JOBS.RECORD,
                        EXECUTION_JOBS.CREATED_AT,
                        EXECUTION_JOBS.COMPLETED_AT,
                        EXECUTION_JOBS.EXPIRES_AT)
                .select(DbTime.CLOCK.as("clock"))
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                .fetchOne();
        if (row == null
                || !row.get(EXECUTION_JOBS.RECORD).equals(record)
                || !row.get(EXECUTION_JOBS.CREATED_AT).equals(job.createdAt())) {
            return false;
        }
        Instant storedAt =
                row.get(EXECUTION_JOBS.EXPIRES_AT).minus(job.policies().retention());
        Instant completedAt = row.get(EXECUTION_JOBS.COMPLETED_AT);
        Instant lastSeen = completedAt == null ? storedAt : completedAt;
        return !lastSeen.isBefore(repetition.notBefore(row.get("clock", Instant.class)));
    }

    private Map<Field<?>, Object> values(Job job, JsonText record) {
        AttemptState state = job.state();
        Map<Field<?>, Object> values = rows.recordAndProjections(job, record);
        values.put(EXECUTION_JOBS.OPERATION_ID, job.id());
        values.put(EXECUTION_JOBS.VERSION, state.version());
        values.put(EXECUTION_JOBS.STATUS, state.status());
        values.put(EXECUTION_JOBS.ATTEMPT_COUNT, state.attemptCount());
        values.put(EXECUTION_JOBS.FORGIVEN_ATTEMPTS, 0);
        JobRows.putNullable(values, EXECUTION_JOBS.CLAIM_TOKEN, null);
        JobRows.putNullable(values, EXECUTION_JOBS.CLAIMED_BY, state.claimedBy());
        JobRows.putNullable(values, EXECUTION_JOBS.CLAIMED_AT, state.claimedAt());
        JobRows.putNullable(values, EXECUTION_JOBS.LAST_HEARTBEAT_AT, state.lastHeartbeatAt());
        JobRows.putNullable(values, EXECUTION_JOBS.NEXT_RETRY_AT, state.nextRetryAt());
        JobRows.putNullable(values, EXECUTION_JOBS.COMPLETED_AT, state.completedAt());
        JobRows.putNullable(values, EXECUTION_JOBS.PERCENT_COMPLETE, state.percentComplete());
        JobRows.putNullable(values, EXECUTION_JOBS.CURRENT_PHASE, state.currentPhase());
        values.put(EXECUTION_JOBS.UPDATED_AT, state.updatedAt());
        values.put(EXECUTION_JOBS.CREATED_AT, job.createdAt());
        values.put(EXECUTION_JOBS.EXPIRES_AT, expiresAt(job));
        place(values, job);
        return values;
    }

    private static Field<Instant> expiresAt(Job job) {
        Field<Instant> from = DbTime.STATEMENT;
        if (job.status().isFinal()) {
            Instant completed = job.state().completedAt();
            from = DSL.val(completed == null ? job.state().updatedAt() : completed, DbTime.INSTANT);
        }
        return DbTime.plus(from, job.policies().retention());
    }

    /** A claimed job has a place as well: it is claimable by it when its attempt is over, without repair. */
    private static void place(Map<Field<?>, Object> values, Job job) {
        if (!job.status().isFinal() && job.spec().local()) {
            @Nullable Instant due = job.state().nextRetryAt();
            values.put(EXECUTION_JOBS.QUEUE_PRIORITY, job.priority());
            values.put(
                    EXECUTION_JOBS.QUEUE_VISIBLE_AT,
                    due == null ? DbTime.STATEMENT : DSL.greatest(DbTime.STATEMENT, DSL.val(due, DbTime.INSTANT)));
        } else {
            CompareAndSet.leaveQueue(values);
        }
    }
}
