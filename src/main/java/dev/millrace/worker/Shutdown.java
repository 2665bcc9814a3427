package dev.millrace.worker;

import dev.millrace.store.Finish;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a worker, on its lifecycle thread, in this order:
 *
 * <ol>
 *   <li>No more claims. Jobs that have not been started are handed back, those of a claim in flight included.
 *   <li>Handlers have the drain timeout. Beats, deadlines and cancellations go on, and outcomes are written.
 *   <li>What runs then is interrupted and handed back at once, forgiven, whether or not its handler returns: what that
 *       writes later is refused. An attempt that is over its time fails instead, one that is to be cancelled is cancelled.
 *   <li>The outcomes have a grace of a few seconds. What can't be written by then is left to the expiry of heartbeats,
 *       and the log says which jobs these are.
 *   <li>Handlers that were interrupted have a moment to return, so that the data source isn't closed under them.
 *   <li>The loops end, and then what was attached to the worker is closed.
 * </ol>
 *
 * No step waits for a database that doesn't answer. What may have to wait for it, as long as it takes to see that, such as
 * reconcilers, is closed beside the last two steps rather than after them.
 */
final class Shutdown {
    private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

    private final ClaimLoop claims;
    private final Intake intake;
    private final RunningAttempts attempts;
    private final Outcomes outcomes;
    private final Heartbeats heartbeats;
    private final Deadlines deadlines;
    private final WorkerThreads threads;
    private final Companions companions;
    private final WorkerSettings settings;
    private final Timings timings;
    private volatile boolean hurried;

    Shutdown(
            ClaimLoop claims,
            Intake intake,
            RunningAttempts attempts,
            Outcomes outcomes,
            Heartbeats heartbeats,
            Deadlines deadlines,
            WorkerThreads threads,
            Companions companions,
            WorkerSettings settings,
            Timings timings) {
        this.claims = claims;
        this.intake = intake;
        this.attempts = attempts;
        this.outcomes = outcomes;
        this.heartbeats = heartbeats;
        this.deadlines = deadlines;
        this.threads = threads;
        this.companions = companions;
        this.settings = settings;
        this.timings = timings;
    }

    /** Skips what is left of the drain timeout. */
    void hurry() {
        hurried = true;
        attempts.changed();
    }

    void run() {
        claims.stop();
        intake.close();
        outcomes.hurry();
        attempts.all().stream().filter(RunningAttempt::waiting).forEach(attempt -> handBack(attempt, "not started"));
        await(() -> hurried || settled(), settings.drainTimeout().toNanos());
        companions.beginToClose();
        String still =
                hurried ? "still running, and nobody waited for it" : "still running after " + settings.drainTimeout();
        attempts.all().forEach(attempt -> handBack(attempt, still));
        await(this::settled, timings.grace().toNanos());
        outcomes.giveUp();
        try {
            reportUnwritten();
            await(() -> attempts.count() == 0, timings.unwind().toNanos());
        } finally {
            heartbeats.stop();
            deadlines.stop();
            threads.stop();
            closeCompanions();
        }
    }

    void closeCompanions() {
        companions.close();
    }

    private boolean settled() {
        return claims.ended() && attempts.allClosed();
    }

    private void handBack(RunningAttempt attempt, String state) {
        String why = "The worker closed: the job was " + state;
        Finish ending = Endings.handBack(attempt, why);
        if (attempt.decide(ending, reason(ending))) {
            LOG.info("{} is given up: {}.", attempt, state);
            outcomes.writeElsewhere(attempt);
        }
    }

    private static StopReason reason(Finish ending) {
        if (ending instanceof Finish.HandBack) {
            return StopReason.SHUTDOWN;
        }
        return ending instanceof Finish.Cancel ? StopReason.CANCELLED : StopReason.TIMED_OUT;
    }

    private void reportUnwritten() {
        if (!claims.ended()) {
            LOG.warn("A claim is still in flight. If it takes jobs, they are handed back when it is answered; otherwise"
                    + " they run again once their heartbeats have expired.");
        }
        for (RunningAttempt attempt : attempts.all()) {
            if (!attempt.closed() && !attempt.open()) {
                LOG.warn(
                        "The database has not taken the outcome of {}, {}. Unless it does so in the next moments, the"
                                + " job runs again once its heartbeat has expired.",
                        attempt,
                        attempt.decided());
            }
        }
    }

    @SuppressWarnings("UnusedException") // only the library has this thread, and it interrupts it to hurry
    private void await(BooleanSupplier condition, long nanos) {
        try {
            attempts.await(condition, nanos);
        } catch (InterruptedException e) {
            hurried = true;
        }
    }
}
