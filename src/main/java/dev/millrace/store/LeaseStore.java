package dev.millrace.store;

import java.time.Duration;
import java.util.Optional;

/**
 * Leases: named rights, each held by one owner until it expires by database time, released or not.
 *
 * <p>To hold a lease is a hint, for who was suspended may believe that it holds what it has lost. What must not be done
 * twice needs a fence in the write itself: {@link JobStore#compareAndSet(dev.millrace.job.Job, dev.millrace.job.Job,
 * Duration, Lease)}. {@link HeldLease} renews one while work runs under it.
 */
public interface LeaseStore {
    /**
     * Takes a lease that nobody holds: a new one, or one that has expired. Refused to its own holder as well, who may
     * {@link #renew} it: of two threads that act under one name only one gets it.
     *
     * <p>Not repeated by itself: after a {@link StoreUnavailableException} the lease may be taken, in which case it expires
     * by itself.
     *
     * @param key what to hold; see {@link Lease#key()}
     * @param owner who asks; see {@link Lease#owner()}
     * @param duration for how long, from when it is granted, by database time; 1 ms to a century
     * @return the lease; empty if it is held
     */
    Optional<Lease> acquire(String key, String owner, Duration duration);

    /**
     * Makes a lease last from now on, if it is still the owner's and has not expired. Repeatable.
     *
     * @param lease by its key and owner
     * @param duration for how long, from when it is renewed, by database time; 1 ms to a century
     * @return the lease with its new end; empty if it has expired, or is not the owner's
     */
    Optional<Lease> renew(Lease lease, Duration duration);

    /**
     * Gives a lease back, so that others can take it at once. Repeatable.
     *
     * @param lease by its key and owner
     * @return whether it was still there as this owner's; false if it was released or taken over before, which after an
     *     outage may have been done by this very call
     */
    boolean release(Lease lease);

    /**
     * {@return who holds a lease, and until when; empty if nobody does} For operators: the answer may be outdated when it
     * arrives.
     *
     * @param key what is held
     */
    Optional<Lease> holder(String key);
}
