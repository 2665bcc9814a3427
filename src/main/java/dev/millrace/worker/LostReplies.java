package dev.millrace.worker;

import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.WorkSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the jobs of claims whose answers were lost, and has them run; {@link UnansweredClaims} says when to ask. What
 * turns up so late that its slots are taken is handed back, which costs it nothing.
 *
 * <p>For one thread, the claim loop's.
 */
final class LostReplies {
    private static final Logger LOG = LoggerFactory.getLogger(LostReplies.class);
    private static final int UNEXPECTED_LIMIT = 3;
    private static final int REPETITIONS_AT_CLOSE = 4;
    private static final String NO_SLOT =
            "Found after its claim's answer was lost, when there was no free slot any more";

    private final WorkSource source;
    private final Intake intake;
    private final Health health;
    private final Ticker ticker;
    private final UnansweredClaims unanswered;
    private int unexpected;

    LostReplies(WorkSource source, Intake intake, Health health, Ticker ticker, Timings timings) {
        this.source = source;
        this.intake = intake;
        this.health = health;
        this.ticker = ticker;
        this.unanswered = new UnansweredClaims(timings);
    }

    /** The answer to this request, which was sent at this time, was lost. */
    void add(ClaimRequest request, long askedAt) {
        unanswered.add(request, askedAt, ticker.now());
    }

    /** When it will be time to ask; {@link Long#MAX_VALUE} if never. */
    long nextAsk() {
        return unanswered.nextAsk();
    }

    /** Asks if it is time to, and runs as many of the jobs as there are slots for. */
    void askIfDue(int freeSlots) {
        if (unanswered.due(ticker.now())) {
            ask(freeSlots, NO_SLOT);
        }
    }

    /** Something that is not an outage keeps the loop from asking. That must not keep it from claiming for ever. */
    void unexpectedFailure() {
        if (unanswered.unknown() && ++unexpected > UNEXPECTED_LIMIT) {
            LOG.error("Jobs of a claim whose answer was lost can't be asked for. They run again once their heartbeats"
                    + " have expired.");
            unanswered.clear();
            unexpected = 0;
        }
    }

    /** Hands back what an unanswered claim may have taken, if the database says so soon. */
    void settle(Bell bell) {
        Backoff waits = new Backoff();
        while (unanswered.unknown() && waits.failures() < REPETITIONS_AT_CLOSE) {
            try {
                ask(0, ClaimLoop.CLOSING);
            } catch (Throwable e) {
                long wait = waits.next();
                Failures.survive(() -> {
                    health.trouble("Asking for the jobs of a claim whose answer was lost", e);
                    LOG.warn("It is not known whether a claim has taken jobs: {}", e.toString());
                });
                bell.await(wait);
            }
        }
        if (unanswered.unknown()) {
            LOG.warn(
                    "A claim was not answered before the worker closed. If it has taken jobs, they run again once their"
                            + " heartbeats have expired.");
        }
    }

    private void ask(int freeSlots, String whyNot) {
        long asked = ticker.now();
        List<Claim> found = source.recover(unanswered.tokens());
        unexpected = 0;
        long now = ticker.now();
        Map<UUID, Long> askedAt = new HashMap<>();
        for (Claim claim : found) {
            LOG.info(
                    "Job \"{}\" was claimed by a call whose answer was lost.",
                    claim.job().id());
            askedAt.put(claim.token(), unanswered.askedAt(claim.token(), asked));
        }
        unanswered.answered(found, now);
        int fitting = Math.max(0, Math.min(found.size(), freeSlots));
        // Only the claim of an assigned job has a token that is not known here; finding it is a sign of life.
        ToLongFunction<Claim> claimedAt = claim -> askedAt.getOrDefault(claim.token(), asked);
        intake.handBack(found.subList(fitting, found.size()), claimedAt, whyNot);
        intake.run(found.subList(0, fitting), claimedAt);
    }
}
