package dev.millrace.worker;

import dev.millrace.job.RetryPolicy;
import dev.millrace.store.Finish;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * How an attempt ends, decided from what happened. A timeout comes before everything else: an attempt that took longer
 * than its job allows has failed, also if its handler still succeeded, the job was cancelled, or the worker shuts down.
 */
final class Endings {
    private Endings() {}

    /** The handler has returned, or thrown. */
    static Finish afterHandler(RunningAttempt attempt, @Nullable Throwable failure) {
        if (attempt.timedOut()) {
            return timeout(attempt);
        }
        if (failure == null) {
            return new Finish.Succeed();
        }
        RetryPolicy policy = attempt.job().policies().retry();
        int attempts = attempt.claim().countedAttempts();
        EndAttempt wanted = wanted(failure);
        if (wanted != null) {
            return wanted.finish(policy, attempts);
        }
        if (attempt.stopReason() == StopReason.CANCELLED) {
            return new Finish.Cancel();
        }
        String message = Failures.describe(failure);
        return policy.allowsAnother(attempts)
                ? new Finish.Retry(policy.delayAfter(attempts), message)
                : new Finish.Fail(message, Finish.Fail.Reason.HANDLER);
    }

    /** What the handler has thrown to say how its attempt ends, also on another thread that it waited for; null if nothing. */
    static @Nullable EndAttempt wanted(Throwable failure) {
        Throwable thrown = failure;
        while (thrown instanceof ExecutionException || thrown instanceof CompletionException) {
            thrown = thrown.getCause();
        }
        return thrown instanceof EndAttempt end ? end : null;
    }

    /** The attempt has taken as long as its job allows. */
    static Finish timeout(RunningAttempt attempt) {
        Duration most = attempt.job().policies().maxDuration();
        return new Finish.Fail(
                attempt.waiting()
                        ? "Timed out: not started within the maximum duration of " + most
                        : "Timed out: took longer than the maximum duration of " + most,
                Finish.Fail.Reason.TIMEOUT);
    }

    /** The worker gives the job up without fault of the job. */
    static Finish handBack(RunningAttempt attempt, String why) {
        if (attempt.timedOut()) {
            return timeout(attempt);
        }
        return attempt.stopReason() == StopReason.CANCELLED
                ? new Finish.Cancel()
                : new Finish.HandBack(Duration.ZERO, why);
    }
}
