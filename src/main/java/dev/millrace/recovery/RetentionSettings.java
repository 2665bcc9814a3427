package dev.millrace.recovery;

import java.time.Duration;

/**
 * How a {@link RetentionSweeper} works. Immutable.
 *
 * @param retentionSweepInterval how long it rests between two sweeps, shortened by up to a quarter at random so that nodes
 *     don't sweep in step; 1 s to 7 days, 10 minutes by default
 * @param retentionSweepBatchSize how many jobs, results or leases are deleted in one transaction; 1 to 10,000, 1,000 by
 *     default. Smaller batches hold locks for a shorter time, and fit into a shorter {@code statement_timeout}
 * @param logStreamBatchSize how many logs are deleted in one transaction, each with all its lines and event ids, some
 *     10,000 rows at most; 1 to 1,000, 10 by default
 */
public record RetentionSettings(Duration retentionSweepInterval, int retentionSweepBatchSize, int logStreamBatchSize) {
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(7);
    private static final int MOST_ROWS = 10_000;
    private static final int MOST_LOGS = 1_000;

    /** All defaults. */
    public static final RetentionSettings DEFAULT = new RetentionSettings(Duration.ofMinutes(10), 1_000, 10);

    /**
     * Checks the values.
     *
     * @param retentionSweepInterval see {@link #retentionSweepInterval()}
     * @param retentionSweepBatchSize see {@link #retentionSweepBatchSize()}
     * @param logStreamBatchSize see {@link #logStreamBatchSize()}
     * @throws IllegalArgumentException if a value is not allowed; the message says which one, what it was, what is
     *     allowed, and what to do
     */
    public RetentionSettings {
        Limits limits = new Limits("retention");
        limits.check("retentionSweepInterval", retentionSweepInterval, SHORTEST, LONGEST, "10 min");
        limits.check("retentionSweepBatchSize", retentionSweepBatchSize, MOST_ROWS, "1000");
        limits.check("logStreamBatchSize", logStreamBatchSize, MOST_LOGS, "10");
    }

    /**
     * {@return these settings with another interval}
     *
     * @param value see {@link #retentionSweepInterval()}
     */
    public RetentionSettings withRetentionSweepInterval(Duration value) {
        return new RetentionSettings(value, retentionSweepBatchSize, logStreamBatchSize);
    }

    /**
     * {@return these settings with another size of batches}
     *
     * @param value see {@link #retentionSweepBatchSize()}
     */
    public RetentionSettings withRetentionSweepBatchSize(int value) {
        return new RetentionSettings(retentionSweepInterval, value, logStreamBatchSize);
    }

    /**
     * {@return these settings with another size of batches of logs}
     *
     * @param value see {@link #logStreamBatchSize()}
     */
    public RetentionSettings withLogStreamBatchSize(int value) {
        return new RetentionSettings(retentionSweepInterval, retentionSweepBatchSize, value);
    }
}
