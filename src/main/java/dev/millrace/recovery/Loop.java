package dev.millrace.recovery;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A step that is repeated on a daemon thread of its own until it is stopped. Nothing that the step throws ends it, not
 * even an {@link Error}: it is logged, and the step comes again after a while.
 */
final class Loop {
    /** One round. */
    @FunctionalInterface
    interface Step {
        /** Does what is to be done, and says how long to wait until the next round. */
        Duration run();
    }

    private static final Duration AFTER_THROW = Duration.ofSeconds(1);
    private static final Logger LOG = LoggerFactory.getLogger(Loop.class);

    private final String name;
    private final Step step;
    private final Semaphore wakeUps = new Semaphore(0);
    private final ReentrantLock lifecycle = new ReentrantLock();
    private volatile boolean stopped;
    private @Nullable Thread thread;

    Loop(String name, Step step) {
        this.name = name;
        this.step = step;
    }

    /** Starts it, once; has no effect later, or after it was stopped. */
    void start() {
        lifecycle.lock();
        try {
            if (thread == null && !stopped) {
                thread = new Thread(this::rounds, name);
                thread.setDaemon(true);
                thread.start();
            }
        } finally {
            lifecycle.unlock();
        }
    }

    /** The next round comes at once. */
    void wakeUp() {
        wakeUps.release();
    }

    /** No further round begins. Doesn't wait for the one that runs. */
    void stop() {
        stopped = true;
        wakeUp();
    }

    /**
     * Waits until a stopped loop has ended.
     *
     * @param patience how long to wait for the round that runs, before and again after it is interrupted
     * @return whether it has ended
     */
    boolean awaitEnd(Duration patience) {
        return awaitEnds(patience, this);
    }

    /** The same for several: they are waited for together, so that their waits don't add up. */
    static boolean awaitEnds(Duration patience, Loop... loops) {
        try {
            if (endWithin(patience, loops)) {
                return true;
            }
            for (Loop loop : loops) {
                loop.interrupt();
            }
            return endWithin(patience, loops);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static boolean endWithin(Duration patience, Loop... loops) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        boolean ended = true;
        for (Loop loop : loops) {
            Thread running = loop.thread();
            if (running != null && running != Thread.currentThread()) {
                running.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime())));
                ended &= !running.isAlive();
            }
        }
        return ended;
    }

    private void interrupt() {
        Thread running = thread();
        if (running != null && running != Thread.currentThread()) {
            running.interrupt();
        }
    }

    /** Whether it runs: it was started, and has not ended. */
    boolean alive() {
        Thread running = thread();
        return running != null && running.isAlive();
    }

    private @Nullable Thread thread() {
        lifecycle.lock();
        try {
            return thread;
        } finally {
            lifecycle.unlock();
        }
    }

    private void rounds() {
        while (!stopped) {
            try {
                pause(round());
            } catch (Throwable e) {
                logQuietly(e);
            }
        }
    }

    private Duration round() {
        try {
            return step.run();
        } catch (Throwable e) {
            logQuietly(e);
            return AFTER_THROW;
        }
    }

    private void logQuietly(Throwable failure) {
        try {
            LOG.error("{} met something unexpected, and goes on in {}.", name, DurationText.of(AFTER_THROW), failure);
        } catch (Throwable e) {
            // A logger may fail for the reason that it should report, such as too little memory. The loop must not.
            failure.addSuppressed(e);
        }
    }

    private void pause(Duration time) {
        try {
            if (wakeUps.tryAcquire(time.toNanos(), TimeUnit.NANOSECONDS)) {
                wakeUps.drainPermits();
            }
        } catch (InterruptedException e) {
            // An interrupt of someone who doesn't own this thread: it is no reason to end, only stop() is.
            LOG.debug("{} was interrupted, and goes on.", name);
        }
    }
}
