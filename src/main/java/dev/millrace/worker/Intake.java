package dev.millrace.worker;

import dev.millrace.store.Claim;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes claimed jobs in. Each is registered first, so that its heartbeat, its cancellation and its deadline are watched
 * before anything runs for it, and then given a thread. A job that can't be run is handed back, which doesn't count
 * against its maximum of attempts; it is beaten for until that is written.
 */
final class Intake {
    private static final Logger LOG = LoggerFactory.getLogger(Intake.class);

    private final RunningAttempts attempts;
    private final Heartbeats heartbeats;
    private final Deadlines deadlines;
    private final AttemptRunner runner;
    private final Outcomes outcomes;
    private final Executor handlers;
    private final Ticker ticker;

    Intake(
            RunningAttempts attempts,
            Heartbeats heartbeats,
            Deadlines deadlines,
            AttemptRunner runner,
            Outcomes outcomes,
            Executor handlers,
            Ticker ticker) {
        this.attempts = attempts;
        this.heartbeats = heartbeats;
        this.deadlines = deadlines;
        this.runner = runner;
        this.outcomes = outcomes;
        this.handlers = handlers;
        this.ticker = ticker;
    }

    /**
     * Runs these jobs. All of them are dealt with, also when one can't be.
     *
     * @param claimedAt when each was claimed, by the ticker
     * @throws IllegalStateException if there was no thread for one of them; it was handed back
     */
    void run(List<Claim> claims, ToLongFunction<Claim> claimedAt) {
        Throwable trouble = null;
        for (Claim claim : claims) {
            RunningAttempt attempt = registered(claim, claimedAt.applyAsLong(claim));
            if (attempt == null) {
                continue;
            }
            try {
                deadlines.watch(attempt);
                handlers.execute(() -> runner.run(attempt));
            } catch (Throwable e) {
                trouble = e;
                handBack(attempt, "The worker had no thread for the job");
            }
        }
        if (trouble != null) {
            throw new IllegalStateException("There is no thread for a claimed job", trouble);
        }
    }

    /** Hands these jobs back without running them, and waits until that is written or given up. */
    void handBack(List<Claim> claims, ToLongFunction<Claim> claimedAt, String why) {
        for (Claim claim : claims) {
            RunningAttempt attempt = registered(claim, claimedAt.applyAsLong(claim));
            if (attempt == null) {
                continue;
            }
            attempt.runOver();
            if (attempt.decide(Endings.handBack(attempt, why))) {
                outcomes.write(attempt);
            }
        }
    }

    private void handBack(RunningAttempt attempt, String why) {
        attempt.runOver();
        if (attempt.decide(Endings.handBack(attempt, why))) {
            outcomes.writeElsewhere(attempt);
        }
    }

    private @Nullable RunningAttempt registered(Claim claim, long claimedAt) {
        RunningAttempt attempt = new RunningAttempt(claim, ticker, claimedAt, attempts::changed);
        if (!attempts.register(attempt)) {
            LOG.error("{} was claimed twice under one token; it is run once.", attempt);
            return null;
        }
        heartbeats.watch(attempt);
        return attempt;
    }
}
