package dev.millrace.worker;

import java.util.Collection;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The attempts that hold this worker's slots, by claim token. Not by job: a worker may claim a job again while a handler
 * of its earlier attempt still runs, and the two must not be taken for each other.
 *
 * <p>An attempt leaves when its outcome is written and its handler has returned, whichever comes last; that frees its
 * slot.
 */
final class RunningAttempts {
    private final ConcurrentMap<UUID, RunningAttempt> byToken = new ConcurrentHashMap<>();
    private final Runnable onFreeSlot;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** @param onFreeSlot called whenever a slot has become free */
    RunningAttempts(Runnable onFreeSlot) {
        this.onFreeSlot = onFreeSlot;
    }

    /** Takes a slot. False if an attempt with this token has one already. */
    boolean register(RunningAttempt attempt) {
        return byToken.putIfAbsent(attempt.claim().token(), attempt) == null;
    }

    /** To be called when something about an attempt has changed: it may be done, and someone may wait for that. */
    void changed(RunningAttempt attempt) {
        if (attempt.done() && byToken.remove(attempt.claim().token(), attempt)) {
            attempt.cancelDeadline();
            onFreeSlot.run();
        }
        changed();
    }

    /** Lets those who {@link #await} something look again. */
    void changed() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    Collection<RunningAttempt> all() {
        return byToken.values();
    }

    int count() {
        return byToken.size();
    }

    /** Whether nothing is left to write for any of them. */
    boolean allClosed() {
        return all().stream().allMatch(RunningAttempt::closed);
    }

    /** Waits until the condition holds, at most this long; it is looked at after each change. True if it holds. */
    boolean await(BooleanSupplier condition, long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = nanos;
            while (!condition.getAsBoolean()) {
                if (left <= 0) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }
}
