package dev.millrace.recovery;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The threads on which jobs are acted on: for each backend so many and no more, so that one which hangs keeps only its
 * own jobs waiting. Jobs wait in the order in which they were given, each only once: one that is waiting, or in hand,
 * is not taken again. So what waits is bounded by the number of jobs, and whoever was passed over comes before whoever
 * has had his turn.
 */
final class BackendWork {
    private static final long IDLE_SECONDS = 10;
    private static final long LOOK_MILLIS = 50;

    private final int threads;
    private final Duration callTimeout;
    private final LongSupplier clock;
    private final Map<String, ThreadPoolExecutor> executors = new HashMap<>();
    private final Map<String, TimedTask> inHand = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition allEnded = lock.newCondition();
    private boolean closed;

    BackendWork(int threads, Duration callTimeout, LongSupplier clock) {
        this.threads = threads;
        this.callTimeout = callTimeout;
        this.clock = clock;
    }

    /**
     * Has this done by a thread of the backend.
     *
     * @param backend whose thread; any name for what calls none
     * @param key of whom there is one at a time
     * @param act throws nothing
     * @return whether it was taken; false if there is one of this key, or it is closed
     */
    boolean give(String backend, String key, Consumer<TimedTask> act) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            TimedTask task = new TimedTask(clock);
            if (inHand.putIfAbsent(key, task) != null) {
                return false;
            }
            try {
                executors.computeIfAbsent(backend, this::executor).execute(() -> run(key, task, act));
            } catch (Throwable e) { // no thread to be had
                inHand.remove(key);
                throw e;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void run(String key, TimedTask task, Consumer<TimedTask> act) {
        try {
            if (!isClosed()) {
                act.accept(task);
            }
        } finally {
            lock.lock();
            try {
                inHand.remove(key);
                if (inHand.isEmpty()) {
                    allEnded.signalAll();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private ThreadPoolExecutor executor(String backend) {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                threads, threads, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "millrace-backend-" + backend);
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** Interrupts calls of backends that take too long, and says how many have begun to. */
    int interruptOverdue() {
        int overdue = 0;
        for (TimedTask task : inHand.values()) {
            overdue += task.interruptIfLonger(callTimeout) ? 1 : 0;
        }
        return overdue;
    }

    /**
     * Waits until all is done that was given, but for calls that take too long. Looks for those every now and then, not at
     * each end: each look goes through all that is in hand.
     *
     * @param patience how long to wait in all
     * @return how many calls have begun to take too long meanwhile
     */
    int awaitEnd(Duration patience) throws InterruptedException {
        long until = clock.getAsLong() + patience.toNanos();
        int overdue = 0;
        lock.lock();
        try {
            while (inHand.values().stream().anyMatch(task -> !task.isOverdue()) && clock.getAsLong() - until < 0) {
                allEnded.await(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                lock.unlock(); // what is given back meanwhile takes a statement
                try {
                    overdue += interruptOverdue();
                } finally {
                    lock.lock();
                }
            }
        } finally {
            lock.unlock();
        }
        return overdue;
    }

    int inHand() {
        return inHand.size();
    }

    int overdue() {
        return (int) inHand.values().stream().filter(TimedTask::isOverdue).count();
    }

    /**
     * Begins nothing more, waits for what runs, and interrupts the backends' calls that take longer. Says whether all
     * has ended.
     *
     * @param patience how long to wait, before and again after the interrupts, for all together
     */
    boolean close(Duration patience) {
        lock.lock();
        try {
            closed = true;
            executors.values().forEach(ThreadPoolExecutor::shutdown);
        } finally {
            lock.unlock();
        }
        try {
            awaitEnd(patience);
            inHand.values().forEach(task -> task.interruptIfLonger(Duration.ZERO));
            return awaitAll(patience);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private boolean awaitAll(Duration patience) throws InterruptedException {
        lock.lock();
        try {
            long left = patience.toNanos();
            while (!inHand.isEmpty() && left > 0) {
                left = allEnded.awaitNanos(left);
            }
            return inHand.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }
}
