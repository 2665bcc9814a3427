package dev.millrace.worker;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Wakes one loop. A ring that comes while the loop is busy is kept for when it next waits; several count as one. */
final class Bell {
    private final Semaphore rung = new Semaphore(0);

    void ring() {
        if (rung.availablePermits() == 0) {
            rung.release();
        }
    }

    /** Waits for a ring, at most this long. An interrupt counts as a ring: the loop looks why it was woken. */
    @SuppressWarnings("UnusedException") // whoever interrupts a loop has told it why elsewhere
    void await(long nanos) {
        try {
            if (rung.tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
                rung.drainPermits();
            }
        } catch (InterruptedException e) {
            // the flag stays cleared: with it set, the loop's next call to the database would fail
        }
    }
}
