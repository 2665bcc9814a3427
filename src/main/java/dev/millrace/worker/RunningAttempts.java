package dev.millrace.worker;

import java.util.Collection;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The attempts that this worker has to do with, by claim token. Not by job: a worker may claim a job again while a handler
 * of its earlier attempt still runs, and the two must not be taken for each other.
 *
 * <p>An attempt leaves when its outcome is written and its handler has returned, whichever comes last. It is held, and counts
 * against the worker's concurrency, until then, or until its outcome waits among others to be written.
 */
final class RunningAttempts {
    private final ConcurrentMap<UUID, RunningAttempt> byToken = new ConcurrentHashMap<>();
    private final Consumer<RunningAttempt> onChange;
    private final AtomicInteger held = new AtomicInteger();
    private final ConcurrentMap<String, Integer> heldOfKind = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** @param onChange called whenever something about an attempt has changed */
    RunningAttempts(Consumer<RunningAttempt> onChange) {
        this.onChange = onChange;
    }

    /** False if there is an attempt with this token already. */
    boolean register(RunningAttempt attempt) {
        if (byToken.putIfAbsent(attempt.claim().token(), attempt) != null) {
            return false;
        }
        held.incrementAndGet();
        heldOfKind.merge(attempt.job().kind(), 1, Integer::sum);
        return true;
    }

    /** To be called when something about an attempt has changed: it may be done, and someone may wait for that. */
    void changed(RunningAttempt attempt) {
        if (attempt.done() && byToken.remove(attempt.claim().token(), attempt)) {
            attempt.cancelDeadline();
        }
        if (attempt.slotFree() && attempt.releaseSlot()) {
            held.decrementAndGet();
            heldOfKind.merge(attempt.job().kind(), -1, Integer::sum);
        }
        onChange.accept(attempt);
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

    /** How many of them have a slot, or wait for one. */
    int held() {
        return held.get();
    }

    /** How many of this kind have. */
    int held(String kind) {
        return heldOfKind.getOrDefault(kind, 0);
    }

    /** How many more the worker may hold, those that are claimed ahead included; negative if it has too many. */
    int free(WorkerSettings settings) {
        return settings.concurrency() + settings.prefetch() - held();
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
