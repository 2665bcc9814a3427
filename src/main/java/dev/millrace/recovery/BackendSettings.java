package dev.millrace.recovery;

import dev.millrace.store.LeaseSettings;
import java.time.Duration;

/**
 * How a {@link BackendReconciler} works. Immutable.
 *
 * @param backendSweepInterval from the start of one sweep to that of the next, less up to a quarter at random; 10 ms to a
 *     day, 5 s by default. A queued
 *     job waits this long at most before it is started, and so does a cancellation request
 * @param lease how long the lease for one job lasts without being renewed, which is how long its job waits after its
 *     holder has died, and how often it is renewed; 30 s and 10 s by default
 * @param batchSize how many jobs are read in one statement; 1 to 10,000, 1,000 by default
 * @param concurrency how many jobs are acted on at a time, for each backend; 1 to 256, 8 by default. A backend that
 *     doesn't answer keeps as many threads busy, and none of another one's
 * @param callTimeout how long a call of a backend may take until its thread is interrupted and its job is free for
 *     others; 10 ms to an hour, 30 s by default
 * @param missingBackendGrace how long no process that has a backend must have been seen until jobs of that backend
 *     fail; zero to a week, 60 s by default. After the end of a process that had it another one that has it is seen
 *     within half of {@code lease}, or one and a half intervals if that is longer: with less than that its
 *     jobs may fail meanwhile
 * @param resultRetention how long the result of a job can be read; zero or longer, at most a century, seven days by
 *     default
 */
public record BackendSettings(
        Duration backendSweepInterval,
        LeaseSettings lease,
        int batchSize,
        int concurrency,
        Duration callTimeout,
        Duration missingBackendGrace,
        Duration resultRetention) {
    /** All defaults. */
    public static final BackendSettings DEFAULT = new BackendSettings(
            Duration.ofSeconds(5),
            LeaseSettings.DEFAULT,
            1_000,
            8,
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            Duration.ofDays(7));

    private static final int MAX_BATCH_SIZE = 10_000;
    private static final int MAX_CONCURRENCY = 256;

    /**
     * Checks the values.
     *
     * @param backendSweepInterval see {@link #backendSweepInterval()}
     * @param lease see {@link #lease()}
     * @param batchSize see {@link #batchSize()}
     * @param concurrency see {@link #concurrency()}
     * @param callTimeout see {@link #callTimeout()}
     * @param missingBackendGrace see {@link #missingBackendGrace()}
     * @param resultRetention see {@link #resultRetention()}
     * @throws IllegalArgumentException if a value is not allowed; the message says which one, what it was, what is
     *     allowed, and what to do
     */
    public BackendSettings {
        Limits limits = new Limits("backend");
        limits.check("backendSweepInterval", backendSweepInterval, Duration.ofMillis(10), Duration.ofDays(1), "5 s");
        if (lease == null) {
            throw limits.refused("lease", "null", "lease settings", "30 s, renewed every 10 s");
        }
        limits.check("batchSize", batchSize, MAX_BATCH_SIZE, "1,000");
        limits.check("concurrency", concurrency, MAX_CONCURRENCY, "8");
        limits.check("callTimeout", callTimeout, Duration.ofMillis(10), Duration.ofHours(1), "30 s");
        limits.check("missingBackendGrace", missingBackendGrace, Duration.ZERO, Duration.ofDays(7), "60 s");
        limits.check("resultRetention", resultRetention, Duration.ZERO, Duration.ofDays(36_525), "7 d");
    }

    /**
     * {@return these settings with another interval}
     *
     * @param value see {@link #backendSweepInterval()}
     */
    public BackendSettings withBackendSweepInterval(Duration value) {
        return new BackendSettings(
                value, lease, batchSize, concurrency, callTimeout, missingBackendGrace, resultRetention);
    }

    /**
     * {@return these settings with other leases}
     *
     * @param value see {@link #lease()}
     */
    public BackendSettings withLease(LeaseSettings value) {
        return new BackendSettings(
                backendSweepInterval, value, batchSize, concurrency, callTimeout, missingBackendGrace, resultRetention);
    }

    /**
     * {@return these settings with another size of batches}
     *
     * @param value see {@link #batchSize()}
     */
    public BackendSettings withBatchSize(int value) {
        return new BackendSettings(
                backendSweepInterval, lease, value, concurrency, callTimeout, missingBackendGrace, resultRetention);
    }

    /**
     * {@return these settings with another concurrency}
     *
     * @param value see {@link #concurrency()}
     */
    public BackendSettings withConcurrency(int value) {
        return new BackendSettings(
                backendSweepInterval, lease, batchSize, value, callTimeout, missingBackendGrace, resultRetention);
    }

    /**
     * {@return these settings with another limit of calls}
     *
     * @param value see {@link #callTimeout()}
     */
    public BackendSettings withCallTimeout(Duration value) {
        return new BackendSettings(
                backendSweepInterval, lease, batchSize, concurrency, value, missingBackendGrace, resultRetention);
    }

    /**
     * {@return these settings with another grace for missing backends}
     *
     * @param value see {@link #missingBackendGrace()}
     */
    public BackendSettings withMissingBackendGrace(Duration value) {
        return new BackendSettings(
                backendSweepInterval, lease, batchSize, concurrency, callTimeout, value, resultRetention);
    }

    /**
     * {@return these settings with another retention of results}
     *
     * @param value see {@link #resultRetention()}
     */
    public BackendSettings withResultRetention(Duration value) {
        return new BackendSettings(
                backendSweepInterval, lease, batchSize, concurrency, callTimeout, missingBackendGrace, value);
    }
}
