package dev.millrace.job;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The rules under which a job runs. Null stands for the default.
 *
 * @param retry whether and when it runs again after a failure; three attempts by default
 * @param heartbeat how a running attempt shows that it lives; every 30 s, dead after 90 s by default
 * @param maxDuration how long one attempt may take, from 1 ms; an hour by default. Longer fails the job, without a retry
 * @param retention how long after its end the job is kept at least, zero or longer; seven days by default
 */
public record JobPolicies(RetryPolicy retry, HeartbeatPolicy heartbeat, Duration maxDuration, Duration retention) {
    /** The default for {@code maxDuration}. */
    public static final Duration DEFAULT_MAX_DURATION = Duration.ofHours(1);

    /** A {@code maxDuration} for jobs that run long. */
    public static final Duration LONG_RUNNING = Duration.ofHours(24);

    /** The default for {@code retention}. */
    public static final Duration DEFAULT_RETENTION = Duration.ofDays(7);

    /** All defaults. */
    public static final JobPolicies DEFAULT = new JobPolicies(null, null, null, null);

    /**
     * Checks the values, and takes the defaults for those that are null.
     *
     * @param retry see {@link #retry()}
     * @param heartbeat see {@link #heartbeat()}
     * @param maxDuration see {@link #maxDuration()}
     * @param retention see {@link #retention()}
     * @throws InvalidJobException if a value is not allowed
     */
    public JobPolicies(
            @Nullable RetryPolicy retry,
            @Nullable HeartbeatPolicy heartbeat,
            @Nullable Duration maxDuration,
            @Nullable Duration retention) {
        this.retry = retry == null ? RetryPolicy.DEFAULT : retry;
        this.heartbeat = heartbeat == null ? HeartbeatPolicy.DEFAULT : heartbeat;
        this.maxDuration = maxDuration == null
                ? DEFAULT_MAX_DURATION
                : Checks.duration("maxDuration", maxDuration, Duration.ofMillis(1));
        this.retention = retention == null ? DEFAULT_RETENTION : Checks.delay("retention", retention);
    }

    /**
     * {@return these rules with another policy of retries}
     *
     * @param value see {@link #retry()}
     */
    public JobPolicies withRetry(RetryPolicy value) {
        return new JobPolicies(value, heartbeat, maxDuration, retention);
    }

    /**
     * {@return these rules with another policy of heartbeats}
     *
     * @param value see {@link #heartbeat()}
     */
    public JobPolicies withHeartbeat(HeartbeatPolicy value) {
        return new JobPolicies(retry, value, maxDuration, retention);
    }

    /**
     * {@return these rules with another maximum duration}
     *
     * @param value see {@link #maxDuration()}
     */
    public JobPolicies withMaxDuration(Duration value) {
        return new JobPolicies(retry, heartbeat, value, retention);
    }

    /**
     * {@return these rules with another retention}
     *
     * @param value see {@link #retention()}
     */
    public JobPolicies withRetention(Duration value) {
        return new JobPolicies(retry, heartbeat, maxDuration, value);
    }
}
