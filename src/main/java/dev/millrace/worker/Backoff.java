package dev.millrace.worker;

import java.util.concurrent.TimeUnit;

/** How long to wait after each failure in a row: 0.2, 0.5, 1 and 2 seconds, and 2 seconds from then on. */
final class Backoff {
    private static final long[] MILLIS = {200, 500, 1_000, 2_000};

    private int failures;

    /** Nanoseconds to wait after one more failure. */
    long next() {
        long millis = MILLIS[Math.min(failures, MILLIS.length - 1)];
        failures++;
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /** How many failures there were in a row. */
    int failures() {
        return failures;
    }

    void reset() {
        failures = 0;
    }
}
