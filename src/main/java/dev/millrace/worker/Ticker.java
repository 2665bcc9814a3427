package dev.millrace.worker;

/**
 * Monotonic time in nanoseconds since it was started. Wall clocks are set back and forth, so no length of time is ever
 * measured by them; and since this one starts at zero it doesn't overflow, and may be compared and added to.
 */
@FunctionalInterface
interface Ticker {
    long now();

    static Ticker started() {
        long origin = System.nanoTime();
        return () -> System.nanoTime() - origin;
    }
}
