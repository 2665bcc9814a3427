package dev.millrace.recovery;

import java.time.Duration;

/**
 * How a {@link JobReconciler} works. Immutable.
 *
 * @param jobSweepInterval from the start of one sweep to that of the next; 10 ms to a day, 30 s by default. A job of a
 *     killed worker waits this long at most, on top of its own heartbeat timeout
 * @param dispatchRepairAfter how long a queued job without a place in the queue must be untouched before it gets one;
 *     zero to a day, 60 s by default. Shorter than a producer needs between creating a job and enqueueing it only costs
 *     that producer an early dispatch
 * @param batchSize how many jobs a sweep reads or repairs in one statement; 1 to 10,000, 200 by default
 * @param slowProbe an answer of the database that takes longer than this counts as a sign of trouble, so that heartbeats
 *     that are stale after it are not trusted at once; 1 ms to an hour, 1 s by default
 */
public record RecoverySettings(
        Duration jobSweepInterval, Duration dispatchRepairAfter, int batchSize, Duration slowProbe) {
    /** All defaults. */
    public static final RecoverySettings DEFAULT =
            new RecoverySettings(Duration.ofSeconds(30), Duration.ofSeconds(60), 200, Duration.ofSeconds(1));

    private static final int MAX_BATCH_SIZE = 10_000;

    /**
     * Checks the values.
     *
     * @param jobSweepInterval see {@link #jobSweepInterval()}
     * @param dispatchRepairAfter see {@link #dispatchRepairAfter()}
     * @param slowProbe see {@link #slowProbe()}
     * @param batchSize see {@link #batchSize()}
     * @throws IllegalArgumentException if a value is not allowed; the message says which one, what it was, what is
     *     allowed, and what to do
     */
    public RecoverySettings {
        Limits limits = new Limits("recovery");
        limits.check("jobSweepInterval", jobSweepInterval, Duration.ofMillis(10), Duration.ofDays(1), "30 s");
        limits.check("dispatchRepairAfter", dispatchRepairAfter, Duration.ZERO, Duration.ofDays(1), "60 s");
        limits.check("slowProbe", slowProbe, Duration.ofMillis(1), Duration.ofHours(1), "1 s");
        limits.check("batchSize", batchSize, MAX_BATCH_SIZE, "200");
    }

    /**
     * {@return these settings with another interval}
     *
     * @param value see {@link #jobSweepInterval()}
     */
    public RecoverySettings withJobSweepInterval(Duration value) {
        return new RecoverySettings(value, dispatchRepairAfter, batchSize, slowProbe);
    }

    /**
     * {@return these settings with another time until repair}
     *
     * @param value see {@link #dispatchRepairAfter()}
     */
    public RecoverySettings withDispatchRepairAfter(Duration value) {
        return new RecoverySettings(jobSweepInterval, value, batchSize, slowProbe);
    }

    /**
     * {@return these settings with another size of batches}
     *
     * @param value see {@link #batchSize()}
     */
    public RecoverySettings withBatchSize(int value) {
        return new RecoverySettings(jobSweepInterval, dispatchRepairAfter, value, slowProbe);
    }

    /**
     * {@return these settings with another limit of slow answers}
     *
     * @param value see {@link #slowProbe()}
     */
    public RecoverySettings withSlowProbe(Duration value) {
        return new RecoverySettings(jobSweepInterval, dispatchRepairAfter, batchSize, value);
    }
}
