package dev.millrace.job;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that has ended, as the job's history keeps it.
 *
 * @param attempt its number, from 1
 * @param token its claim token; by it a worker recognises its own ending after a lost reply
 * @param worker who ran it
 * @param claimedAt when it began
 * @param endedAt when it ended
 * @param ending how it ended
 * @param message what it said, bounded
 */
public record PastAttempt(
        int attempt,
        @Nullable UUID token,
        @Nullable String worker,
        @Nullable Instant claimedAt,
        Instant endedAt,
        Ending ending,
        @Nullable String message) {
    /** How an attempt ended. */
    public enum Ending {
        /** The handler failed and the job failed with it. */
        FAILED,
        /** The handler failed and the job waits for its next attempt. */
        RETRIED,
        /** Given back without fault, such as at shutdown; does not count against the maximum of attempts. */
        HANDED_BACK,
        /** Ended by a cancellation request. */
        CANCELLED,
        /** Took longer than the job's maximum duration. */
        TIMED_OUT,
        /** Its worker gave no sign of life for the heartbeat timeout. */
        EXPIRED
    }

    /**
     * Checks the values.
     *
     * @param token see {@link #token()}
     * @param worker see {@link #worker()}
     * @param attempt see {@link #attempt()}
     * @param claimedAt see {@link #claimedAt()}
     * @param endedAt see {@link #endedAt()}
     * @param ending see {@link #ending()}
     * @param message see {@link #message()}
     * @throws InvalidJobException if a value is not allowed
     */
    public PastAttempt {
        Checks.atLeast("history.attempt", attempt, 0);
        claimedAt = Checks.instantOrNull("history.claimedAt", claimedAt);
        endedAt = Checks.instant("history.endedAt", endedAt);
        Checks.given("history.ending", ending);
        message = Messages.bounded(message);
    }
}
