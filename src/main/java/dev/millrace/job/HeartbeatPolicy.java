package dev.millrace.job;

import java.time.Duration;

/**
 * How a running attempt shows that it lives.
 *
 * @param interval how often its worker beats for it; from 10 milliseconds
 * @param timeout how old the last beat may be before the attempt counts as dead; at least twice the interval, so that
 *     one lost beat costs nothing
 */
public record HeartbeatPolicy(Duration interval, Duration timeout) {
    private static final Duration SHORTEST = Duration.ofMillis(10);

    /** Every 30 seconds, dead after 90. */
    public static final HeartbeatPolicy DEFAULT = new HeartbeatPolicy(Duration.ofSeconds(30), Duration.ofSeconds(90));

    /**
     * Checks the values.
     *
     * @param interval see {@link #interval()}
     * @param timeout see {@link #timeout()}
     * @throws InvalidJobException if a value is not allowed
     */
    public HeartbeatPolicy {
        interval = Checks.duration("heartbeat.interval", interval, SHORTEST);
        timeout = Checks.duration("heartbeat.timeout", timeout, SHORTEST);
        if (timeout.compareTo(interval.multipliedBy(2)) < 0) {
            throw new InvalidJobException(
                    "heartbeat.timeout",
                    timeout + " with an interval of " + interval,
                    "at least twice the interval (three times is the default)");
        }
    }
}
