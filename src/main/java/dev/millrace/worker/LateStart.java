package dev.millrace.worker;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Lets a job that was claimed just now run without that the database is told: most end before it would know that they run.
 * Those that don't are due to be started there after a second.
 */
final class LateStart {
    private static final long LATER = TimeUnit.SECONDS.toNanos(1);

    private final Ticker ticker;
    private final Suspensions suspensions;
    private final Consumer<RunningAttempt> due;

    /**
     * @param wallMillis the wall clock
     * @param due called for each attempt that is to be started later, before its handler runs
     */
    LateStart(Ticker ticker, LongSupplier wallMillis, Consumer<RunningAttempt> due) {
        this.ticker = ticker;
        this.suspensions = new Suspensions(ticker, wallMillis);
        this.due = due;
    }

    /** Whether this attempt's handler may run at once; not if anything may have happened to the job since its claim. */
    boolean mayRun(RunningAttempt attempt) {
        long now = ticker.now();
        if (!attempt.beats().fresh(now)
                || !suspensions.noneSince(attempt.beats().confirmedAt())
                || attempt.stopReason() != null
                || attempt.job().cancellationRequested()) {
            return false;
        }
        attempt.startIsDue(now + LATER);
        due.accept(attempt);
        return true;
    }
}
