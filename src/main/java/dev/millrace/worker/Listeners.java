package dev.millrace.worker;

import dev.millrace.internal.Feed;
import dev.millrace.job.Job;
import dev.millrace.store.Claim;
import dev.millrace.worker.WorkerListener.JobAttempt;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells the listeners of one worker what it does. Each is told by a {@link Feed}, so none of these methods waits for one,
 * and none throws: they are called in the middle of loops.
 */
final class Listeners {
    /** Nobody listens. */
    static final Listeners NONE = new Listeners("", List.of());

    /** How long closing waits for listeners to hear what is left. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final String worker;
    private final List<Feed<WorkerListener>> feeds;

    Listeners(String worker, List<WorkerListener> listeners) {
        this.worker = worker;
        this.feeds = listeners.stream()
                .map(listener -> new Feed<>("millrace-" + worker + "-listener", listener, WorkerListener::missed))
                .toList();
    }

    void opened(Worker opened) {
        tell(() -> listener -> listener.opened(opened));
    }

    /** Tells that the worker is closed, and waits a little until all is heard. */
    void close(Worker closed) {
        tell(() -> listener -> listener.closed(closed));
        Failures.survive(() -> Feed.close(feeds, PATIENCE));
    }

    /** Whether a listener is being told something on this thread. */
    boolean runOn(Thread thread) {
        return feeds.stream().anyMatch(feed -> feed.runsOn(thread));
    }

    /** Calls for jobs, and tells what that brought, or how it failed. */
    List<Claim> claiming(int asked, Ticker ticker, Supplier<List<Claim>> call) {
        long began = ticker.now();
        try {
            List<Claim> claims = call.get();
            claimed(asked, claims.size(), ticker.now() - began);
            return claims;
        } catch (RuntimeException | Error e) {
            claimFailed(asked, e, ticker.now() - began);
            throw e;
        }
    }

    private void claimed(int asked, int got, long nanos) {
        tell(() -> {
            var event = new WorkerListener.Claimed(worker, asked, got, Duration.ofNanos(nanos));
            return listener -> listener.claimed(event);
        });
    }

    private void claimFailed(int asked, Throwable failure, long nanos) {
        tell(() -> {
            var event = new WorkerListener.ClaimFailed(worker, asked, Duration.ofNanos(nanos), failure);
            return listener -> listener.claimFailed(event);
        });
    }

    void started(RunningAttempt attempt) {
        tell(() -> {
            var event = new WorkerListener.Started(identity(attempt), waited(attempt));
            return about(attempt, listener -> listener.started(event));
        });
    }

    /** Its outcome is written, or was refused. */
    void ended(RunningAttempt attempt, boolean accepted) {
        if (!accepted) {
            lost(attempt);
            return;
        }
        tell(() -> {
            var event = new WorkerListener.Ended(identity(attempt), attempt.decided(), attempt.ran());
            return about(attempt, listener -> listener.ended(event));
        });
    }

    void lost(RunningAttempt attempt) {
        tell(() -> {
            var event = new WorkerListener.Lost(identity(attempt), attempt.ran());
            return about(attempt, listener -> listener.lost(event));
        });
    }

    void heartbeatsFailed(int attempts, Throwable failure) {
        tell(() -> {
            var event = new WorkerListener.HeartbeatsFailed(worker, attempts, failure);
            return listener -> listener.heartbeatsFailed(event);
        });
    }

    void heartbeatsAnswered() {
        tell(() -> listener -> listener.heartbeatsAnswered(worker));
    }

    /** Makes an event. */
    private interface Telling {
        Consumer<WorkerListener> event();
    }

    private void tell(Telling telling) {
        if (!feeds.isEmpty()) {
            Failures.survive(() -> {
                Consumer<WorkerListener> event = telling.event();
                feeds.forEach(feed -> feed.tell(event));
            });
        }
    }

    private JobAttempt identity(RunningAttempt attempt) {
        Job job = attempt.job();
        return new JobAttempt(
                job.id(), job.kind(), job.spec().queue(), job.spec().runtimeProfile(), attempt.number(), worker);
    }

    private Consumer<WorkerListener> about(RunningAttempt attempt, Consumer<WorkerListener> event) {
        return listener -> {
            try (LogContext ignored = LogContext.enter(attempt, worker)) {
                event.accept(listener);
            }
        };
    }

    /** In the queue by the database's clock, and here by our own. */
    private static @Nullable Duration waited(RunningAttempt attempt) {
        Instant dueAt = attempt.claim().dueAt();
        Instant claimedAt = attempt.job().state().claimedAt();
        if (dueAt == null || claimedAt == null) {
            return null;
        }
        Duration queued = Duration.between(dueAt, claimedAt);
        return (queued.isNegative() ? Duration.ZERO : queued).plus(attempt.sinceClaim());
    }
}
