package dev.millrace.recovery;

import dev.millrace.store.HeldLease;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What is done for one job, as far as its time goes. While it is in a call of a backend another thread may find that
 * this takes too long. Then the calling thread is interrupted, and the job's lease given back at once, whether the call
 * minds the interrupt or not: so the job is free for others, and whatever the call still leads to is refused by the
 * lease.
 */
final class TimedTask {
    private final LongSupplier clock;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Thread calling;
    private long calledAt;
    private boolean overdue;
    private @Nullable HeldLease lease;

    /** @param clock monotonic, in nanoseconds */
    TimedTask(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * A call of a backend, on this thread.
     *
     * @throws CallTimeoutException if it, or one before it, took too long
     */
    <T> T call(Callable<T> call) throws Exception {
        enter();
        T answer;
        try {
            answer = call.call();
        } catch (Throwable e) {
            if (leave()) {
                throw new CallTimeoutException(e);
            }
            throw e;
        }
        if (leave()) {
            throw new CallTimeoutException(null);
        }
        if (answer == null) {
            throw new IllegalStateException("The backend answered null. It has to say something, or throw.");
        }
        return answer;
    }

    /** The lease under which the task acts; null if it doesn't any more. */
    void holds(@Nullable HeldLease held) {
        lock.lock();
        try {
            lease = held;
        } finally {
            lock.unlock();
        }
    }

    /** Interrupts a call that takes longer than this. Says whether it has; once. */
    boolean interruptIfLonger(Duration timeout) {
        HeldLease held;
        lock.lock();
        try {
            Thread caller = calling;
            if (caller == null || overdue || clock.getAsLong() - calledAt < timeout.toNanos()) {
                return false;
            }
            overdue = true;
            caller.interrupt();
            held = lease;
        } finally {
            lock.unlock();
        }
        if (held != null) {
            giveBack(held);
        }
        return true;
    }

    /** On a thread of its own: the store may not answer, and then the lease runs out by itself. */
    private static void giveBack(HeldLease held) {
        Thread thread = new Thread(held::close, "millrace-lease-of-overdue-call");
        thread.setDaemon(true);
        thread.start();
    }

    boolean isOverdue() {
        lock.lock();
        try {
            return overdue;
        } finally {
            lock.unlock();
        }
    }

    private void enter() {
        lock.lock();
        try {
            if (overdue) {
                throw new CallTimeoutException(null);
            }
            calling = Thread.currentThread();
            calledAt = clock.getAsLong();
        } finally {
            lock.unlock();
        }
    }

    /** Whether the call took too long. Its interrupt, which is ours, stays with it. */
    private boolean leave() {
        lock.lock();
        try {
            calling = null;
            if (overdue) {
                Thread.interrupted();
            }
            return overdue;
        } finally {
            lock.unlock();
        }
    }

    /** A call of a backend took too long. */
    static final class CallTimeoutException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        CallTimeoutException(@Nullable Throwable cause) {
            super(
                    "A call of the backend took longer than callTimeout, and was interrupted. What it was to do comes"
                            + " again.",
                    cause);
        }
    }
}
