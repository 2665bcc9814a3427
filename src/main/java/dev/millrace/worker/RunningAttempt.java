package dev.millrace.worker;

import dev.millrace.job.Job;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Completion;
import dev.millrace.store.Finish;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One claim, from the moment that this worker has it until its slot is free again.
 *
 * <p>Two things go on side by side, and the slot is free when both are over:
 *
 * <pre>
 *   the run      WAITING -> RUNNING -> OVER      the handler, on a thread that can be asked to stop, not made to
 *   the ending   OPEN -> DECIDED -> CLOSED       what becomes of the job
 * </pre>
 *
 * The ending is decided once, by whoever comes first: the handler's return, the timeout, a cancellation before the start,
 * or the shutdown. Who decided it has it written ({@link Outcomes}) and then closed. A lost attempt's ending is closed at
 * once: there is nothing to write. From then on whatever the handler still does is ignored here and refused by the
 * database, and all that its thread holds is the slot.
 *
 * <p>Interrupts reach the thread only between {@link #begin} and {@link #leave}, while the handler runs on it. So neither
 * the writing of the outcome nor the next job on a pooled thread is ever hit by one.
 *
 * <p>Safe for use by many threads. The lock is held for a few assignments only, never during I/O.
 */
final class RunningAttempt {
    private enum Run {
        WAITING,
        RUNNING,
        OVER
    }

    private enum Ending {
        OPEN,
        DECIDED,
        CLOSED
    }

    private final Claim claim;
    private final Attempt attempt;
    private final Ticker ticker;
    private final long claimedAt;
    private final Consumer<RunningAttempt> onChange;
    private final BeatSchedule beats;
    private final AttemptNotes notes = new AttemptNotes();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition endingChanged = lock.newCondition();
    private Run run = Run.WAITING;
    private Ending ending = Ending.OPEN;
    private @Nullable Finish finish;
    private @Nullable Thread thread;
    private @Nullable Future<?> deadline;
    private volatile @Nullable StopReason stopReason;
    private volatile long stoppedAt;
    private volatile boolean completing;
    private volatile boolean gathered;
    private final AtomicBoolean released = new AtomicBoolean();
    private volatile long startDueAt = Long.MAX_VALUE;
    private volatile long begunAt = -1;
    private volatile long decidedAt = -1;

    /**
     * @param claimedAt when the claim was asked for, by the ticker: it is no older than that
     * @param onChange called, without the lock, when the ending was closed and when the run was over
     */
    RunningAttempt(Claim claim, Ticker ticker, long claimedAt, Consumer<RunningAttempt> onChange) {
        this.claim = claim;
        this.attempt = claim.attempt();
        this.ticker = ticker;
        this.claimedAt = claimedAt;
        this.onChange = onChange;
        this.beats = new BeatSchedule(claim.job().policies().heartbeat(), claimedAt);
    }

    Claim claim() {
        return claim;
    }

    Attempt attempt() {
        return attempt;
    }

    Job job() {
        return claim.job();
    }

    /** The number of the attempt, forgiven ones included. */
    int number() {
        return job().state().attemptCount();
    }

    BeatSchedule beats() {
        return beats;
    }

    AttemptNotes notes() {
        return notes;
    }

    // The run.

    /** The handler is about to run on this thread. False if it must not: the ending is decided, or it should stop. */
    boolean begin() {
        return locked(() -> {
            if (run != Run.WAITING || ending != Ending.OPEN || stopReason != null) {
                return false;
            }
            run = Run.RUNNING;
            begunAt = ticker.now();
            thread = Thread.currentThread();
            return true;
        });
    }

    /** The handler has returned: no interrupt reaches this thread any more, and one that has is cleared. */
    @SuppressWarnings("ResultOfMethodCallIgnored")
    void leave() {
        locked(() -> thread = null);
        Thread.interrupted();
    }

    /** Nothing runs for this attempt any more. */
    void runOver() {
        locked(() -> run = Run.OVER);
        onChange.accept(this);
    }

    boolean waiting() {
        return locked(() -> run == Run.WAITING);
    }

    boolean runsOn(Thread candidate) {
        return locked(() -> thread == candidate);
    }

    /** The handler runs without that the database knows: it is to be told at this time, if the handler still runs then. */
    void startIsDue(long at) {
        startDueAt = at;
    }

    /** The database knows that the handler runs. */
    void startIsKnown() {
        startDueAt = Long.MAX_VALUE;
    }

    /** When the database is to be told that the handler runs; never, if it knows. */
    long startDueAt() {
        return startDueAt;
    }

    // The ending.

    /** Decides the ending, unless that was done before. True if this call did: then the caller has it written. */
    boolean decide(Finish how) {
        return decide(how, null);
    }

    /** The same, and asks the handler to stop, in one step. */
    boolean decide(Finish how, @Nullable StopReason why) {
        return locked(() -> {
            if (ending != Ending.OPEN) {
                return false;
            }
            ending = Ending.DECIDED;
            decidedAt = ticker.now();
            finish = how;
            if (why != null) {
                raise(why);
            }
            endingChanged.signalAll();
            return true;
        });
    }

    /** What was decided. */
    Finish decided() {
        return locked(() -> {
            if (finish == null) {
                throw new IllegalStateException("The ending of " + this + " is not decided");
            }
            return finish;
        });
    }

    /** What was decided, with what the handler has noted until now. */
    Completion completion() {
        return new Completion(claim, decided(), notes.now());
    }

    /**
     * The handler has ended the attempt in a transaction of its own, which may be committed at any time from now on, or not at
     * all: the job's row tells.
     */
    void completing() {
        completing = true;
    }

    boolean isCompleting() {
        return completing;
    }

    /** Whatever was decided, the handler's own transaction had ended the attempt before. */
    void hasSucceeded() {
        locked(() -> finish = new Finish.Succeed());
    }

    /** The handler's own transaction has ended the attempt: there is nothing to write any more. False if that is no news. */
    boolean completed() {
        boolean news = locked(() -> {
            if (ending != Ending.OPEN) {
                return false;
            }
            finish = new Finish.Succeed();
            ending = Ending.CLOSED;
            decidedAt = ticker.now();
            endingChanged.signalAll();
            return true;
        });
        if (news) {
            onChange.accept(this);
        }
        return news;
    }

    /** The ending was written, refused or given up. */
    void closeEnding() {
        locked(() -> ending = Ending.CLOSED);
        onChange.accept(this);
    }

    /**
     * The job is no longer this attempt's. False if that is no news: once an ending is being written the job's row may
     * well show it before its writer knows, and what becomes of it is the writer's to find out.
     */
    boolean lose() {
        boolean news = locked(() -> {
            if (ending != Ending.OPEN) {
                return false;
            }
            ending = Ending.CLOSED;
            decidedAt = ticker.now();
            raise(StopReason.LOST);
            endingChanged.signalAll();
            return true;
        });
        if (news) {
            onChange.accept(this);
        }
        return news;
    }

    /** Whether the ending is still to be decided. */
    boolean open() {
        return locked(() -> ending == Ending.OPEN);
    }

    /** Whether there is nothing left to write for this attempt. */
    boolean closed() {
        return locked(() -> ending == Ending.CLOSED);
    }

    /** Whether both are over and the slot is free. */
    boolean done() {
        return locked(() -> ending == Ending.CLOSED && run == Run.OVER);
    }

    /** Its outcome waits to be written together with others. */
    void gathered() {
        gathered = true;
        onChange.accept(this);
    }

    /** Whether it needs no slot any more: nothing runs for it, and its outcome is written, or waits among others. */
    boolean slotFree() {
        return locked(() -> run == Run.OVER && (ending == Ending.CLOSED || gathered));
    }

    /** Gives the slot up. True the first time. */
    boolean releaseSlot() {
        return released.compareAndSet(false, true);
    }

    /** Whether all is written and the handler runs on all the same. */
    boolean lingering() {
        return locked(() -> ending == Ending.CLOSED && run == Run.RUNNING);
    }

    /** Waits until the ending is decided, at most this long. A stray interrupt ends the wait and is cleared. */
    @SuppressWarnings("UnusedException") // an earlier job on this thread may have left it; who waits looks again
    void awaitEnding(long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (left > 0 && ending == Ending.OPEN) {
                left = endingChanged.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            // cleared
        } finally {
            lock.unlock();
        }
    }

    // Stopping.

    /** Asks the handler to stop: a flag and, once for each reason, an interrupt. True if the reason is new. */
    boolean stop(StopReason why) {
        return locked(() -> ending == Ending.OPEN && raise(why));
    }

    @Nullable
    StopReason stopReason() {
        return stopReason;
    }

    /** The thread of a handler that was asked to stop this long ago and runs all the same; null if there is none. */
    @Nullable
    Thread ignoresStop(long patience) {
        return locked(() -> stopReason != null && ticker.now() - stoppedAt >= patience ? thread : null);
    }

    private boolean raise(StopReason why) {
        StopReason before = stopReason;
        if (before != null && before.compareTo(why) >= 0) {
            return false;
        }
        stopReason = why;
        stoppedAt = ticker.now();
        if (thread != null) {
            thread.interrupt();
        }
        return true;
    }

    // Time.

    /** When the attempt will have taken longer than the job allows, by the ticker. */
    long timeoutAt() {
        return claimedAt + job().policies().maxDuration().toNanos();
    }

    boolean timedOut() {
        return ticker.now() >= timeoutAt();
    }

    /** How long this worker has had the claim. */
    Duration sinceClaim() {
        return Duration.ofNanos(ticker.now() - claimedAt);
    }

    /** From the handler's start until the ending was decided; zero if it was not started. */
    Duration ran() {
        long from = begunAt;
        long until = decidedAt;
        return from < 0 ? Duration.ZERO : Duration.ofNanos(Math.max(0, (until < 0 ? ticker.now() : until) - from));
    }

    /** What will strike at the deadline; cancelled with the attempt. */
    void deadline(Future<?> value) {
        locked(() -> deadline = value);
    }

    void cancelDeadline() {
        Future<?> future = locked(() -> deadline);
        if (future != null) {
            future.cancel(false);
        }
    }

    @Override
    public String toString() {
        return "attempt " + number() + " of job \"" + job().id() + "\" (" + job().kind() + ")";
    }

    private <T extends @Nullable Object> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }
}
