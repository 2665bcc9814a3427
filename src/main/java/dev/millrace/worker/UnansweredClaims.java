package dev.millrace.worker;

import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Claims whose answers were lost. Each may have taken jobs that nobody knows of; their tokens tell.
 *
 * <p>Until a claim was asked about and the question was answered, no other claim is made: so there is one unknown at
 * most, and its jobs find their slots free. An answer of "none" is not the last word, though. The connection is gone,
 * but the statement may still run on the server and commit a moment later. So the question is asked again, after 0.5,
 * 1, 2, 4 seconds and so on, while claiming goes on, until {@link Timings#recovery} has passed since the first answer.
 * (Since the first answer, not since the claim: however long the database is out of reach, the question is asked.) What
 * comes to light after that is recovered by the expiry of its heartbeat, and costs an attempt.
 *
 * <p>A token that has led to a job is not asked about again, so nothing is taken twice.
 *
 * <p>For one thread, the claim loop's.
 */
final class UnansweredClaims {
    private static final long FIRST_REPETITION = TimeUnit.MILLISECONDS.toNanos(500);

    private static final int MOST_TOKENS = 10 * ClaimRequest.MAX_LIMIT;

    private static final class Lost {
        private final Set<UUID> tokens;
        private final long askedAt;
        private long answeredAt = -1;
        private long askAt;

        Lost(ClaimRequest request, long askedAt, long now) {
            tokens = new LinkedHashSet<>(request.tokens());
            this.askedAt = askedAt;
            askAt = now;
        }
    }

    private final Deque<Lost> claims = new ArrayDeque<>();
    private final long recovery;

    UnansweredClaims(Timings timings) {
        this.recovery = timings.recovery().toNanos();
    }

    /** The answer to this request, which was sent at a time before now, was lost. */
    void add(ClaimRequest request, long askedAt, long now) {
        claims.add(new Lost(request, askedAt, now));
        // A database that answers questions but no claims, over and over: the oldest have been asked about often.
        while (tokens().size() > MOST_TOKENS && claims.size() > 1) {
            claims.remove();
        }
    }

    /** Whether one has never been asked about with success, so that no other claim may be made. */
    boolean unknown() {
        return claims.stream().anyMatch(lost -> lost.answeredAt < 0);
    }

    /** Whether it is time to ask. */
    boolean due(long now) {
        return claims.stream().anyMatch(lost -> lost.askAt <= now);
    }

    /** When it will be time to ask; {@link Long#MAX_VALUE} if never. */
    long nextAsk() {
        return claims.stream().mapToLong(lost -> lost.askAt).min().orElse(Long.MAX_VALUE);
    }

    /** What to ask about. */
    List<UUID> tokens() {
        return claims.stream().flatMap(lost -> lost.tokens.stream()).toList();
    }

    /** When the claim with this token was asked for: its jobs were claimed then, or later. */
    long askedAt(@Nullable UUID token, long otherwise) {
        return claims.stream()
                .filter(lost -> lost.tokens.contains(token))
                .mapToLong(lost -> lost.askedAt)
                .findFirst()
                .orElse(otherwise);
    }

    /** The question was answered with these jobs. */
    void answered(List<Claim> found, long now) {
        for (Lost lost : claims) {
            found.forEach(claim -> lost.tokens.remove(claim.token()));
            if (lost.answeredAt < 0) {
                lost.answeredAt = now;
                lost.askAt = now + FIRST_REPETITION;
            } else {
                lost.askAt = now + Math.max(FIRST_REPETITION, now - lost.answeredAt);
            }
        }
        claims.removeIf(lost -> lost.tokens.isEmpty() || lost.askAt - lost.answeredAt > recovery);
    }

    /** Forgets them all. */
    void clear() {
        claims.clear();
    }
}
