package dev.millrace.worker;

import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** What the loops know about how they are doing, for {@link WorkerStatus}. */
final class Health {
    /** What went wrong, and when, by this machine's clock. */
    record Trouble(String what, Instant at) {}

    private final Listeners listeners;
    private volatile @Nullable Trouble last;
    private volatile boolean claimsFail;
    private final AtomicBoolean beatsFail = new AtomicBoolean();

    /** Nobody is told. */
    Health() {
        this(Listeners.NONE);
    }

    Health(Listeners listeners) {
        this.listeners = listeners;
    }

    /** Who is told what happens. */
    Listeners listeners() {
        return listeners;
    }

    void trouble(String doing, Throwable failure) {
        last = new Trouble(doing + ": " + Failures.describe(failure), Instant.now());
    }

    @Nullable
    Trouble last() {
        return last;
    }

    void claimsFail(boolean value) {
        claimsFail = value;
    }

    boolean claimsFail() {
        return claimsFail;
    }

    /** Beats have failed for so long that a running job may count as dead, or they don't any more. True if it is news. */
    boolean beatsFail(boolean value) {
        return beatsFail.getAndSet(value) != value;
    }
}
