package dev.millrace.store.postgres;

import dev.millrace.job.Job;
import dev.millrace.store.Claim;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Where the queues began when this process last claimed from them. What lies before that is nearly always dead: places of jobs that
 * were claimed, which the server may not clear away as long as some transaction, of whomever, has an old snapshot. A claim
 * that reads them all gets slower with each job that is claimed. One that begins here doesn't.
 *
 * <p>Jobs may come in behind the beginning: their transaction began earlier than others that are committed by now. So nothing of the last
 * {@link #LATE} counts as behind. What comes in later than that, or was locked when it was passed, is found by thorough
 * claims only; see {@link dev.millrace.store.ClaimRequest#thorough}.
 *
 * <p>Safe for use by many threads, which may make each other's heads somewhat older.
 */
final class QueueHeads {
    /** How long a transaction that submits jobs may take for its jobs to be found by every claim. */
    static final Duration LATE = Duration.ofSeconds(5);

    /** Before every job. */
    static final Place START = Place.of(Instant.parse("0001-01-01T00:00:00Z"), "");

    /** There are as many as queues, priorities and groups of kinds; whoever asks for ever other ones begins at the start. */
    private static final int MOST = 10_000;

    /**
     * A place in the order of a queue.
     *
     * @param text the time as it is sent, with each branch of each claim
     */
    record Place(Instant dueAt, String text, String id) implements Comparable<Place> {
        static Place of(Instant dueAt, String id) {
            return new Place(dueAt, dueAt.toString(), id);
        }

        @Override
        public int compareTo(Place other) {
            int byTime = dueAt.compareTo(other.dueAt);
            return byTime != 0 ? byTime : Bulk.BY_ID.compare(id, other.id);
        }
    }

    /** Kinds are what is claimed together: another claim, for other kinds, may have left some before this head. */
    private record Branch(String runtimeProfile, String queue, short priority, List<String> kinds) {}

    private final Map<Branch, Place> heads = new ConcurrentHashMap<>();

    /** Where to begin. */
    Place of(String runtimeProfile, String queue, short priority, List<String> kinds) {
        return heads.getOrDefault(new Branch(runtimeProfile, queue, priority, kinds), START);
    }

    /**
     * These were claimed, the first ones of their queues that could be.
     *
     * @param together the kinds that were asked for together; null if each for itself
     */
    void claimed(List<Claim> claims, @Nullable List<String> together) {
        Map<Branch, Place> first = new HashMap<>();
        for (Claim claim : claims) {
            Place place = place(claim);
            if (place != null) {
                begins(first, claim.job(), List.of(claim.job().spec().kind()), place);
                if (together != null) {
                    begins(first, claim.job(), together, place);
                }
            }
        }
        if (heads.size() + first.size() > MOST) {
            heads.clear();
        }
        heads.putAll(first);
    }

    private static void begins(Map<Branch, Place> first, Job job, List<String> kinds, Place place) {
        first.merge(
                new Branch(
                        job.spec().runtimeProfile(),
                        job.spec().queue(),
                        job.priority().code(),
                        kinds),
                place,
                (a, b) -> a.compareTo(b) <= 0 ? a : b);
    }

    /** Where the next claim may begin if this was the first of one; null if it isn't known. */
    private static @Nullable Place place(Claim claim) {
        Instant dueAt = claim.dueAt();
        Instant claimedAt = claim.job().state().claimedAt();
        if (dueAt == null || claimedAt == null) {
            return null;
        }
        Instant late = claimedAt.minus(LATE);
        return dueAt.isBefore(late) ? Place.of(dueAt, claim.job().id()) : Place.of(late, "");
    }
}
