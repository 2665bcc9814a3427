package dev.millrace;

import dev.millrace.job.Messages;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Asks the database once, and waits for a bounded time. A connection that hangs can't be interrupted, so the question is
 * asked on a thread of its own, which ends with the answer. There is one such thread at a time: who asks while it waits,
 * waits for the same answer, so that health checks of a database that hangs don't pile up.
 */
final class ReadinessProbe {
    private final Runnable question;
    private final AtomicReference<@Nullable CompletableFuture<@Nullable Throwable>> underWay = new AtomicReference<>();

    /** @param question returns if the database is ready, and throws otherwise */
    ReadinessProbe(Runnable question) {
        this.question = question;
    }

    Readiness ask(Duration patience) {
        long began = System.nanoTime();
        String reason = reason(patience);
        return new Readiness(reason == null, reason, Duration.ofNanos(System.nanoTime() - began));
    }

    @SuppressWarnings("UnusedException") // a timeout says all there is in its message
    private @Nullable String reason(Duration patience) {
        try {
            Throwable failure = answer().get(Math.max(1, patience.toNanos()), TimeUnit.NANOSECONDS);
            return failure == null ? null : Messages.of(failure);
        } catch (TimeoutException e) {
            return "The database has not answered within " + patience
                    + ": it, the way to it, or the pool of connections is at a standstill.";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "The thread that asked was interrupted.";
        } catch (ExecutionException | RuntimeException | Error e) {
            return "The database could not be asked: " + e;
        }
    }

    private CompletableFuture<@Nullable Throwable> answer() {
        CompletableFuture<@Nullable Throwable> mine = new CompletableFuture<>();
        while (true) {
            CompletableFuture<@Nullable Throwable> other = underWay.get();
            if (other != null) {
                return other;
            }
            if (underWay.compareAndSet(null, mine)) {
                start(mine);
                return mine;
            }
        }
    }

    private void start(CompletableFuture<@Nullable Throwable> answer) {
        try {
            Thread thread = new Thread(() -> run(answer), "millrace-readiness");
            thread.setDaemon(true);
            thread.start();
        } catch (Throwable e) {
            end(answer, e);
        }
    }

    private void run(CompletableFuture<@Nullable Throwable> answer) {
        Throwable failure = null;
        try {
            question.run();
        } catch (Throwable e) {
            failure = e;
        }
        end(answer, failure);
    }

    private void end(CompletableFuture<@Nullable Throwable> answer, @Nullable Throwable failure) {
        underWay.compareAndSet(answer, null);
        answer.complete(failure);
    }
}
