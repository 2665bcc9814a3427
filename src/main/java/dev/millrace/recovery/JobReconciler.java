package dev.millrace.recovery;

import dev.millrace.recovery.JobSweep.Grace;
import dev.millrace.store.JobQueue;
import dev.millrace.store.ReconcilableJobs;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after jobs that nobody else looks after. Each sweep
 *
 * <ul>
 *   <li>fails jobs that have been running for longer than their maximum duration; they are not retried;
 *   <li>ends the attempts of local jobs whose worker has given no sign of life for the job's heartbeat timeout: cancelled
 *       if that was requested, else queued again after the back-off of the job's retry policy, else failed;
 *   <li>gives queued local jobs their place in the queue back, if they have had none for a while.
 * </ul>
 *
 * <p>The job of a killed worker is queued again within its heartbeat timeout and one sweep. After an outage of the
 * database, or while it is slow, stale heartbeats prove nothing, since nobody's beats came in; so a reconciler expires
 * only what is still stale after it has itself watched a healthy database for the job's whole heartbeat timeout. This
 * outage grace ends after ten timeouts if the database answers, but slowly, in all that time. One that has just started
 * has watched nothing yet, and takes one timeout longer. The maximum duration is not delayed by it.
 *
 * <p>Any number of processes may run one; what several of them do at once is done once. It uses two daemon threads, at
 * most two connections at a time, a small statement about once a second (more often for heartbeat timeouts under six
 * seconds), and a few in each sweep. Outages don't end it; it reports them in {@link #status} and goes on by itself.
 *
 * <p>Safe for use by many threads.
 */
public final class JobReconciler implements AutoCloseable {
    /** No sweep comes sooner after another one than this, whatever is due. */
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(50);

    /** A store that comes and goes doesn't wake up the sweep more often than this. */
    private static final Duration WAKE_UP_PAUSE = Duration.ofSeconds(1);

    /** How long {@link #close} waits for its threads, and once more after it has interrupted them. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final Logger LOG = LoggerFactory.getLogger(JobReconciler.class);

    private final RecoverySettings settings;
    private final LongSupplier clock;
    private final StoreWatch watch;
    private final StoreProbe probe;
    private final JobSweep sweep;
    private final ReentrantLock oneSweep = new ReentrantLock();
    private final Listeners listeners = new Listeners("millrace-job-reconciler");
    private final Loop sweeps;
    private final Loop probes;

    private volatile boolean started;
    private volatile boolean closed;
    private volatile long lastSweepBegan;

    /** The store has come back, and no sweep has seen it since. Of the watching thread. */
    private boolean sweepDue;

    private volatile @Nullable SweepReport lastSweep;

    /**
     * A reconciler over this store. It does nothing before {@link #start} or {@link #tick}.
     *
     * @param settings how often it looks, and how much at once
     * @param jobs finds and ends overdue attempts
     * @param queue gives places to jobs that lack them
     */
    public JobReconciler(RecoverySettings settings, ReconcilableJobs jobs, JobQueue queue) {
        this(settings, jobs, queue, System::nanoTime);
    }

    /** The same with another monotonic clock, in nanoseconds. */
    JobReconciler(RecoverySettings settings, ReconcilableJobs jobs, JobQueue queue, LongSupplier clock) {
        this.settings = settings;
        this.clock = clock;
        this.watch = new StoreWatch(clock, settings.slowProbe());
        this.probe = new StoreProbe(jobs, watch, clock);
        this.sweep = new JobSweep(settings, jobs, queue, watch, probe, clock, () -> closed);
        this.sweeps = new Loop("millrace-job-reconciler", this::sweepRound);
        this.probes = new Loop("millrace-store-watch", this::probeRound);
        this.lastSweepBegan = clock.getAsLong();
    }

    /**
     * Tells this listener of each sweep from now on, along with those that were given before.
     *
     * @param listener is told on a thread of its own
     * @return this reconciler
     */
    public JobReconciler listener(RecoveryListener listener) {
        listeners.add(listener);
        return this;
    }

    /**
     * Starts the loop: a sweep at once, and then one at each interval. Starting it again has no effect.
     *
     * @throws IllegalStateException if it is closed
     */
    public void start() {
        checkOpen();
        started = true;
        probes.start();
        sweeps.start();
    }

    /**
     * Sweeps once, on the caller's thread, after a sweep that is running. For those who have a scheduler of their own; a
     * reconciler that is not started watches the database only during its ticks, so it needs one at least every third of
     * the shortest heartbeat timeout to recover anything within the usual time.
     *
     * @return what it found and did; a sweep that failed reports that, and throws nothing
     * @throws IllegalStateException if it is closed
     */
    public SweepReport tick() {
        checkOpen();
        return sweepOnce(Grace.KEPT).report();
    }

    /**
     * The same, but trusts stale heartbeats at once, without having watched the database. For tests, in which time is made
     * to pass, and for an operator who knows that the workers of all silent jobs are dead: after an outage of the database
     * this would also take their jobs from workers that live, whose jobs then run twice.
     *
     * @return what it found and did; a sweep that failed reports that, and throws nothing
     * @throws IllegalStateException if it is closed
     */
    public SweepReport tickWithoutGrace() {
        checkOpen();
        return sweepOnce(Grace.OVER).report();
    }

    /** {@return how it is at this moment} */
    public RecoveryStatus status() {
        SweepReport last = lastSweep;
        Duration shortest = sweep.shortestTimeout();
        StoreWatch.State state = watch.state(shortest);
        boolean tooShort = !watch.untilTrusted(shortest).isZero();
        boolean suspended = tooShort || (last != null && last.suspended());
        return new RecoveryStatus(
                started && !closed && sweeps.alive() && probes.alive(),
                suspended,
                suspended ? reason(state, shortest, tooShort) : null,
                state.lasted(),
                state.since(),
                probe.outage(),
                last);
    }

    /**
     * Stops the loop: no sweep begins any more, and one that runs ends after the job it is at. Waits for that a few seconds
     * at most. Repeatable.
     */
    @Override
    public void close() {
        closed = true;
        sweeps.stop();
        probes.stop();
        if (!Loop.awaitEnds(PATIENCE, sweeps, probes)) {
            LOG.warn(
                    "A sweep or probe did not end in time: the store does not answer. Its daemon thread ends when it does.");
        }
        listeners.close();
    }

    private Duration sweepRound() {
        long began = clock.getAsLong();
        Duration pace = probe.pace();
        Tally tally = sweepOnce(Grace.KEPT);
        if (probe.pace().compareTo(pace) < 0) {
            // The probe that comes next in the old pace would be too late already.
            probes.wakeUp();
        }
        Duration pause = rest(settings.jobSweepInterval(), began);
        Duration lookAgain = tally.lookAgain();
        if (lookAgain == null || lookAgain.compareTo(pause) > 0) {
            return pause;
        }
        return lookAgain.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : lookAgain;
    }

    private Tally sweepOnce(Grace grace) {
        oneSweep.lock();
        try {
            long began = clock.getAsLong();
            lastSweepBegan = began;
            Tally tally = sweep.run(grace);
            SweepReport report = tally.report();
            lastSweep = report;
            Duration took = Duration.ofNanos(clock.getAsLong() - began);
            listeners.tell(listener -> listener.swept(report, took));
            return tally;
        } finally {
            oneSweep.unlock();
        }
    }

    /** One round of the watch: a probe, and how long to wait until the next one. */
    Duration probeRound() {
        long began = clock.getAsLong();
        boolean wasHealthy = watch.healthy();
        try {
            probe.send();
        } catch (RuntimeException e) {
            LOG.debug("A probe failed.", e);
        }
        sweepDue |= !wasHealthy && watch.healthy();
        if (sweepDue && clock.getAsLong() - lastSweepBegan >= WAKE_UP_PAUSE.toNanos()) {
            // So that it is known from now on when the watch will have lasted for long enough.
            sweepDue = false;
            sweeps.wakeUp();
        }
        return rest(probe.pace(), began);
    }

    /** What is left of this period; something always is, so that a slow store is not asked without a pause. */
    private Duration rest(Duration period, long began) {
        Duration rest = period.minusNanos(clock.getAsLong() - began);
        Duration least = period.dividedBy(10);
        return rest.compareTo(least) < 0 ? least : rest;
    }

    private static String reason(StoreWatch.State state, Duration shortest, boolean tooShort) {
        if (!tooShort) {
            return "some jobs wait for the store to have been watched for their heartbeat timeout, which is longer than"
                    + " others'";
        }
        return state.lastBreak().text() + "; since then it has been healthy for " + DurationText.of(state.lasted())
                + ", heartbeats are trusted after " + DurationText.of(shortest);
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("This reconciler is closed. Make a new one to go on.");
        }
    }
}
