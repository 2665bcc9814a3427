package dev.millrace.recovery;

import dev.millrace.store.Attempt;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers whose row was found locked by someone else's transaction. No beat can be written to such a row, so its stale
 * heartbeat says nothing of its worker, and goes on saying nothing after the unlock until a beat could have followed:
 * for the job's heartbeat interval, and the two seconds after which a worker repeats a beat that failed.
 *
 * <p>When the row was unlocked nobody says. So the time runs from when it was first seen to be free, not from when it
 * was last seen locked, and starts again if it is locked again.
 *
 * <p>Holds the locked ones among the jobs of the last sweep, and no others. Not safe for use by many threads.
 */
final class LockedRows {
    /** After this time a worker repeats a beat that failed, or that met a locked row. */
    private static final Duration BEAT_RETRY = Duration.ofSeconds(2);

    private final LongSupplier clock;

    /** When each was first seen free since it was last seen locked; null while it is locked. */
    private final Map<Attempt, @Nullable Long> freeSince = new HashMap<>();

    private final Set<Attempt> seen = new HashSet<>();

    LockedRows(LongSupplier clock) {
        this.clock = clock;
    }

    /** A sweep begins. */
    void beginSweep() {
        seen.clear();
    }

    /** A sweep has seen all overdue jobs: those that were not among them are forgotten. */
    void endSweep() {
        freeSince.keySet().retainAll(seen);
        seen.clear();
    }

    /** The row was found locked. */
    void locked(Attempt attempt) {
        seen.add(attempt);
        freeSince.put(attempt, null);
    }

    /** Whether the row was found locked not long ago, so that it must be looked at before it is expired. */
    boolean remembers(Attempt attempt) {
        boolean known = freeSince.containsKey(attempt);
        if (known) {
            seen.add(attempt);
        }
        return known;
    }

    /**
     * The row of a remembered attempt was found free.
     *
     * @return how long it must still be spared; zero if no longer
     */
    Duration free(Attempt attempt, Duration heartbeatInterval) {
        long now = clock.getAsLong();
        Long since = freeSince.get(attempt);
        if (since == null) {
            freeSince.put(attempt, now);
            since = now;
        }
        Duration left = heartbeatInterval.plus(BEAT_RETRY).minusNanos(now - since);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** The attempt was ended, or is no longer overdue. */
    void forget(Attempt attempt) {
        freeSince.remove(attempt);
    }

    int size() {
        return freeSince.size();
    }
}
