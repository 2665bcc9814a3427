package dev.millrace.recovery;

import dev.millrace.backend.Backend;
import dev.millrace.internal.Complaints;
import dev.millrace.internal.ProcessName;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after jobs of remote backends. Each sweep
 *
 * <ul>
 *   <li>begins attempts at queued jobs whose time has come, as many as their backend has room for, the most urgent ones
 *       first and of those the ones that have been due for longest, and has the backend start them. The attempt is in the
 *       database before the backend is asked, with the token by which the backend knows it, so one whose answer was lost is
 *       asked for again rather than started twice;
 *   <li>asks the backend how running attempts are, and writes their progress and their end. A failed one is retried as
 *       the job's retry policy says. While nothing is new it writes a sign of life once in a heartbeat interval; no
 *       remote job is failed for want of one;
 *   <li>has the backend cancel attempts whose job is to be cancelled, until they have ended;
 *   <li>has the backend cancel operations whose attempt is over, above all those of jobs that the {@link JobReconciler}
 *       has failed because they took longer than their maximum duration. An operation is known from its start on, or
 *       from when it was first observed; one whose attempt was ended while no process was there that knew it is found
 *       only if the backend can list what it runs;
 *   <li>fails queued jobs whose backend nobody has, see below; what runs may run on, and be found again;
 *   <li>ends local and remote jobs that are queued and have a cancellation request. {@code cancel} ends a queued job
 *       itself, so these are jobs whose request was written with {@code JobStore.compareAndSet}, or that were seeded
 *       with one, or put back into the queue by one with it;
 *   <li>clears percentage and phase of local jobs that were put back into the queue with {@code compareAndSet}, where
 *       they would be those of the attempt before.
 * </ul>
 *
 * <p><b>Several processes</b> may run one, on the same jobs. Whoever acts on a job holds a lease of its name meanwhile,
 * by which each of its writes is fenced; a process that dies is followed by another one once its lease has run out.
 * They need not have the same backends: a job is looked after by those that have its backend. Which ones there are is
 * said by leases as well, and only if no process was seen to have a backend for {@link
 * BackendSettings#missingBackendGrace} do the others fail its queued jobs. So when a backend's only process is to be away for
 * longer than that, raise the grace everywhere, or stop recovery by {@link dev.millrace.store.Controls#hold}.
 *
 * <p>A backend that throws, answers what makes no sense, or hangs, harms its own jobs only: it has {@link
 * BackendSettings#concurrency} daemon threads, which no other one's jobs wait for, and a call that takes longer than
 * {@link BackendSettings#callTimeout} is interrupted, after which its job is free for others. While it acts on a job
 * there are two more threads, which renew the lease. Outages of the database don't end it; it reports them in {@link
 * #status} and goes on by itself. While {@link dev.millrace.store.Controls#hold} is in force it does nothing,
 * cancelling included; what runs at backends runs on.
 *
 * <p>Safe for use by many threads.
 */
public final class BackendReconciler implements AutoCloseable {
    /** How long {@link #close} waits for what it waits for, each time. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(BackendReconciler.class);

    private final BackendSettings settings;
    private final LongSupplier clock;
    private final BackendRegistry registry;
    private final BackendWork work;
    private final BackendSweep sweep;
    private final BackendTally tally = new BackendTally();
    private final ReentrantLock oneSweep = new ReentrantLock();
    private final Listeners listeners = new Listeners("millrace-backend-reconciler");
    final Loop sweeps;
    private volatile boolean closed;
    private volatile @Nullable BackendReport lastSweep;

    /**
     * A reconciler over these stores, for these backends. It does nothing before {@link #start} or {@link #tick}.
     *
     * @param settings how often it looks, and how much at once
     * @param stores what it reads and writes
     * @param backends the backends, each with a name of its own; may be none. They are not closed with it
     * @throws IllegalArgumentException if two have the same name, one is named {@code local}, or one does not tell its
     *     name or capabilities
     * @throws dev.millrace.job.InvalidJobException if a name is not allowed
     */
    public BackendReconciler(BackendSettings settings, BackendStores stores, Collection<? extends Backend> backends) {
        this(settings, stores, backends, System::nanoTime);
    }

    /** The same with another monotonic clock, in nanoseconds. */
    BackendReconciler(
            BackendSettings settings,
            BackendStores stores,
            Collection<? extends Backend> backends,
            LongSupplier clock) {
        this.settings = Objects.requireNonNull(settings, "settings");
        this.clock = clock;
        String node = ProcessName.random();
        this.registry = new BackendRegistry(backends, stores.leases(), node, settings, clock);
        this.work = new BackendWork(settings.concurrency(), settings.callTimeout(), clock);
        KnownOperations known = new KnownOperations();
        Complaints complaints = new Complaints();
        Errands errands = new Errands(work, tally, complaints);
        Orphans orphans = new Orphans(stores.remote(), registry, errands, known, tally, complaints);
        JobCare care = new JobCare(stores, settings, node, registry, known, tally);
        this.sweep = new BackendSweep(
                stores,
                settings,
                registry,
                work,
                known,
                care,
                orphans,
                new Backlog(errands, care, tally),
                errands,
                tally,
                clock);
        this.sweeps = new Loop("millrace-backend-reconciler", this::round);
    }

    /**
     * Tells this listener of each sweep from now on, along with those that were given before.
     *
     * @param listener is told on a thread of its own
     * @return this reconciler
     */
    public BackendReconciler listener(RecoveryListener listener) {
        listeners.add(listener);
        return this;
    }

    /**
     * Starts the loop: a sweep at once, and then one at each interval, less up to a quarter at random. Starting it again has
     * no effect.
     *
     * @throws IllegalStateException if it is closed
     */
    public void start() {
        checkOpen();
        sweeps.start();
    }

    /**
     * Sweeps once, after a sweep that is running, and waits until all that was to be done is done, but for calls of
     * backends that take too long. For those who have a scheduler of their own, and for tests.
     *
     * @return what it found and did; a sweep that failed reports that, and throws nothing
     * @throws IllegalStateException if it is closed
     */
    public BackendReport tick() {
        checkOpen();
        return sweepOnce(settings.callTimeout().multipliedBy(2).plus(PATIENCE));
    }

    /** {@return how it is at this moment} */
    public BackendStatus status() {
        BackendReport last = lastSweep;
        return new BackendStatus(
                !closed && sweeps.alive(),
                last != null && last.onHold(),
                registry.names(),
                registry.missing(),
                work.inHand(),
                work.overdue(),
                sweep.outage(),
                last);
    }

    /**
     * Stops the loop: nothing is begun any more. Waits a few seconds at most for what is under way, and interrupts the
     * backends' calls that take longer. What runs at backends runs on, for the next reconciler to find. Repeatable.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        sweeps.stop();
        boolean sweepEnded = sweeps.awaitEnd(PATIENCE);
        boolean workEnded = work.close(PATIENCE);
        listeners.close();
        if (!sweepEnded || !workEnded) {
            LOG.warn("What is done for backends' jobs did not end in time: the store or a backend does not answer. Its"
                    + " daemon threads end when they do.");
            return;
        }
        leave();
    }

    /** On a thread of its own, as the store may not answer: leases that are not given back run out by themselves. */
    private void leave() {
        Thread leaving = new Thread(
                () -> {
                    try {
                        registry.leave();
                    } catch (RuntimeException e) {
                        LOG.debug("Its leases were not given back, and run out by themselves.", e);
                    }
                },
                "millrace-backend-leases");
        leaving.setDaemon(true);
        leaving.start();
        try {
            leaving.join(PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** One round: a sweep, and how long to wait until the next one. Processes that started together don't stay so. */
    Duration round() {
        long began = clock.getAsLong();
        sweepOnce(settings.backendSweepInterval());
        Duration interval = settings.backendSweepInterval()
                .multipliedBy(ThreadLocalRandom.current().nextInt(75, 101))
                .dividedBy(100);
        Duration rest = interval.minusNanos(clock.getAsLong() - began);
        Duration least = interval.dividedBy(10);
        return rest.compareTo(least) < 0 ? least : rest;
    }

    private BackendReport sweepOnce(Duration patience) {
        oneSweep.lock();
        try {
            long began = clock.getAsLong();
            boolean onHold = sweep.run();
            sweep.overdue(work.awaitEnd(patience));
            BackendReport report = tally.report(onHold);
            lastSweep = report;
            Duration took = Duration.ofNanos(clock.getAsLong() - began);
            listeners.tell(listener -> listener.backendSwept(report, took));
            return report;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return tally.report(false);
        } finally {
            oneSweep.unlock();
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("This reconciler is closed. Make a new one to go on.");
        }
    }
}
