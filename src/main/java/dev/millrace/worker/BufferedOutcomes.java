package dev.millrace.worker;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathers outcomes and has them written together: when the first of them has waited for the buffer's delay, when so many wait
 * as the buffer's size, or at once when the worker closes. One thread writes; while it does, as many again may be gathered,
 * and whoever comes then waits, with its slot, until there is room. So no more than twice the buffer's size is ever unwritten.
 *
 * <p>An attempt whose outcome waits here has no slot any more, but is still beaten for, so its job is nobody else's. If the process
 * ends before the outcome is written, the job runs again by the expiry of its heartbeat.
 */
final class BufferedOutcomes implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(BufferedOutcomes.class);

    private final int size;
    private final long delay;
    private final Ticker ticker;
    private final Consumer<List<RunningAttempt>> writer;
    private final Semaphore room;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<RunningAttempt> gathered = new ArrayDeque<>();
    private final Set<RunningAttempt> unwritten = ConcurrentHashMap.newKeySet();
    private long firstAt;
    private boolean hurried;
    private boolean stopped;

    /** @param writer writes outcomes, however often it takes, and closes their endings; throws nothing */
    BufferedOutcomes(OutcomeBuffer settings, Ticker ticker, Consumer<List<RunningAttempt>> writer) {
        this.size = settings.size();
        this.delay = settings.delay().toNanos();
        this.ticker = ticker;
        this.writer = writer;
        this.room = new Semaphore(2 * size);
    }

    /** Takes an outcome that was decided, as soon as there is room for it. False if it is too late for that. */
    boolean add(RunningAttempt attempt) {
        room.acquireUninterruptibly();
        lock.lock();
        try {
            if (stopped) {
                room.release();
                return false;
            }
            if (gathered.isEmpty()) {
                firstAt = ticker.now();
            }
            unwritten.add(attempt);
            gathered.add(attempt);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        attempt.gathered();
        return true;
    }

    /** This attempt's outcome is written, or given up: there is room for another one, if it was among those here. */
    void closed(RunningAttempt attempt) {
        if (unwritten.remove(attempt)) {
            room.release();
        }
    }

    /** From now on nothing is gathered for longer than it takes to write what came before. */
    void hurry() {
        lock.lock();
        try {
            hurried = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Writes what is there, and ends. */
    void stop() {
        lock.lock();
        try {
            stopped = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void run() {
        for (List<RunningAttempt> batch = next(); !batch.isEmpty(); batch = next()) {
            List<RunningAttempt> written = batch;
            try {
                writer.accept(written);
            } catch (Throwable e) {
                Failures.survive(() -> LOG.error("{} outcomes could not be written; it goes on.", written.size(), e));
                written.forEach(RunningAttempt::closeEnding);
            }
        }
    }

    /** Waits until outcomes are to be written; none if none ever will. */
    @SuppressWarnings("UnusedException") // nobody interrupts this thread, and if somebody does, it goes on
    private List<RunningAttempt> next() {
        lock.lock();
        try {
            while (!due()) {
                try {
                    if (gathered.isEmpty()) {
                        changed.await();
                    } else {
                        changed.awaitNanos(firstAt + delay - ticker.now());
                    }
                } catch (InterruptedException e) {
                    // looked at again
                }
            }
            List<RunningAttempt> batch = new ArrayList<>();
            while (batch.size() < size && !gathered.isEmpty()) {
                batch.add(gathered.remove());
            }
            firstAt = ticker.now();
            return batch;
        } finally {
            lock.unlock();
        }
    }

    private boolean due() {
        if (gathered.isEmpty()) {
            return stopped;
        }
        return hurried || stopped || gathered.size() >= size || ticker.now() >= firstAt + delay;
    }
}
