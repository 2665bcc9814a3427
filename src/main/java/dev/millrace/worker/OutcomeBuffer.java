package dev.millrace.worker;

import java.time.Duration;

/**
 * How many outcomes a worker gathers before it writes them together, in one statement rather than in one for each. While
 * outcomes are gathered their jobs are beaten for, but their slots are free. If the worker is killed, jobs whose outcomes were
 * not written run once more: never is a job shown as done that isn't.
 *
 * @param size how many outcomes are written together at most: 1 to 10,000; with 1, nothing is gathered and each outcome is
 *     written by itself. When so many wait, they are written; up to twice as many may be unwritten, and who comes then waits with
 *     its slot
 * @param delay how long the first of them waits for others at most: 1 ms to 10 s. One that is left over when the others are written may
 *     wait for as long again
 */
public record OutcomeBuffer(int size, Duration delay) {
    /** Each outcome is written by itself, as soon as it is known. */
    public static final OutcomeBuffer NONE = new OutcomeBuffer(1, Duration.ofMillis(1));

    private static final int MAX_SIZE = 10_000;

    /**
     * Checks the values.
     *
     * @param size see {@link #size()}
     * @param delay see {@link #delay()}
     * @throws InvalidWorkerException if a value is not allowed
     */
    public OutcomeBuffer {
        if (size < 1 || size > MAX_SIZE) {
            throw new InvalidWorkerException(
                    "outcomeBuffer.size",
                    String.valueOf(size),
                    "a whole number from 1 to " + MAX_SIZE,
                    size < 1
                            ? "With 1 nothing is gathered: each outcome is written by itself."
                            : "So many are written in several statements anyway.");
        }
        SettingChecks.duration("outcomeBuffer.delay", delay, Duration.ofMillis(1), Duration.ofSeconds(10));
    }

    boolean gathers() {
        return size > 1;
    }
}
