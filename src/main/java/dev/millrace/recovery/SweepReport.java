package dev.millrace.recovery;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What one sweep found and did.
 *
 * @param at when it began, in database time; null if the database did not even say that
 * @param timedOut jobs that failed because they took longer than their maximum duration
 * @param cancelled jobs with an expired heartbeat that ended cancelled, as requested before
 * @param requeued jobs with an expired heartbeat that wait for their next attempt
 * @param failed jobs with an expired heartbeat that failed because no attempt was left
 * @param spared overdue jobs that were left alone because a beat came in, they ended in the meantime, or their row was
 *     locked until not long ago
 * @param locked overdue jobs whose row someone else's transaction holds
 * @param held jobs with a stale heartbeat that wait for the store to have been watched for their timeout
 * @param repaired queued jobs without a place in the queue that were given one
 * @param errors overdue jobs that could not be dealt with, and steps of the sweep that failed
 * @param failure what cut the sweep short, or else the first of these errors; null if there was none
 */
public record SweepReport(
        @Nullable Instant at,
        int timedOut,
        int cancelled,
        int requeued,
        int failed,
        int spared,
        int locked,
        int held,
        int repaired,
        int errors,
        @Nullable Throwable failure) {
    /** {@return jobs whose expired heartbeat ended their attempt, one way or another} */
    public int expired() {
        return cancelled + requeued + failed;
    }

    /** {@return whether the outage grace held back jobs that would have been expired otherwise} */
    public boolean suspended() {
        return held > 0;
    }
}
