package dev.millrace.store;

import dev.millrace.job.Checks;
import dev.millrace.store.LeaseLostException.Reason;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A lease that is renewed in the background for as long as work runs under it, and that tells this work when it is lost.
 *
 * <pre>{@code
 * var held = HeldLease.acquire(leases, "nightly-report", "node-7", LeaseSettings.DEFAULT, lost -> report.stop());
 * if (held.isPresent()) {
 *     try (HeldLease lease = held.get()) {
 *         report.writeUnder(lease);
 *     }
 * }
 * }</pre>
 *
 * <p><b>Holding is a hint.</b> By the local monotonic clock a lease is held for its duration from before the renewal was
 * <em>sent</em>, so its holder takes it for lost before anyone else can take it. But between {@link #checkHeld()} and what
 * is done after it the process may be suspended, a write may wait in a network, and on some machines the clock stands
 * still while they sleep. So what must not happen twice is written with a condition that the database checks in the same
 * statement: {@link JobStore#compareAndSet(dev.millrace.job.Job, dev.millrace.job.Job, Duration, Lease)} with {@link
 * #lease()}.
 *
 * <p>Lost is lost: the first renewal that is refused or fails ends it, as does a lease's time that is over before a renewal
 * succeeded. The leases of {@code Millrace.leases()} repeat a renewal for some seconds themselves, so what fails it
 * is more than a lost connection.
 *
 * <p>One of two daemon threads renews, the other waits for the end of the lease's time: a renewal that hangs in a dead
 * connection delays no signal. Safe for use by many threads.
 */
public final class HeldLease implements AutoCloseable {
    private static final int MAX_OWNER_CHARACTERS = 400;

    private final LeaseStore store;
    private final Lease lease;
    private final LeaseSettings settings;
    private final Consumer<LeaseLostException> onLoss;
    private final LongSupplier clock;

    /** Until when the lease is held, by the clock. Only the thread that renews moves it, and only while it is held. */
    private volatile long heldUntil;

    /** Why the lease is no longer held; set once, and what it says is never taken back. */
    private final AtomicReference<@Nullable LeaseLostException> end = new AtomicReference<>();

    private final CountDownLatch ended = new CountDownLatch(1);

    /** Whoever has closed the lease is not told of its loss any more. */
    private volatile boolean closed;

    private HeldLease(
            LeaseStore store,
            Lease lease,
            LeaseSettings settings,
            Consumer<LeaseLostException> onLoss,
            LongSupplier clock,
            long sentAt) {
        this.store = store;
        this.lease = lease;
        this.settings = settings;
        this.onLoss = onLoss;
        this.clock = clock;
        this.heldUntil = sentAt + settings.duration().toNanos();
    }

    /**
     * Takes a lease, if nobody holds it, and renews it until it is closed or lost.
     *
     * @param store where leases are
     * @param key what to hold; see {@link Lease#key()}
     * @param holder who asks, as operators should see it: 1 to 400 characters, at most 1,600 bytes. What makes one holding
     *     differ from all others is added to it, so the same process may come again, or ask from several threads
     * @param settings for how long, and how often it is renewed
     * @param onLoss called once if the lease is lost, on a thread of the lease's own; not begun after {@link #close()}, though
     *     it may be under way when that returns. What it throws goes to that thread's handler of uncaught exceptions, and harms nothing else
     * @return the lease; empty if someone holds it, the same holder included
     * @throws dev.millrace.job.InvalidJobException if key or holder is not allowed
     * @throws StoreException if the database can't do it; a lease that was taken nevertheless expires by itself
     */
    public static Optional<HeldLease> acquire(
            LeaseStore store, String key, String holder, LeaseSettings settings, Consumer<LeaseLostException> onLoss) {
        return acquire(store, key, holder, settings, onLoss, System::nanoTime);
    }

    /** For tests: by another clock. */
    static Optional<HeldLease> acquire(
            LeaseStore store,
            String key,
            String holder,
            LeaseSettings settings,
            Consumer<LeaseLostException> onLoss,
            LongSupplier clock) {
        Objects.requireNonNull(settings, "settings");
        Objects.requireNonNull(onLoss, "onLoss");
        Checks.text("lease.holder", holder, MAX_OWNER_CHARACTERS, MAX_OWNER_CHARACTERS * 4);
        String owner = holder + ":" + UUID.randomUUID();
        long sentAt = clock.getAsLong();
        return store.acquire(key, owner, settings.duration())
                .map(lease -> new HeldLease(store, lease, settings, onLoss, clock, sentAt).start());
    }

    private HeldLease start() {
        try {
            daemon("watch", this::watch);
            daemon("renew", this::renewals);
            return this;
        } catch (Throwable e) {
            // No thread to be had: whoever asked gets no lease, and keeps nobody else from it.
            close();
            throw e;
        }
    }

    private void daemon(String role, Runnable task) {
        Thread thread = new Thread(task, "millrace-lease-" + lease.key() + "-" + role);
        thread.setDaemon(true);
        thread.start();
    }

    /** {@return the lease, by which the database can tell whether it is held; its end is that of when it was taken} */
    public Lease lease() {
        return lease;
    }

    /**
     * {@return whether the lease is held, as far as can be known here without asking the database} Once false, false for
     * good. Costs next to nothing.
     */
    public boolean isHeld() {
        if (end.get() != null) {
            return false;
        }
        if (clock.getAsLong() - heldUntil < 0) {
            return true;
        }
        end(Reason.RAN_OUT, null);
        return false;
    }

    /**
     * Does nothing while the lease is held, as far as can be known here without asking the database.
     *
     * @throws LeaseLostException if it is not
     */
    public void checkHeld() {
        if (!isHeld()) {
            LeaseLostException why = end.get();
            throw new LeaseLostException(
                    lease.key(), why == null ? Reason.RAN_OUT : why.reason(), why == null ? null : why.getCause());
        }
    }

    /**
     * Gives the lease back, unless others have it already. Has no effect when repeated. A database that can't be told is not
     * complained about: the lease expires by itself. Takes as long as a statement may, so up to the data source's own limits
     * ({@code socketTimeout}) where a network swallows what is sent.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (isHeld()) {
            end(Reason.RELEASED, null);
        }
        LeaseLostException why = end.get();
        // After a renewal that failed, or whose answer came too late, the database may have it as renewed.
        if (why != null && why.reason() != Reason.REFUSED) {
            try {
                store.release(lease);
            } catch (StoreException e) {
                // It lasts for the rest of its time, as if this process had died.
            }
        }
    }

    /** Only the first end counts. */
    private void end(Reason reason, @Nullable Throwable cause) {
        end.compareAndSet(null, new LeaseLostException(lease.key(), reason, cause));
        ended.countDown();
    }

    /** Waits until the lease is no longer held, and tells of a loss. */
    private void watch() {
        while (isHeld()) {
            awaitEnd(heldUntil - clock.getAsLong());
        }
        LeaseLostException why = end.get();
        if (why != null && why.reason() != Reason.RELEASED && !closed) {
            onLoss.accept(why);
        }
    }

    /** Throws nothing: whatever goes wrong ends the lease. */
    private void renewals() {
        long interval = settings.renewInterval().toNanos();
        long pause = interval;
        while (!awaitEnd(pause)) {
            long sentAt = clock.getAsLong();
            try {
                if (store.renew(lease, settings.duration()).isEmpty()) {
                    end(Reason.REFUSED, null);
                }
            } catch (Throwable e) {
                end(Reason.FAILED, e);
            }
            // A renewal whose answer came when the time was over brings nothing back.
            if (isHeld()) {
                heldUntil = sentAt + settings.duration().toNanos();
            }
            pause = Math.max(0, interval - (clock.getAsLong() - sentAt));
        }
    }

    /** Waits until the lease has ended, or this time is over. Nobody but the lease may end its threads. */
    private boolean awaitEnd(long nanos) {
        try {
            return ended.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return ended.getCount() == 0;
        }
    }
}
