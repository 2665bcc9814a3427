package dev.millrace.worker;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Notices that the machine was suspended: then the ticker may have stood still while time went on everywhere else, and what
 * seems to be of a moment ago is not. The wall clock tells, as it has moved by more than the ticker; one that was set looks the
 * same, and does no harm.
 *
 * <p>Safe for use by many threads.
 */
final class Suspensions {
    private static final long NOTICED = TimeUnit.MILLISECONDS.toNanos(100);

    private final Ticker ticker;
    private final LongSupplier wallMillis;
    private long difference;
    private long noticedAt = Long.MIN_VALUE;

    /** @param wallMillis the wall clock */
    Suspensions(Ticker ticker, LongSupplier wallMillis) {
        this.ticker = ticker;
        this.wallMillis = wallMillis;
        this.difference = difference();
    }

    /** Whether none came between this time, which is not before the last question, and now. In doubt there was one. */
    synchronized boolean noneSince(long time) {
        long now = difference();
        if (Math.abs(now - difference) > NOTICED) {
            noticedAt = ticker.now();
        }
        difference = now;
        return noticedAt < time;
    }

    private long difference() {
        return TimeUnit.MILLISECONDS.toNanos(wallMillis.getAsLong()) - ticker.now();
    }
}
