package dev.millrace.worker;

import dev.millrace.store.ClaimRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Kinds that are claimed by one request: all that may have every slot, or one that has a concurrency of its own, since a
 * request has one limit for all of its kinds. Each has its own time of the next claim, and starts with another queue each time.
 *
 * <p>For one thread, the claim loop's.
 */
final class ClaimGroup {
    private static final long BETWEEN_THOROUGH = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_BETWEEN = TimeUnit.SECONDS.toNanos(10);
    private static final int SHARE = 20;

    private final WorkerSettings settings;
    private final RunningAttempts attempts;
    private final List<String> kinds;
    private final @Nullable String limited;
    private final List<ClaimRequest.Source> sources;
    private int rotation;
    private long nextClaim;
    private long thoroughAt = Long.MIN_VALUE;

    private ClaimGroup(
            WorkerSettings settings, RunningAttempts attempts, List<String> kinds, @Nullable String limited) {
        this.settings = settings;
        this.attempts = attempts;
        this.kinds = kinds;
        this.limited = limited;
        this.sources = settings.sources();
    }

    static List<ClaimGroup> of(WorkerSettings settings, RunningAttempts attempts, Collection<String> kinds) {
        List<String> unlimited = new ArrayList<>(kinds);
        unlimited.removeAll(settings.kindConcurrency().keySet());
        List<ClaimGroup> groups = new ArrayList<>();
        if (!unlimited.isEmpty()) {
            groups.add(new ClaimGroup(settings, attempts, List.copyOf(unlimited), null));
        }
        settings.kindConcurrency()
                .keySet()
                .forEach(kind -> groups.add(new ClaimGroup(settings, attempts, List.of(kind), kind)));
        return groups;
    }

    /**
     * How many jobs may be claimed now. Where jobs are claimed ahead it is none until half of those are used up, so that
     * a claim brings several; but a kind with a concurrency of its own has its turn as soon as there is room for one.
     */
    int limit() {
        int free = attempts.free(settings);
        if (limited != null) {
            free = Math.min(free, settings.concurrency(limited) - attempts.held(limited));
        } else if (free < settings.prefetch() / 2) {
            free = 0;
        }
        return Math.max(0, Math.min(free, settings.claimLimit()));
    }

    /** What to ask for. Now and then it is a thorough request. */
    ClaimRequest request(int limit, long now) {
        List<ClaimRequest.Source> rotated = new ArrayList<>(sources);
        Collections.rotate(rotated, -rotation);
        rotation = (rotation + 1) % sources.size();
        ClaimRequest request = ClaimRequest.of(settings.name(), rotated, kinds, limit);
        return now >= thoroughAt ? request : request.quick();
    }

    /**
     * This request was answered. If that was with no job, the next one may wait for the next poll; but one that was not thorough says
     * little, and then a thorough one follows when it is its time.
     */
    void answered(ClaimRequest request, boolean empty, long asked, long now, long nextPoll) {
        if (request.thorough()) {
            // Where it takes long, since there is much to be read in vain, it shall not be most of what is done.
            thoroughAt = now + Math.min(LONGEST_BETWEEN, Math.max(BETWEEN_THOROUGH, SHARE * (now - asked)));
        }
        nextClaim = empty ? (request.thorough() ? nextPoll : Math.min(nextPoll, thoroughAt)) : now;
    }

    boolean due(long now) {
        return now >= nextClaim;
    }

    long nextClaim() {
        return nextClaim;
    }

    void nextClaim(long time) {
        nextClaim = time;
    }
}
