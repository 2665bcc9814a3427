package dev.millrace.worker;

import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
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
    private final Slots slots;
    private final Health health;
    private final Ticker ticker;
    private final ReentrantLock admission = new ReentrantLock();
    private boolean closed;

    Intake(
            WorkerSettings settings,
            RunningAttempts attempts,
            Heartbeats heartbeats,
            Deadlines deadlines,
            AttemptRunner runner,
            Outcomes outcomes,
            Executor handlers,
            Health health,
            Ticker ticker) {
        this.attempts = attempts;
        this.heartbeats = heartbeats;
        this.deadlines = deadlines;
        this.runner = runner;
        this.outcomes = outcomes;
        this.handlers = handlers;
        this.slots = new Slots(settings, this::start, this::cancelled);
        this.health = health;
        this.ticker = ticker;
    }

    /**
     * Runs these jobs, each as soon as there is a slot for it.
     *
     * @param claimedAt when each claim was asked for, by the ticker
     */
    void run(List<Claim> claims, ToLongFunction<Claim> claimedAt) {
        List<RunningAttempt> taken = new ArrayList<>();
        boolean admitted = false;
        try {
            admitted = admit(claims, claimedAt, taken);
        } finally {
            slots.add(taken); // those that are registered run, whatever becomes of the others
        }
        if (!admitted) {
            handBack(claims, claimedAt, ClaimLoop.CLOSING);
        }
    }

    /** False if the worker closes: nothing is run any more, so that the shutdown sees all that ever will be. */
    private boolean admit(List<Claim> claims, ToLongFunction<Claim> claimedAt, List<RunningAttempt> taken) {
        admission.lock();
        try {
            if (closed) {
                return false;
            }
            for (Claim claim : claims) {
                RunningAttempt attempt = registered(claim, claimedAt.applyAsLong(claim));
                if (attempt != null) {
                    taken.add(attempt);
                    watchDeadline(attempt);
                }
            }
            return true;
        } finally {
            admission.unlock();
        }
    }

    /** From now on claims are handed back. */
    void close() {
        admission.lock();
        try {
            closed = true;
        } finally {
            admission.unlock();
        }
    }

    /** How many jobs wait for a slot. */
    int waiting() {
        return slots.waiting();
    }

    /** Something about an attempt has changed. */
    void changed(RunningAttempt attempt) {
        slots.changed(attempt);
    }

    /** Someone wants this attempt's job cancelled: it doesn't wait for a slot to be so. */
    void cancelled(RunningAttempt attempt) {
        if (slots.withdraw(attempt)) {
            attempt.runOver();
            if (attempt.decide(new Finish.Cancel())) {
                outcomes.writeElsewhere(attempt);
            }
        }
    }

    /** An attempt whose deadline can't be watched runs all the same: the sweep knows it as well. */
    private void watchDeadline(RunningAttempt attempt) {
        try {
            deadlines.watch(attempt);
        } catch (Throwable e) {
            Failures.survive(() -> health.trouble("Watching the deadline of " + attempt, e));
        }
    }

    private void start(RunningAttempt attempt) {
        try {
            handlers.execute(() -> runner.run(attempt));
        } catch (Throwable e) {
            Failures.survive(() -> {
                health.trouble("Running " + attempt, e);
                LOG.error("There is no thread for {}: it is handed back.", attempt, e);
            });
            Failures.survive(() -> handBack(attempt, "The worker had no thread for the job"));
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
