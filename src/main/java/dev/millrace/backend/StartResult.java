package dev.millrace.backend;

import dev.millrace.job.Checks;
import java.util.Objects;

/** What came of starting an attempt. */
public sealed interface StartResult {
    /**
     * It runs, or waits for its turn at the backend, or has ended already: observing it tells.
     *
     * @param operationId the id under which the backend knows it, 1 to 512 characters; kept with the job
     */
    record Started(String operationId) implements StartResult {
        /**
         * Checks the values.
         *
         * @param operationId see {@link #operationId()}
         * @throws dev.millrace.job.InvalidJobException if it is not allowed
         */
        public Started {
            Checks.id("operationId", operationId);
        }
    }

    /**
     * It does not run, and won't by this request. The attempt counts and has failed.
     *
     * @param message why, bounded when stored
     * @param retrying whether another attempt may go better
     */
    record Refused(String message, Retrying retrying) implements StartResult {
        /**
         * Checks the values.
         *
         * @param message see {@link #message()}
         * @param retrying see {@link #retrying()}
         */
        public Refused {
            Objects.requireNonNull(message, "message");
            Objects.requireNonNull(retrying, "retrying");
        }
    }
}
