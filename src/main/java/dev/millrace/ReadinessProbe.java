package dev.millrace;

import dev.millrace.job.Messages;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Asks the database once, and waits for a bounded time. A connection that hangs can't be interrupted, so the question is
 * asked on a thread of its own, which ends with the answer. Who asks while one waits, waits for the same answer, so that
 * health checks of a database that hangs don't pile up. A question that has waited for long is on a connection that is
 * lost, perhaps, while the database is well: then another one is asked, a few in all.
 */
final class ReadinessProbe {
    private static final int MOST = 3;
    private static final Duration LONG = Duration.ofSeconds(10);

    private final Runnable question;
    private final Duration longWait;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Question latest;
    private int underWay;

    private static final class Question {
        private final CompletableFuture<@Nullable Throwable> answer = new CompletableFuture<>();
        private final long askedAt = System.nanoTime();
    }

    /** @param question returns if the database is ready, and throws otherwise */
    ReadinessProbe(Runnable question) {
        this(question, LONG);
    }

    /** @param longWait after how long another question is asked beside one */
    ReadinessProbe(Runnable question, Duration longWait) {
        this.question = question;
        this.longWait = longWait;
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
        lock.lock();
        try {
            Question asked = latest;
            if (asked != null && (underWay >= MOST || System.nanoTime() - asked.askedAt < longWait.toNanos())) {
                return asked.answer;
            }
            Question mine = new Question();
            start(mine);
            latest = mine;
            underWay++;
            return mine.answer;
        } finally {
            lock.unlock();
        }
    }

    private void start(Question mine) {
        Thread thread = new Thread(() -> run(mine), "millrace-readiness");
        thread.setDaemon(true);
        thread.start();
    }

    private void run(Question mine) {
        Throwable failure = null;
        try {
            question.run();
        } catch (Throwable e) {
            failure = e;
        }
        lock.lock();
        try {
            underWay--;
            if (latest == mine) {
                latest = null;
            }
        } finally {
            lock.unlock();
        }
        mine.answer.complete(failure);
    }
}
