package dev.millrace.worker;

import dev.millrace.store.Attempt;
import dev.millrace.store.Completion;
import dev.millrace.store.Finish;
import dev.millrace.store.StoreException;
import dev.millrace.store.WorkSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes how attempts ended, as often as it takes: after a failure it waits 0.2, 0.5, 1 and then 2 s and repeats, which
 * is safe since the database recognises an ending that it has by the attempt's token. The attempt keeps its slot and its
 * beats meanwhile, so nobody takes the job for dead while its outcome is on the way.
 *
 * <p>Writing ends when the ending is written, or refused because the job is no longer the attempt's, or when the worker
 * gives up: at the end of {@link Shutdown}, or after {@value #UNEXPECTED_LIMIT} failures that are not the database's.
 * Then the job is recovered by the expiry of its heartbeat, as if the worker had died.
 *
 * <p>A handler's own thread writes the outcome that the handler's return decided, or, where the worker gathers them, adds it to
 * those that are written together ({@link BufferedOutcomes}). All others are written on threads of their own: the handler's
 * may be stuck.
 */
final class Outcomes {
    private static final Logger LOG = LoggerFactory.getLogger(Outcomes.class);
    private static final int UNEXPECTED_LIMIT = 5;

    private final WorkSource source;
    private final JobLog jobLog;
    private final Executor elsewhere;
    private final Health health;
    private final CountDownLatch givenUp = new CountDownLatch(1);
    private final @Nullable BufferedOutcomes buffer;

    Outcomes(WorkSource source, JobLog jobLog, OutcomeBuffer buffer, Executor elsewhere, Health health, Ticker ticker) {
        this.source = source;
        this.jobLog = jobLog;
        this.elsewhere = elsewhere;
        this.health = health;
        this.buffer = buffer.gathers() ? new BufferedOutcomes(buffer, ticker, this::writeAll) : null;
    }

    /** What writes those that are gathered, for a thread of its own; null if none are. */
    @Nullable
    Runnable gathering() {
        return buffer;
    }

    /** Writes what was decided for this attempt, together with others if the worker gathers them. Throws nothing. */
    void writeOrGather(RunningAttempt attempt) {
        if (buffer == null || !buffer.add(attempt)) {
            write(attempt);
        }
    }

    /** Writes what was decided for this attempt, on this thread, and closes its ending. Throws nothing. */
    void write(RunningAttempt attempt) {
        try (LogContext ignored = LogContext.enter(attempt)) {
            repeatUntilAnswered(attempt);
        } catch (Throwable e) {
            health.trouble("Writing the outcome of " + attempt, e);
            LOG.error(
                    "The outcome of {}, {}, could not be written. The job runs again once its heartbeat has expired.",
                    attempt,
                    attempt.decided(),
                    e);
        } finally {
            attempt.closeEnding();
        }
    }

    /** The same, on another thread. */
    void writeElsewhere(RunningAttempt attempt) {
        try {
            elsewhere.execute(() -> write(attempt));
        } catch (Throwable e) {
            // Not on this thread: it is a timer's or a loop's, and must not wait for a database.
            health.trouble("Writing the outcome of " + attempt, e);
            LOG.error(
                    "There is no thread to write the outcome of {}. The job runs again once its heartbeat has expired.",
                    attempt,
                    e);
            attempt.closeEnding();
        }
    }

    private void writeAll(List<RunningAttempt> batch) {
        if (batch.size() == 1) {
            write(batch.get(0));
            return;
        }
        List<Completion> completions =
                batch.stream().map(RunningAttempt::completion).toList();
        Backoff backoff = new Backoff();
        do {
            try {
                Set<Attempt> ended = source.finishUnlocked(completions);
                for (RunningAttempt attempt : batch) {
                    if (ended.contains(attempt.attempt())) {
                        health.listeners().ended(attempt, true);
                        attempt.closeEnding();
                    } else {
                        writeElsewhere(attempt); // locked, or lost: it may have to wait to find out
                    }
                }
                return;
            } catch (Throwable e) {
                health.trouble("Writing " + batch.size() + " outcomes", e);
                if (!Failures.concernsAll(e)) {
                    LOG.warn("{} outcomes can't be written together; each is written by itself.", batch.size(), e);
                    batch.forEach(this::writeElsewhere);
                    return;
                }
                if (backoff.failures() == 0) {
                    LOG.warn("{} outcomes are not written yet; that is repeated: {}", batch.size(), e.toString());
                }
            }
        } while (!givenUpWithin(backoff.next()));
        for (RunningAttempt attempt : batch) {
            givenUp(attempt);
            attempt.closeEnding();
        }
    }

    /** The job takes nothing from this attempt any more: what it has warned of is kept in the job's log. */
    void abandoned(RunningAttempt attempt) {
        if (attempt.stopReason() == StopReason.LOST) {
            Failures.survive(() -> jobLog.abandoned(attempt));
        }
    }

    /** Nothing is gathered any more for longer than it takes to write what came before. */
    void hurry() {
        if (buffer != null) {
            buffer.hurry();
        }
    }

    /** No repetitions any more: what is not written yet is left to the expiry of heartbeats. */
    void giveUp() {
        givenUp.countDown();
        if (buffer != null) {
            buffer.stop();
        }
    }

    private void repeatUntilAnswered(RunningAttempt attempt) {
        Backoff backoff = new Backoff();
        int unexpected = 0;
        do {
            try {
                boolean accepted = accepted(attempt);
                health.listeners().ended(attempt, accepted);
                if (!accepted) {
                    refused(attempt);
                }
                return;
            } catch (StoreException e) {
                health.trouble("Writing the outcome of " + attempt, e);
                // An outage is said once, not at each repetition. Anything else wants someone to look.
                if (backoff.failures() == 0 || !Failures.concernsAll(e)) {
                    LOG.warn("The outcome of {} is not written yet; that is repeated: {}", attempt, e.toString());
                }
            } catch (Throwable e) {
                unexpected++;
                if (unexpected == UNEXPECTED_LIMIT) {
                    throw e;
                }
                health.trouble("Writing the outcome of " + attempt, e);
                LOG.warn("The outcome of {} is not written yet.", attempt, e);
            }
        } while (!givenUpWithin(backoff.next()));
        givenUp(attempt);
    }

    /** Where a handler has completed its job itself, what was decided since is refused, and the job has succeeded. */
    private boolean accepted(RunningAttempt attempt) {
        if (source.finish(attempt.completion())) {
            return true;
        }
        boolean completed = attempt.isCompleting() && source.finish(attempt.claim(), new Finish.Succeed());
        if (completed) {
            attempt.hasSucceeded();
        }
        return completed;
    }

    /** Whatever this attempt's outcome came to, it waits among no others any more. */
    void closed(RunningAttempt attempt) {
        if (buffer != null) {
            buffer.closed(attempt);
        }
    }

    private void refused(RunningAttempt attempt) {
        try (LogContext ignored = LogContext.enter(attempt)) {
            LOG.warn(
                    "The outcome of {}, {}, was refused: the job has ended, was given to another attempt, or is gone.",
                    attempt,
                    attempt.decided());
            Failures.survive(() -> jobLog.abandoned(attempt));
        }
    }

    private static void givenUp(RunningAttempt attempt) {
        try (LogContext ignored = LogContext.enter(attempt)) {
            LOG.warn(
                    "The outcome of {}, {}, was not written before the worker closed. The job runs again once its"
                            + " heartbeat has expired.",
                    attempt,
                    attempt.decided());
        }
    }

    @SuppressWarnings("UnusedException") // a handler may have left one behind; outcomes don't stop for interrupts
    private boolean givenUpWithin(long nanos) {
        try {
            return givenUp.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return false;
        }
    }
}
