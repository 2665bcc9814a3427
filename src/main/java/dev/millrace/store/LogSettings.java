package dev.millrace.store;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import java.time.Duration;

/**
 * How much of a job's log is kept, and for how long. Immutable.
 *
 * @param maxLogEntries how many lines of a job are kept, the newest: 1 to 100,000; 2,000 by default
 * @param logRetention for how long a log is kept at least after its last line, and as long as its job is active; zero or
 *     longer, seven days by default
 */
public record LogSettings(int maxLogEntries, Duration logRetention) {
    /** All defaults. */
    public static final LogSettings DEFAULT = new LogSettings(2_000, Duration.ofDays(7));

    private static final int MOST = 100_000;

    /**
     * Checks the values.
     *
     * @param maxLogEntries see {@link #maxLogEntries()}
     * @param logRetention see {@link #logRetention()}
     * @throws InvalidJobException if a value is not allowed
     */
    public LogSettings {
        if (maxLogEntries < 1 || maxLogEntries > MOST) {
            throw new InvalidJobException(
                    "maxLogEntries", String.valueOf(maxLogEntries), "a whole number from 1 to " + MOST);
        }
        logRetention = Checks.delay("logRetention", logRetention);
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
