package dev.millrace.store;

import java.time.Duration;

/**
 * How a {@link HeldLease} is held. Immutable.
 *
 * @param duration how long a lease lasts without being renewed, which is how long others wait for it after its holder has
 *     died; 100 ms to a day, 30 s by default
 * @param renewInterval how often it is renewed; 10 ms to half of {@code duration}, so that a renewal has as long again
 *     for its repetitions; 10 s by default
 */
public record LeaseSettings(Duration duration, Duration renewInterval) {
    /** All defaults. */
    public static final LeaseSettings DEFAULT = new LeaseSettings(Duration.ofSeconds(30), Duration.ofSeconds(10));

    /**
     * Checks the values.
     *
     * @param duration see {@link #duration()}
     * @param renewInterval see {@link #renewInterval()}
     * @throws IllegalArgumentException if a value is not allowed; the message says which one, what it was, what is
     *     allowed, and what to do
     */
    public LeaseSettings {
        check("duration", duration, Duration.ofMillis(100), Duration.ofDays(1), "");
        check(
                "renewInterval",
                renewInterval,
                Duration.ofMillis(10),
                duration.dividedBy(2),
                ", which is half of the lease's duration");
    }

    private static void check(String name, Duration value, Duration least, Duration most, String why) {
        if (value == null || value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException("Invalid lease setting " + name + ": found " + value
                    + ", allowed is a duration from " + least + " to " + most + why
                    + ". Set it within these limits; the defaults are a duration of 30 s and an interval of 10 s.");
        }
    }
}
