package dev.millrace.recovery;

import dev.millrace.store.Retention;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what has outlived its retention: jobs that have ended, logs of jobs that have ended or are gone, result packages,
 * and leases that expired. Jobs that have not ended, and their logs, stay.
 *
 * <p>It deletes in batches, each a small transaction that waits for none of our rows (but for rows of yours that {@code
 * ON DELETE CASCADE} deletes); between two it rests as long as the last one
 * took, so that the work of others goes on. What is deleted stays so if the process is killed. Any number of processes may
 * run one: each takes rows that no other one has.
 *
 * <p>A job to which a row of another table refers by a foreign key, without {@code ON DELETE}, can't be deleted. It is
 * tried again after a day, and said in the log and in the report: such tables should delete their rows first, or say {@code
 * ON DELETE CASCADE} or {@code SET NULL}. The same happens to one that a trigger refuses by an error; one that a trigger keeps
 * without a word, by returning null, stays in the way of the others.
 *
 * <p>It uses one daemon thread, one connection at a time, and five small statements or so for each sweep. Failures don't end
 * it. Safe for use by many threads.
 */
public final class RetentionSweeper implements AutoCloseable {
    /** The first sweep comes after this time at most: what was due when the processes were down is due now. */
    private static final Duration FIRST_WITHIN = Duration.ofMinutes(1);

    /** When a sweep that failed is tried again, unless its own time is sooner. */
    private static final Duration AFTER_FAILURE = Duration.ofMinutes(1);

    /** How long {@link #close} waits for the thread, and once more after it has interrupted it. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final Logger LOG = LoggerFactory.getLogger(RetentionSweeper.class);

    private final RetentionSettings settings;
    private final Retention retention;
    private final LongSupplier clock;
    private final ReentrantLock oneSweep = new ReentrantLock();
    private final Semaphore stops = new Semaphore(0);
    private final Listeners listeners = new Listeners("millrace-retention-sweeper");
    private final Loop sweeps;

    private volatile boolean closed;
    private volatile @Nullable RetentionReport lastSweep;

    /** Of the sweeping thread: the first round only chooses when to begin. */
    private boolean begun;

    private boolean saidFailure;

    /**
     * A sweeper of this store. It does nothing before {@link #start} or {@link #tick}.
     *
     * @param settings how often it sweeps, and how much at once
     * @param retention deletes
     */
    public RetentionSweeper(RetentionSettings settings, Retention retention) {
        this(settings, retention, System::nanoTime);
    }

    /** The same with another monotonic clock, in nanoseconds. */
    RetentionSweeper(RetentionSettings settings, Retention retention, LongSupplier clock) {
        this.settings = settings;
        this.retention = retention;
        this.clock = clock;
        this.sweeps = new Loop("millrace-retention-sweeper", this::round);
    }

    /**
     * Tells this listener of each sweep from now on, along with those that were given before.
     *
     * @param listener is told on a thread of its own
     * @return this sweeper
     */
    public RetentionSweeper listener(RecoveryListener listener) {
        listeners.add(listener);
        return this;
    }

    /**
     * Starts the loop: the first sweep within a minute, or the interval if that is shorter, and then one after another.
     * Starting it again has no effect.
     *
     * @throws IllegalStateException if it is closed
     */
    public void start() {
        checkOpen();
        sweeps.start();
    }

    /**
     * Sweeps once, on the caller's thread, after a sweep that is running. For those who have a scheduler of their own.
     *
     * @return what it did; a sweep that failed reports that, and throws nothing
     * @throws IllegalStateException if it is closed
     */
    public RetentionReport tick() {
        checkOpen();
        oneSweep.lock();
        try {
            long began = clock.getAsLong();
            RetentionReport report = new RetentionSweep(settings, retention, clock, () -> closed, stops).run();
            lastSweep = report;
            Duration took = Duration.ofNanos(clock.getAsLong() - began);
            listeners.tell(listener -> listener.retentionSwept(report, took));
            say(report);
            return report;
        } finally {
            oneSweep.unlock();
        }
    }

    /** {@return what the last sweep did; null before the first one} */
    public @Nullable RetentionReport lastSweep() {
        return lastSweep;
    }

    /**
     * Stops the loop: no batch begins any more. Waits a few seconds at most for the one that runs. Repeatable.
     */
    @Override
    public void close() {
        closed = true;
        stops.release();
        sweeps.stop();
        if (!sweeps.awaitEnd(PATIENCE)) {
            LOG.warn("A retention sweep did not end in time: the store does not answer. Its daemon thread ends when it"
                    + " does.");
        }
        listeners.close();
    }

    /** One round: a sweep, and how long to wait until the next one. */
    Duration round() {
        if (!begun) {
            begun = true;
            return atMost(FIRST_WITHIN, settings.retentionSweepInterval())
                    .multipliedBy(ThreadLocalRandom.current().nextInt(1, 100))
                    .dividedBy(100);
        }
        Duration rest = settings.retentionSweepInterval()
                .multipliedBy(ThreadLocalRandom.current().nextInt(75, 101))
                .dividedBy(100);
        return closed || tick().errors() == 0 ? rest : atMost(AFTER_FAILURE, rest);
    }

    private static Duration atMost(Duration most, Duration value) {
        return value.compareTo(most) > 0 ? most : value;
    }

    private void say(RetentionReport report) {
        if (report.deleted() > 0) {
            LOG.info(
                    "Deleted what has outlived its retention: {} jobs, {} logs, {} results, {} leases.",
                    report.jobs(),
                    report.logs(),
                    report.results(),
                    report.leases());
        }
        if (report.heldJobs() > 0) {
            LOG.warn(
                    "{} jobs can't be deleted, though their retention is over, because of {}. They are tried again after a"
                            + " day. If other tables refer to them, delete the rows that do, or give the foreign key ON"
                            + " DELETE CASCADE or SET NULL.",
                    report.heldJobs(),
                    report.heldBy());
        }
        boolean failed = report.errors() > 0;
        if (failed && !saidFailure) {
            LOG.warn("A retention sweep could not be finished, and is tried again.", report.failure());
        }
        saidFailure = failed;
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("This sweeper is closed. Make a new one to go on.");
        }
    }
}
