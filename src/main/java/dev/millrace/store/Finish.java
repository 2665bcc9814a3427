package dev.millrace.store;

import dev.millrace.job.Checks;
import dev.millrace.job.Messages;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How an attempt ends, as its worker says. */
public sealed interface Finish {
    /** The job succeeded. */
    record Succeed() implements Finish {}

    /**
     * The job failed for good.
     *
     * @param message why, bounded when stored; null if there is nothing to say
     * @param reason what made it fail
     */
    record Fail(@Nullable String message, Reason reason) implements Finish {
        /** Why a job fails for good. */
        public enum Reason {
            /** The handler failed, and there is no other attempt. */
            HANDLER,
            /** The attempt took longer than the job's maximum duration. */
            TIMEOUT,
            /** The attempt's worker gave no sign of life for the job's heartbeat timeout, and there is no other attempt. */
            EXPIRED
        }

        /**
         * Checks the values.
         *
         * @param message see {@link #message()}
         * @param reason see {@link #reason()}
         */
        public Fail {
            Objects.requireNonNull(reason, "reason");
        }
    }

    /**
     * The job was cancelled, as requested, or because it is no longer wanted.
     *
     * @param reason why, bounded when stored; null if there is nothing to say beyond the request
     */
    record Cancel(@Nullable String reason) implements Finish {
        /** Cancelled as requested. */
        public Cancel() {
            this(null);
        }
    }

    /**
     * The attempt failed and counts; the job waits for the next one. Ends {@code Cancelled} instead if that was
     * requested.
     *
     * @param delay until the next attempt, from now by database time; zero or longer
     * @param message why, bounded when stored; null if there is nothing to say
     */
    record Retry(Duration delay, @Nullable String message) implements Finish {
        /**
         * Checks the values.
         *
         * @param message see {@link #message()}
         * @param delay see {@link #delay()}
         * @throws dev.millrace.job.InvalidJobException if a value is not allowed
         */
        public Retry {
            delay = Checks.delay("delay", delay);
        }
    }

    /**
     * The attempt ends without fault and does not count; the job is claimable again after the delay. Ends {@code
     * Cancelled} instead if that was requested.
     *
     * @param delay from now by database time; zero or longer
     * @param reason why, bounded when stored; null if there is nothing to say
     */
    record HandBack(Duration delay, @Nullable String reason) implements Finish {
        /**
         * Checks the values.
         *
         * @param reason see {@link #reason()}
         * @param delay see {@link #delay()}
         * @throws dev.millrace.job.InvalidJobException if a value is not allowed
         */
        public HandBack {
            delay = Checks.delay("delay", delay);
        }
    }

    /** {@return what the ending says, bounded; null if nothing} */
    default @Nullable String note() {
        if (this instanceof Fail fail) {
            return Messages.bounded(fail.message());
        }
        if (this instanceof Retry retry) {
            return Messages.bounded(retry.message());
        }
        if (this instanceof Cancel cancel) {
            return Messages.bounded(cancel.reason());
        }
        return this instanceof HandBack back ? Messages.bounded(back.reason()) : null;
    }
}
