package dev.millrace.recovery;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A monotonic clock that goes only when it is told to. Starts near the end of its range, as a real one may. */
final class ManualClock implements LongSupplier {
    private static final long START = Long.MAX_VALUE - Duration.ofSeconds(5).toNanos();

    private final AtomicLong now = new AtomicLong(START);

    @Override
    public long getAsLong() {
        return now.get();
    }

    void advance(Duration time) {
        now.addAndGet(time.toNanos());
    }

    /** How long it has gone since its start. */
    Duration elapsed() {
        return Duration.ofNanos(now.get() - START);
    }
}
