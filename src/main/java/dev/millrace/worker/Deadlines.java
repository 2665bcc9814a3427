package dev.millrace.worker;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends attempts that take longer than their job allows. Each attempt has its deadline on one timer thread, which does no
 * I/O and so is never late: it decides the ending, flags and interrupts the handler, and has the outcome written on
 * another thread at once, whether or not the handler returns.
 *
 * <p>The same thread looks, now and then, for handlers that were asked to stop and run all the same, and says so once
 * for each: Java can't stop a thread, so such a handler keeps its slot until it returns.
 */
final class Deadlines {
    private static final Logger LOG = LoggerFactory.getLogger(Deadlines.class);
    private static final int FRAMES = 12;

    private final RunningAttempts attempts;
    private final Outcomes outcomes;
    private final Ticker ticker;
    private final long patience;
    private final ScheduledThreadPoolExecutor timer;
    private final Set<RunningAttempt> reported = ConcurrentHashMap.newKeySet();

    Deadlines(RunningAttempts attempts, Outcomes outcomes, Ticker ticker, Timings timings, ThreadFactory threads) {
        this.attempts = attempts;
        this.outcomes = outcomes;
        this.ticker = ticker;
        this.patience = timings.patience().toNanos();
        this.timer = new ScheduledThreadPoolExecutor(1, threads);
        timer.setRemoveOnCancelPolicy(true);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // it runs until the timer is stopped, and throws nothing
    void start() {
        timer.scheduleWithFixedDelay(guarded(this::reportStubborn), patience, patience, TimeUnit.NANOSECONDS);
    }

    void watch(RunningAttempt attempt) {
        long left = Math.max(0, attempt.timeoutAt() - ticker.now());
        attempt.deadline(timer.schedule(guarded(() -> strike(attempt)), left, TimeUnit.NANOSECONDS));
    }

    void stop() {
        timer.shutdownNow();
    }

    private void strike(RunningAttempt attempt) {
        if (attempt.decide(Endings.timeout(attempt), StopReason.TIMED_OUT)) {
            outcomes.writeElsewhere(attempt); // first: whatever becomes of the report, the outcome is on its way
            try (LogContext ignored = LogContext.enter(attempt)) {
                LOG.warn(
                        "{} took longer than {}: its job fails.",
                        attempt,
                        attempt.job().policies().maxDuration());
            }
        }
    }

    private void reportStubborn() {
        reported.retainAll(attempts.all());
        for (RunningAttempt attempt : attempts.all()) {
            Thread thread = attempt.ignoresStop(patience);
            if (thread != null && reported.add(attempt)) {
                reportStubborn(attempt, thread);
            }
        }
    }

    private static void reportStubborn(RunningAttempt attempt, Thread thread) {
        try (LogContext ignored = LogContext.enter(attempt)) {
            LOG.warn(
                    "The handler of {} ignores its interrupt: it was asked to stop ({}) and still runs. It keeps its slot"
                            + " until it returns. It is at:{}",
                    attempt,
                    attempt.stopReason(),
                    frames(thread));
        }
    }

    private static String frames(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .limit(FRAMES)
                .map(frame -> System.lineSeparator() + "    at " + frame)
                .collect(Collectors.joining());
    }

    private static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (Throwable e) {
                // If this threw, the timer would never call its periodic task again, and say nothing about it.
                Failures.survive(() -> LOG.error("A deadline could not be dealt with.", e));
            }
        };
    }
}
