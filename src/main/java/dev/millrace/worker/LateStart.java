package dev.millrace.worker;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Lets a job that was claimed just now run without that the database is told: a short one has ended before it would know
 * that it runs. Those that haven't are due to be started there after a while.
 */
final class LateStart {
    private final Ticker ticker;
    private final Suspensions suspensions;
    private final long unasked;
    private final Consumer<RunningAttempt> due;

    /**
     * @param wallMillis the wall clock
     * @param unasked how old a claim may be, and how long its handler runs before the database is told
     * @param due called for each attempt that is to be started later, before its handler runs
     */
    LateStart(Ticker ticker, LongSupplier wallMillis, Duration unasked, Consumer<RunningAttempt> due) {
        this.ticker = ticker;
        this.suspensions = new Suspensions(ticker, wallMillis);
        this.unasked = unasked.toNanos();
        this.due = due;
    }

    /** Whether this attempt's handler may run at once; not if anything may have happened to the job since its claim. */
    boolean mayRun(RunningAttempt attempt) {
        long now = ticker.now();
        if (!attempt.beats().fresh(now, unasked)
                || !suspensions.noneSince(attempt.beats().confirmedAt())
                || attempt.stopReason() != null
                || attempt.job().cancellationRequested()) {
            return false;
        }
        attempt.startIsDue(now + unasked);
        due.accept(attempt);
        return true;
    }
}
