package dev.millrace.worker;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of one worker, named after it.
 *
 * <p>Handlers run on virtual threads where the JVM has them, otherwise on a pool of as many threads as there are slots.
 * All else runs on platform threads: handlers that compute and never block would keep virtual ones from running, and
 * beats, deadlines and outcomes must not wait for handlers.
 *
 * <p>All of them are daemons, so that a handler that ignores its interrupt keeps no JVM from ending. One is not: the
 * lifecycle's, which keeps the JVM running from the worker's start until it is closed.
 */
final class WorkerThreads {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerThreads.class);
    private static final long IDLE_SECONDS = 30;
    private static final long AFTER_THROW_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final String prefix;
    private final Executor handlers;
    private final ThreadPoolExecutor outcomes;
    private final Runnable stopHandlers;
    private volatile boolean loopEnded;

    WorkerThreads(String worker, int concurrency) {
        this.prefix = "millrace-" + worker + "-";
        this.outcomes = pool("outcome-", concurrency);
        ThreadFactory virtual = VirtualThreads.named(prefix + "handler-").orElse(null);
        if (virtual == null) {
            ThreadPoolExecutor pool = pool("handler-", concurrency);
            this.handlers = pool;
            this.stopHandlers = pool::shutdown;
        } else {
            this.handlers = task -> virtual.newThread(task).start();
            this.stopHandlers = () -> {};
        }
    }

    /** Runs handlers. There are never more tasks than slots, so none waits long for a thread. */
    Executor handlers() {
        return handlers;
    }

    /** Writes outcomes that can't be written on a handler's thread: at most one for each slot. */
    Executor outcomes() {
        return outcomes;
    }

    /** A thread for one of the worker's loops. What the loop throws doesn't end it: it begins anew after a moment. */
    Thread loop(String role, Runnable task) {
        return daemon(prefix + role, () -> {
            try {
                untilItReturns(prefix + role, task);
            } finally {
                loopEnded = true;
            }
        });
    }

    /** A thread for something that is done once. */
    Thread once(String role, Runnable task) {
        return daemon(prefix + role, task);
    }

    /** Whether one of the loops has ended, as all do once they are stopped. */
    boolean loopEnded() {
        return loopEnded;
    }

    private static void untilItReturns(String name, Runnable task) {
        while (true) {
            try {
                task.run();
                return;
            } catch (Throwable e) {
                Failures.survive(() -> LOG.error("{} met something unexpected, and begins anew.", name, e));
                Failures.survive(() -> LockSupport.parkNanos(AFTER_THROW_NANOS));
            }
        }
    }

    /** A factory for the one thread of a timer. */
    ThreadFactory timer(String role) {
        return task -> daemon(prefix + role, task);
    }

    /** The thread that keeps the JVM running while the worker is open. */
    Thread lifecycle(Runnable task) {
        Thread thread = new Thread(task, prefix + "lifecycle");
        thread.setDaemon(false);
        return thread;
    }

    /** No more tasks; idle threads end. */
    void stop() {
        stopHandlers.run();
        outcomes.shutdown();
    }

    private ThreadPoolExecutor pool(String role, int size) {
        AtomicInteger number = new AtomicInteger();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                size,
                size,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                task -> daemon(prefix + role + number.getAndIncrement(), task));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    private static Thread daemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }
}
