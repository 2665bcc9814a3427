package dev.millrace.worker;

import dev.millrace.job.Checks;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.Finish;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by a handler, from whatever depth, to end its attempt otherwise than by success or by the job's retry policy:
 *
 * <pre>{@code
 * if (!report.ready()) {
 *     throw EndAttempt.snooze(Duration.ofMinutes(5), "the report is not ready");
 * }
 * }</pre>
 *
 * <p>A timeout comes before it: an attempt that took longer than its job allows has failed. A job whose cancellation was
 * requested ends {@code Cancelled} where it would go on. As an exception it also rolls back the transaction that it passes.
 */
public final class EndAttempt extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private enum How {
        FAIL,
        RETRY,
        SNOOZE,
        CANCEL
    }

    private final How how;
    private final Duration delay;
    private final @Nullable String why;

    private EndAttempt(How how, Duration delay, @Nullable String why, @Nullable Throwable cause) {
        super(why, cause);
        this.how = how;
        this.delay = delay;
        this.why = why;
    }

    /**
     * {@return what fails the job for good, whether or not it has attempts left}
     *
     * @param why what is stored with the job, bounded; null to store what the cause says
     * @param cause what made it fail, for the log of the application; null if it is all said
     */
    public static EndAttempt fail(@Nullable String why, @Nullable Throwable cause) {
        return new EndAttempt(How.FAIL, Duration.ZERO, why, cause);
    }

    /**
     * {@return what fails the job for good, whether or not it has attempts left}
     *
     * @param why what is stored with the job, bounded
     */
    public static EndAttempt fail(String why) {
        return fail(why, null);
    }

    /**
     * {@return what fails this attempt, and sets when the next one may begin, rather than the job's retry policy} The attempt
     * counts: without one left, the job fails.
     *
     * @param after until the next attempt, from the end of this one; zero to a century
     * @param why what is stored with the job, bounded; null to store what the cause says
     * @param cause what made it fail, for the log of the application; null if it is all said
     * @throws dev.millrace.job.InvalidJobException if the delay is not allowed
     */
    public static EndAttempt retry(Duration after, @Nullable String why, @Nullable Throwable cause) {
        return new EndAttempt(How.RETRY, Checks.delay("after", after), why, cause);
    }

    /**
     * {@return what fails this attempt, and sets when the next one may begin, rather than the job's retry policy} The attempt
     * counts: without one left, the job fails.
     *
     * @param after until the next attempt, from the end of this one; zero to a century
     * @param why what is stored with the job, bounded
     * @throws dev.millrace.job.InvalidJobException if the delay is not allowed
     */
    public static EndAttempt retry(Duration after, String why) {
        return retry(after, why, null);
    }

    /**
     * {@return what puts the job off, without fault of it: the attempt doesn't count} However often.
     *
     * @param delay until the job may be claimed again, from the end of this attempt; zero to a century
     * @param why what is kept in the job's history, bounded; null if there is nothing to say
     * @throws dev.millrace.job.InvalidJobException if the delay is not allowed
     */
    public static EndAttempt snooze(Duration delay, @Nullable String why) {
        return new EndAttempt(How.SNOOZE, Checks.delay("delay", delay), why, null);
    }

    /**
     * {@return what cancels the job: it is no longer wanted}
     *
     * @param why what is kept in the job's history, bounded; null if there is nothing to say
     */
    public static EndAttempt cancel(@Nullable String why) {
        return new EndAttempt(How.CANCEL, Duration.ZERO, why, null);
    }

    /** How it ends the attempt of a job with this policy, of which so many attempts count, this one included. */
    Finish finish(RetryPolicy policy, int attempts) {
        return switch (how) {
            case FAIL -> new Finish.Fail(message(), Finish.Fail.Reason.HANDLER);
            case RETRY ->
                policy.allowsAnother(attempts)
                        ? new Finish.Retry(delay, message())
                        : new Finish.Fail(message(), Finish.Fail.Reason.HANDLER);
            case SNOOZE -> new Finish.HandBack(delay, why);
            case CANCEL -> new Finish.Cancel(why);
        };
    }

    /** Whether it is the outcome that the handler wants, rather than something that went wrong. */
    boolean isNoFailure() {
        return how == How.SNOOZE || how == How.CANCEL;
    }

    /** What the handler does by one that is no failure, for the log. */
    String describe() {
        return (how == How.SNOOZE ? "puts the job off for " + delay : "cancels the job")
                + (why == null ? "" : " (" + why + ")");
    }

    private @Nullable String message() {
        Throwable cause = getCause();
        return why != null || cause == null ? why : Failures.describe(cause);
    }
}
