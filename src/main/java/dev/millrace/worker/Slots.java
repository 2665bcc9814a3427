package dev.millrace.worker;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Who runs now, and who waits for a slot: at most as many run as the worker's concurrency allows, and of a kind as many as
 * that kind's does. Those who wait run in the order in which they were claimed, but nobody waits behind a kind that may not
 * have more.
 *
 * <p>A slot is taken when an attempt is given a thread, and free again when its handler has returned and its outcome is
 * written, or gathered to be. An attempt that loses its job while it waits leaves without having run.
 *
 * <p>Safe for use by many threads. Nothing is started under the lock.
 */
final class Slots {
    private final WorkerSettings settings;
    private final Consumer<RunningAttempt> start;
    private final Consumer<RunningAttempt> cancelled;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<RunningAttempt> waiting = new LinkedHashSet<>();
    private final Set<RunningAttempt> running = new HashSet<>();
    private final Map<String, Integer> runningOfKind = new HashMap<>();

    /**
     * @param start gives an attempt a thread; throws nothing
     * @param cancelled ends one that waits, and whose job is to be cancelled
     */
    Slots(WorkerSettings settings, Consumer<RunningAttempt> start, Consumer<RunningAttempt> cancelled) {
        this.settings = settings;
        this.start = start;
        this.cancelled = cancelled;
    }

    /** Runs these attempts, as soon as there is a slot for each. */
    void add(Collection<RunningAttempt> attempts) {
        lock.lock();
        try {
            waiting.addAll(attempts);
        } finally {
            lock.unlock();
        }
        startNext();
        attempts.forEach(this::changed); // what has changed before it was here
        attempts.stream()
                .filter(attempt -> attempt.stopReason() == StopReason.CANCELLED)
                .forEach(cancelled);
    }

    /** Nobody runs this attempt any more, or will. True if it was waiting, and so never ran. */
    boolean withdraw(RunningAttempt attempt) {
        lock.lock();
        try {
            return waiting.remove(attempt);
        } finally {
            lock.unlock();
        }
    }

    /** Something about this attempt has changed: it may wait for nothing, or have a slot that it no longer needs. */
    void changed(RunningAttempt attempt) {
        if (attempt.closed() && withdraw(attempt)) {
            attempt.runOver();
        } else if (attempt.slotFree() && freed(attempt)) {
            startNext();
        }
    }

    private boolean freed(RunningAttempt attempt) {
        lock.lock();
        try {
            if (!running.remove(attempt)) {
                return false;
            }
            runningOfKind.merge(attempt.job().kind(), -1, Integer::sum);
            return true;
        } finally {
            lock.unlock();
        }
    }

    int waiting() {
        lock.lock();
        try {
            return waiting.size();
        } finally {
            lock.unlock();
        }
    }

    private void startNext() {
        List<RunningAttempt> next = new ArrayList<>();
        lock.lock();
        try {
            Iterator<RunningAttempt> inOrder = waiting.iterator();
            while (running.size() < settings.concurrency() && inOrder.hasNext()) {
                RunningAttempt attempt = inOrder.next();
                String kind = attempt.job().kind();
                int ofKind = runningOfKind.getOrDefault(kind, 0);
                if (ofKind < settings.concurrency(kind)) {
                    inOrder.remove();
                    running.add(attempt);
                    runningOfKind.put(kind, ofKind + 1);
                    next.add(attempt);
                }
            }
        } finally {
            lock.unlock();
        }
        next.forEach(start);
    }
}
