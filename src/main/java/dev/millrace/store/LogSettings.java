package dev.millrace.store;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * How much of a job's log is kept, and for how long. Immutable.
 *
 * @param maxLogEntries how many lines of a job are kept, the newest: 1 to 100,000; 2,000 by default
 * @param logRetention for how long a log is kept at least after its last line, and as long as its job is active; zero or
 *     longer, at most a century; seven days by default
 */
public record LogSettings(int maxLogEntries, Duration logRetention) {
    private static final int DEFAULT_ENTRIES = 2_000;
    private static final Duration DEFAULT_RETENTION = Duration.ofDays(7);
    private static final int MOST = 100_000;
    private static final Duration LONGEST = Duration.ofDays(36_525);

    /** All defaults. */
    public static final LogSettings DEFAULT = new LogSettings(DEFAULT_ENTRIES, DEFAULT_RETENTION);

    /**
     * Checks the values.
     *
     * @param maxLogEntries see {@link #maxLogEntries()}
     * @param logRetention see {@link #logRetention()}
     * @throws IllegalArgumentException if a value is not allowed; the message says which one, what it was, what is
     *     allowed, and what to do
     */
    public LogSettings {
        if (maxLogEntries < 1 || maxLogEntries > MOST) {
            throw refused("maxLogEntries", maxLogEntries, "a whole number from 1 to " + MOST, DEFAULT_ENTRIES);
        }
        if (logRetention == null || logRetention.isNegative() || logRetention.compareTo(LONGEST) > 0) {
            throw refused(
                    "logRetention",
                    logRetention,
                    "a duration from " + Duration.ZERO + " to " + LONGEST,
                    DEFAULT_RETENTION);
        }
        logRetention = logRetention.truncatedTo(ChronoUnit.MICROS);
    }

    private static IllegalArgumentException refused(String name, @Nullable Object found, String allowed, Object usual) {
        return new IllegalArgumentException("Invalid log setting " + name + ": found " + found + ", allowed is "
                + allowed + ". Set it within these limits, or leave it at its default of " + usual + ".");
    }

    /**
     * {@return these settings with another number of lines}
     *
     * @param value see {@link #maxLogEntries()}
     */
    public LogSettings withMaxLogEntries(int value) {
        return new LogSettings(value, logRetention);
    }

    /**
     * {@return these settings with another retention}
     *
     * @param value see {@link #logRetention()}
     */
    public LogSettings withLogRetention(Duration value) {
        return new LogSettings(maxLogEntries, value);
    }
}
