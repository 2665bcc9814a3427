package dev.millrace.store.postgres;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Decides whether a call that failed is tried again, and keeps what is known about its earlier tries.
 *
 * <ul>
 *   <li>The database was not available: again after 0.2, 0.5, 1 and 2 s, if this try has done nothing for certain or the
 *       operation's {@link FailureClass} allows for a lost answer. No try begins later than {@link Policy#limit} after the
 *       call: where each try takes long, such as in a pool that waits 30 s for a connection, one is enough.
 *   <li>It was rolled back because of concurrent work: again after a pause of up to 20 ms, several times, on an
 *       interrupted thread as well.
 *   <li>The schema is not as it was: once more, after the gate has asked it.
 * </ul>
 *
 * An interrupted thread repeats nothing that failed for want of a database; the interrupt stays set. For one call, on one
 * thread.
 */
final class Repetition {
    private static final long LONGEST_ROLLBACK_PAUSE = 20_000_000;

    /** A session that is repeatable read by default loses to any rival that it had to wait for, one after the other. */
    private static final int ROLLBACKS = 25;

    /** A deadlock is found out after a second or so. */
    private static final long LONGEST_ROLLBACKS = 10_000_000_000L;

    /**
     * How often, and for how long.
     *
     * @param pauses before each other try after the database was not available
     * @param limit after which no other try begins
     * @param rollbacks how many tries there are where concurrent work makes them fail; 1 means that nothing is repeated
     */
    record Policy(List<Duration> pauses, Duration limit, int rollbacks) {
        static final Policy DEFAULT = new Policy(
                List.of(Duration.ofMillis(200), Duration.ofMillis(500), Duration.ofSeconds(1), Duration.ofSeconds(2)),
                Duration.ofSeconds(5),
                ROLLBACKS);

        /** For loops, which repeat at their own pace: they want to know at once that the database is not available. */
        static final Policy FOR_LOOPS = new Policy(List.of(), Duration.ZERO, ROLLBACKS);

        /** In a caller's transaction, which is the caller's to repeat. */
        static final Policy CALLERS = new Policy(List.of(), Duration.ZERO, 1);

        Policy {
            pauses = List.copyOf(pauses);
        }
    }

    private final FailureClass failureClass;
    private final Policy policy;
    private final LongSupplier clock;
    private final long began;
    private int tries = 1;
    private int outages;
    private boolean inDoubt;
    private boolean mayHaveHappened;

    Repetition(FailureClass failureClass, Policy policy) {
        this(failureClass, policy, System::nanoTime);
    }

    /** @param clock monotonic, in nanoseconds */
    Repetition(FailureClass failureClass, Policy policy, LongSupplier clock) {
        this.failureClass = failureClass;
        this.policy = policy;
        this.clock = clock;
        this.began = clock.getAsLong();
    }

    /** Whether an earlier try, whose answer was lost, may have succeeded: then what is found may be its work. */
    boolean mayHaveHappened() {
        return mayHaveHappened;
    }

    /** Nothing that this call has done is older than this. {@code storeTime} is the database's time, just read. */
    Instant notBefore(Instant storeTime) {
        return storeTime.minusNanos(elapsed());
    }

    /** How many tries there were, this one included. */
    int tries() {
        return tries;
    }

    Duration lasted() {
        return Duration.ofNanos(elapsed());
    }

    /** This try has failed. {@code doubtful} says whether it may have done what was asked. */
    void failed(boolean doubtful) {
        inDoubt = doubtful;
        mayHaveHappened |= doubtful;
    }

    /** Whether there is another try after this failure; waits until it is time for it. */
    boolean goesOnAfter(Failure failure) {
        boolean goesOn = switch (failure.kind()) {
            case UNAVAILABLE -> goesOnAfterOutage();
            case ROLLED_BACK -> tries < policy.rollbacks && elapsed() < LONGEST_ROLLBACKS && shortPause();
            case NOT_READY -> tries == 1 && policy.rollbacks > 1 && shortPause();
            case TURNED_AWAY, MISSING_PRIVILEGE, OTHER -> false;
        };
        tries += goesOn ? 1 : 0;
        return goesOn;
    }

    private boolean goesOnAfterOutage() {
        if (!allowed() || outages == policy.pauses.size()) {
            return false;
        }
        long pause = policy.pauses.get(outages).toNanos();
        outages++;
        return elapsed() + pause <= policy.limit.toNanos() && waits(pause);
    }

    private boolean allowed() {
        return switch (failureClass) {
            case REPEATABLE, CONFIRMABLE -> true;
            case RECOVERABLE, ONCE -> !inDoubt;
            case NEVER -> false;
        };
    }

    /** Also if the thread is interrupted, which is so again afterwards: the rival needs the time all the same. */
    private static boolean shortPause() {
        long until = System.nanoTime() + ThreadLocalRandom.current().nextLong(LONGEST_ROLLBACK_PAUSE);
        boolean interrupted = false;
        for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
            interrupted |= Thread.interrupted(); // or it would not be parked
            LockSupport.parkNanos(left);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return true;
    }

    /** False if the thread is interrupted. */
    private static boolean waits(long nanos) {
        long until = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = until - System.nanoTime()) {
            if (Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(left);
        }
        return !Thread.currentThread().isInterrupted();
    }

    private long elapsed() {
        return clock.getAsLong() - began;
    }
}
