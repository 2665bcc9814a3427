package dev.millrace.recovery;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How a {@link JobReconciler} is, at one moment. For health reports and operators.
 *
 * @param running whether its loops run: started, and not closed
 * @param suspended whether stale heartbeats are not trusted at present, so that dead workers' jobs wait: the store is not
 *     seen to be healthy, or has not been for long enough for some of the jobs
 * @param reason why, in words; null if not suspended
 * @param watchedFor for how long the store has been seen to be healthy without a break
 * @param watchingSince since when that is, in database time; null if it is not healthy
 * @param outage what the store fails with at present; null if it answers
 * @param lastSweep what the last sweep found and did; null before the first one
 */
public record RecoveryStatus(
        boolean running,
        boolean suspended,
        @Nullable String reason,
        Duration watchedFor,
        @Nullable Instant watchingSince,
        @Nullable Throwable outage,
        @Nullable SweepReport lastSweep) {}
