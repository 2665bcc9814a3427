package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.AttemptState;
import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.Record;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/**
 * What a compare-and-set assigns: only what the writer changed against what it had read. What it merely carries along,
 * such as an old heartbeat, is never written back.
 */
final class CompareAndSet {
    private final JobRows rows;
    private final JobCodec codec;

    CompareAndSet(JobRows rows, JobCodec codec) {
        this.rows = rows;
        this.codec = codec;
    }

    /**
     * @throws InvalidJobException if the writer changed what is not its to change
     */
    Map<Field<?>, Object> assignments(Job read, Job changed, Duration retryDelay) {
        refuseForeign(read, changed);
        Checks.delay("retryDelay", retryDelay);
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        values.put(EXECUTION_JOBS.VERSION, EXECUTION_JOBS.VERSION.plus(DSL.inline(1)));
        values.put(EXECUTION_JOBS.UPDATED_AT, DbTime.LOCKED);
        if (!codec.encode(read).equals(codec.encode(changed))) {
            values.putAll(rows.recordAndProjections(changed));
            place(values, read, changed);
        }
        state(values, read.state(), changed.state(), retryDelay);
        status(values, read, changed, retryDelay);
        retention(values, read, changed);
        return values;
    }

    /**
     * Whether a row, one version later, shows these assignments and nothing else: then they were made by an earlier try
     * whose answer was lost. Of a time that the database gave, all that can be known is that it is there.
     */
    boolean shows(Record row, Map<Field<?>, Object> values, Job read, Job changed) {
        Job there = rows.job(row);
        return codec.encode(there).equals(codec.encode(changed))
                && assigned(values, EXECUTION_JOBS.STATUS, there.status(), read.status())
                && assigned(
                        values,
                        EXECUTION_JOBS.CLAIMED_BY,
                        there.state().claimedBy(),
                        read.state().claimedBy())
                && assigned(
                        values,
                        EXECUTION_JOBS.CLAIMED_AT,
                        there.state().claimedAt(),
                        read.state().claimedAt())
                && assigned(
                        values,
                        EXECUTION_JOBS.NEXT_RETRY_AT,
                        there.state().nextRetryAt(),
                        read.state().nextRetryAt())
                && assigned(
                        values,
                        EXECUTION_JOBS.COMPLETED_AT,
                        there.state().completedAt(),
                        read.state().completedAt());
    }

    private static <T> boolean assigned(
            Map<Field<?>, Object> values, Field<T> field, @Nullable T there, @Nullable T read) {
        Object value = values.get(field);
        if (value == null) {
            return Objects.equals(there, read);
        }
        Object constant = value instanceof Param<?> parameter ? parameter.getValue() : value;
        return constant instanceof Field<?> ? there != null : Objects.equals(there, constant);
    }

    /** A job that has ended is kept for its retention, counted from its end: with another one it goes at another time. */
    private static void retention(Map<Field<?>, Object> values, Job read, Job changed) {
        Duration retention = changed.policies().retention();
        if (read.status().isFinal() && !retention.equals(read.policies().retention())) {
            boolean endsAnew =
                    !Objects.equals(read.state().completedAt(), changed.state().completedAt());
            Field<Instant> end =
                    endsAnew ? DbTime.LOCKED : DSL.coalesce(EXECUTION_JOBS.COMPLETED_AT, EXECUTION_JOBS.UPDATED_AT);
            values.put(EXECUTION_JOBS.EXPIRES_AT, DbTime.plus(end, retention));
        }
    }

    /** A place in the queue follows the job's priority, and ends when the job goes to a remote backend. */
    private static void place(Map<Field<?>, Object> values, Job read, Job changed) {
        if (!changed.spec().local()) {
            leaveQueue(values);
        } else if (read.priority() != changed.priority()) {
            values.put(
                    EXECUTION_JOBS.QUEUE_PRIORITY,
                    DSL.when(
                            EXECUTION_JOBS.QUEUE_PRIORITY.isNotNull(),
                            DSL.val(changed.priority(), EXECUTION_JOBS.PRIORITY)));
        }
    }

    private static void state(
            Map<Field<?>, Object> values, AttemptState read, AttemptState changed, Duration retryDelay) {
        if (!Objects.equals(read.claimedBy(), changed.claimedBy())) {
            JobRows.putNullable(values, EXECUTION_JOBS.CLAIMED_BY, changed.claimedBy());
        }
        if (!Objects.equals(read.claimedAt(), changed.claimedAt())) {
            time(values, EXECUTION_JOBS.CLAIMED_AT, changed.claimedAt(), Duration.ZERO);
        }
        if (!Objects.equals(read.completedAt(), changed.completedAt())) {
            time(values, EXECUTION_JOBS.COMPLETED_AT, changed.completedAt(), Duration.ZERO);
        }
        if (!Objects.equals(read.nextRetryAt(), changed.nextRetryAt())) {
            time(values, EXECUTION_JOBS.NEXT_RETRY_AT, changed.nextRetryAt(), retryDelay);
        }
    }

    private static void status(Map<Field<?>, Object> values, Job read, Job changed, Duration retryDelay) {
        JobStatus now = changed.status();
        if (read.status() == now) {
            return;
        }
        values.put(EXECUTION_JOBS.STATUS, now);
        if (now.isFinal()) {
            ended(values, changed.policies().retention());
        } else if (now == JobStatus.QUEUED) {
            queuedAgain(values, retryDelay);
        }
    }

    /** A final status: out of the queue, and kept from now on for its retention. */
    static void ended(Map<Field<?>, Object> values, Duration retention) {
        ended(values, DSL.val(retention, DbTime.DURATION));
    }

    /** The same with the retention of each row. */
    static void ended(Map<Field<?>, Object> values, Field<Duration> retention) {
        values.putIfAbsent(EXECUTION_JOBS.COMPLETED_AT, DbTime.LOCKED);
        values.put(EXECUTION_JOBS.EXPIRES_AT, DbTime.LOCKED.add(retention));
        leaveQueue(values);
    }

    /** Back in the queue: nobody's, and if it has a place there, claimable after the delay. */
    static void queuedAgain(Map<Field<?>, Object> values, Duration delay) {
        queuedAgain(values, DbTime.plus(DbTime.LOCKED, delay));
    }

    /** The same with the time of each row. */
    static void queuedAgain(Map<Field<?>, Object> values, Field<Instant> visibleAt) {
        unclaimed(values);
        values.putIfAbsent(
                EXECUTION_JOBS.QUEUE_VISIBLE_AT, DSL.when(EXECUTION_JOBS.QUEUE_VISIBLE_AT.isNotNull(), visibleAt));
    }

    /** Nobody's: whatever an attempt still writes finds its token no more. */
    static void unclaimed(Map<Field<?>, Object> values) {
        JobRows.putNull(values, EXECUTION_JOBS.CLAIM_TOKEN);
        JobRows.putNull(values, EXECUTION_JOBS.CLAIMED_BY);
        JobRows.putNull(values, EXECUTION_JOBS.CLAIMED_AT);
        JobRows.putNull(values, EXECUTION_JOBS.LAST_HEARTBEAT_AT);
    }

    static void leaveQueue(Map<Field<?>, Object> values) {
        JobRows.putNull(values, EXECUTION_JOBS.QUEUE_PRIORITY);
        JobRows.putNull(values, EXECUTION_JOBS.QUEUE_VISIBLE_AT);
    }

    /** Null clears; anything else becomes the database's time, for the writer's clock doesn't count. */
    private static void time(
            Map<Field<?>, Object> values, Field<Instant> field, @Nullable Instant value, Duration delay) {
        if (value == null) {
            JobRows.putNullable(values, field, null);
        } else {
            values.put(field, delay.isZero() ? DbTime.LOCKED : DbTime.plus(DbTime.LOCKED, delay));
        }
    }

    private static void refuseForeign(Job read, Job changed) {
        AttemptState before = read.state();
        AttemptState after = changed.state();
        refuse("id", read.id().equals(changed.id()), "the id that was read");
        refuse("createdAt", read.createdAt().equals(changed.createdAt()), "the time that was read");
        refuse("version", before.version() == after.version(), "the version that was read; it grows by itself");
        refuse(
                "attemptCount",
                before.attemptCount() == after.attemptCount(),
                "the count that was read; only claims change it");
        refuse(
                "updatedAt",
                before.updatedAt().equals(after.updatedAt()),
                "the time that was read; it follows by itself");
        String attempts = "what was read; only the claim and the attempt's own writes change it";
        refuse("lastHeartbeatAt", Objects.equals(before.lastHeartbeatAt(), after.lastHeartbeatAt()), attempts);
        refuse("percentComplete", Objects.equals(before.percentComplete(), after.percentComplete()), attempts);
        refuse("currentPhase", Objects.equals(before.currentPhase(), after.currentPhase()), attempts);
        if (read.cancellationRequested()
                && !Objects.equals(read.audit().cancellation(), changed.audit().cancellation())) {
            throw new InvalidJobException(
                    "audit.cancellation", "another request or none", "the accepted request, which stays with the job");
        }
        if (changed.spec().local()
                && before.status() == JobStatus.QUEUED
                && after.status().isClaimed()) {
            throw new InvalidJobException(
                    "status",
                    after.status().literal() + " for a queued job of the local backend",
                    "what only a claim makes of it");
        }
        if (before.status().isFinal() && before.status() != after.status()) {
            throw new InvalidJobException(
                    "status",
                    after.status().literal() + " for a job that is "
                            + before.status().literal(),
                    "the final status that it has");
        }
    }

    private static void refuse(String field, boolean same, String allowed) {
        if (!same) {
            throw new InvalidJobException(field, "a changed value", allowed);
        }
    }
}
