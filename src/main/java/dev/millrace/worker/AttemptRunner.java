package dev.millrace.worker;

import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.store.StoreException;
import dev.millrace.store.WorkSource;
import java.time.Duration;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a handler's thread does for one attempt: promote, decode, handle, finish.
 *
 * <p>An attempt that was claimed just now begins without a promotion, see {@link LateStart}. Promoting another one asks the
 * database until it answers. A handler whose start is unknown must not run: the job may be someone else's by now, or
 * cancelled. Asking again is safe, since a job that runs under this token answers {@code HELD}. Meanwhile the attempt is
 * beaten for, and the wait ends as soon as its ending is decided: by its timeout, by its loss, by a shutdown.
 *
 * <p>Anything thrown by the handler, or by decoding its payload, is a failure of this job and of nothing else: errors such
 * as a stack overflow or a missing class included. The slot is given back whatever happens.
 */
final class AttemptRunner {
    private static final Logger LOG = LoggerFactory.getLogger(AttemptRunner.class);
    private static final Duration NO_HANDLER_DELAY = Duration.ofSeconds(30);

    private final Map<String, Route<?>> routes;
    private final HandlerServices services;
    private final WorkSource source;
    private final Outcomes outcomes;
    private final Health health;
    private final Predicate<RunningAttempt> runsUnasked;

    /** @param runsUnasked for which attempts the handler runs without that the database is told */
    AttemptRunner(
            Map<String, Route<?>> routes,
            HandlerServices services,
            Outcomes outcomes,
            Predicate<RunningAttempt> runsUnasked) {
        this.runsUnasked = runsUnasked;
        this.routes = routes;
        this.services = services;
        this.source = services.source();
        this.outcomes = outcomes;
        this.health = services.health();
    }

    void run(RunningAttempt attempt) {
        try (LogContext ignored = LogContext.enter(attempt, services.worker())) {
            if (runsUnasked.test(attempt) || promote(attempt)) {
                handle(attempt);
            }
        } catch (Throwable e) {
            health.trouble("Running " + attempt, e);
            Failures.survive(() -> reportUnexpected(attempt, e));
            conclude(attempt, Endings.afterHandler(attempt, e));
        } finally {
            if (attempt.open()) {
                attempt.closeEnding();
            }
            attempt.runOver();
        }
    }

    /** True if the handler is to run; otherwise the attempt's ending is decided. */
    private boolean promote(RunningAttempt attempt) {
        Backoff backoff = new Backoff();
        while (attempt.open()) {
            if (attempt.stopReason() == StopReason.CANCELLED) {
                conclude(attempt, new Finish.Cancel());
            } else if (started(attempt, backoff.failures() == 0)) {
                return true;
            } else if (attempt.stopReason() == null) {
                attempt.awaitEnding(backoff.next());
            }
        }
        return false;
    }

    /** Asks once. False if the handler is not to run, or not yet. */
    private boolean started(RunningAttempt attempt, boolean first) {
        try {
            switch (source.start(attempt.attempt())) {
                case HELD -> {
                    return true;
                }
                case CANCELLATION_REQUESTED -> attempt.stop(StopReason.CANCELLED);
                case LOST -> {
                    if (attempt.lose()) {
                        health.listeners().lost(attempt);
                        LOG.info("{} was lost before it started: nothing was run.", attempt);
                    }
                }
                case BUSY -> LOG.debug("{} can't be started yet: its row is locked.", attempt);
            }
        } catch (StoreException e) {
            health.trouble("Starting " + attempt, e);
            if (first || !Failures.concernsAll(e)) {
                LOG.warn("It is not known whether {} is started, so its handler waits: {}", attempt, e.toString());
            }
        }
        return false;
    }

    private void handle(RunningAttempt attempt) {
        Route<?> route = routes.get(attempt.job().kind());
        if (route == null) {
            conclude(attempt, new Finish.HandBack(NO_HANDLER_DELAY, "This worker has no handler for the kind"));
            return;
        }
        if (!attempt.begin()) {
            // Stopped since it was started. If it was decided by then, this decides nothing any more.
            conclude(attempt, Endings.handBack(attempt, "Stopped before the handler started"));
            return;
        }
        health.listeners().started(attempt);
        Throwable failure = null;
        try {
            route.run(services.codec(), attempt.job(), new HandlerContext(attempt, services));
        } catch (Throwable e) {
            failure = e;
        } finally {
            attempt.leave();
        }
        if (failure == null && attempt.isCompleting() && rolledBack(attempt)) {
            failure =
                    new IllegalStateException("The handler completed the job in a transaction of its own, and returned"
                            + " although that was not committed. Let the exception pass that rolled it back.");
        }
        Finish ending = Endings.afterHandler(attempt, failure);
        if (failure != null) {
            Throwable reported = failure;
            Failures.survive(() -> report(attempt, reported, ending));
        }
        conclude(attempt, ending);
    }

    /** Whether the job is still this attempt's, so that the transaction which has completed it was not committed. */
    private boolean rolledBack(RunningAttempt attempt) {
        Backoff backoff = new Backoff();
        while (attempt.open()) {
            try {
                return source.start(attempt.attempt()) != Pulse.LOST;
            } catch (StoreException e) {
                health.trouble("Asking whether " + attempt + " was completed", e);
                if (backoff.failures() == 0 || !Failures.concernsAll(e)) {
                    LOG.warn(
                            "It is not known whether {} was completed; that is asked again: {}", attempt, e.toString());
                }
                attempt.awaitEnding(backoff.next());
            }
        }
        return false;
    }

    private void conclude(RunningAttempt attempt, Finish ending) {
        if (attempt.decide(ending)) {
            outcomes.writeOrGather(attempt);
        } else {
            outcomes.abandoned(attempt);
        }
    }

    private static void reportUnexpected(RunningAttempt attempt, Throwable failure) {
        try (LogContext ignored = LogContext.enter(attempt)) {
            LOG.error("Running {} failed outside of its handler.", attempt, failure);
        }
    }

    private static void report(RunningAttempt attempt, Throwable failure, Finish ending) {
        EndAttempt wanted = Endings.wanted(failure);
        boolean asWanted = ending instanceof Finish.HandBack || ending instanceof Finish.Cancel; // and not too late
        if (!attempt.open()) {
            LOG.debug("The handler of {} stopped as it was asked to ({}).", attempt, attempt.stopReason(), failure);
        } else if (wanted != null && wanted.isNoFailure() && asWanted) {
            LOG.info("The handler of {} {}.", attempt, wanted.describe());
        } else if (ending instanceof Finish.Cancel) {
            LOG.debug("The handler of {} stopped as it was asked to ({}).", attempt, attempt.stopReason(), failure);
        } else if (ending instanceof Finish.Retry retry) {
            LOG.warn(
                    "The handler of {} failed{}; the next attempt is due in {}.",
                    attempt,
                    why(wanted, ending),
                    retry.delay(),
                    trace(wanted, failure));
        } else {
            LOG.error(
                    "The handler of {} failed{}, and there is no other attempt.",
                    attempt,
                    why(wanted, ending),
                    trace(wanted, failure));
        }
    }

    private static String why(@Nullable EndAttempt wanted, Finish ending) {
        return wanted == null || ending.note() == null ? "" : " (" + ending.note() + ")";
    }

    /** What the handler threw; of an end that it wanted, only what caused that, if anything did. */
    private static @Nullable Throwable trace(@Nullable EndAttempt wanted, Throwable failure) {
        return wanted == null ? failure : wanted.getCause();
    }
}
