package dev.millrace.job;

import dev.millrace.types.JobStatus;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Where a job stands. All times are the database's, in whole microseconds.
 *
 * @param version grows with each compare-and-set, claim and change of status
 * @param status queued, claimed, running or ended
 * @param attemptCount how often the job was claimed
 * @param claimedBy the worker of the current or last attempt
 * @param claimedAt when that attempt began
 * @param lastHeartbeatAt when it last gave a sign of life
 * @param nextRetryAt when the next attempt is due, after a failed one
 * @param completedAt when the job ended
 * @param percentComplete progress as the attempt reported it, 0 to 100
 * @param currentPhase what the attempt said it was doing
 * @param updatedAt when the row last changed, heartbeats aside
 */
public record AttemptState(
        long version,
        JobStatus status,
        int attemptCount,
        @Nullable String claimedBy,
        @Nullable Instant claimedAt,
        @Nullable Instant lastHeartbeatAt,
        @Nullable Instant nextRetryAt,
        @Nullable Instant completedAt,
        @Nullable Double percentComplete,
        @Nullable String currentPhase,
        Instant updatedAt) {
    /** Out of reach of counting, and far below what the columns hold: a claim of a job must be able to count on. */
    private static final long MAX_VERSION = 1_000_000_000_000_000L;

    private static final int MAX_ATTEMPTS = 1_000_000_000;

    /**
     * Checks the values.
     *
     * @param version see {@link #version()}
     * @param status see {@link #status()}
     * @param attemptCount see {@link #attemptCount()}
     * @param claimedAt see {@link #claimedAt()}
     * @param lastHeartbeatAt see {@link #lastHeartbeatAt()}
     * @param nextRetryAt see {@link #nextRetryAt()}
     * @param completedAt see {@link #completedAt()}
     * @param updatedAt see {@link #updatedAt()}
     * @param claimedBy see {@link #claimedBy()}
     * @param currentPhase see {@link #currentPhase()}
     * @param percentComplete see {@link #percentComplete()}
     * @throws InvalidJobException if a value is not allowed
     */
    public AttemptState {
        if (version < 1 || version > MAX_VERSION) {
            throw new InvalidJobException(
                    "version", String.valueOf(version), "a whole number from 1 to " + MAX_VERSION);
        }
        Checks.given("status", status);
        if (attemptCount < 0 || attemptCount > MAX_ATTEMPTS) {
            throw new InvalidJobException(
                    "attemptCount", String.valueOf(attemptCount), "a whole number from 0 to " + MAX_ATTEMPTS);
        }
        claimedAt = Checks.instantOrNull("claimedAt", claimedAt);
        lastHeartbeatAt = Checks.instantOrNull("lastHeartbeatAt", lastHeartbeatAt);
        nextRetryAt = Checks.instantOrNull("nextRetryAt", nextRetryAt);
        completedAt = Checks.instantOrNull("completedAt", completedAt);
        updatedAt = Checks.instant("updatedAt", updatedAt);
        if (claimedBy != null) {
            Checks.text("claimedBy", claimedBy, Checks.MAX_ID_CHARACTERS, Checks.MAX_ID_BYTES);
        }
        if (currentPhase != null) {
            Checks.text("currentPhase", currentPhase, Checks.MAX_ID_CHARACTERS, Checks.MAX_ID_BYTES);
        }
        if (percentComplete != null) {
            Checks.percent("percentComplete", percentComplete);
        }
    }

    /**
     * {@return a job that was just created and waits}
     *
     * @param now when it was created
     */
    public static AttemptState queued(Instant now) {
        return new AttemptState(1, JobStatus.QUEUED, 0, null, null, null, null, null, null, null, now);
    }

    /**
     * {@return this state with another status}
     *
     * @param value see {@link #status()}
     */
    public AttemptState withStatus(JobStatus value) {
        return new AttemptState(
                version,
                value,
                attemptCount,
                claimedBy,
                claimedAt,
                lastHeartbeatAt,
                nextRetryAt,
                completedAt,
                percentComplete,
                currentPhase,
                updatedAt);
    }

    /**
     * {@return this state with another worker}
     *
     * @param value see {@link #claimedBy()}
     */
    public AttemptState withClaimedBy(@Nullable String value) {
        return new AttemptState(
                version,
                status,
                attemptCount,
                value,
                claimedAt,
                lastHeartbeatAt,
                nextRetryAt,
                completedAt,
                percentComplete,
                currentPhase,
                updatedAt);
    }

    /**
     * {@return this state with another beginning of the attempt}
     *
     * @param value see {@link #claimedAt()}
     */
    public AttemptState withClaimedAt(@Nullable Instant value) {
        return new AttemptState(
                version,
                status,
                attemptCount,
                claimedBy,
                value,
                lastHeartbeatAt,
                nextRetryAt,
                completedAt,
                percentComplete,
                currentPhase,
                updatedAt);
    }

    /**
     * {@return this state with another time of the next attempt}
     *
     * @param value see {@link #nextRetryAt()}
     */
    public AttemptState withNextRetryAt(@Nullable Instant value) {
        return new AttemptState(
                version,
                status,
                attemptCount,
                claimedBy,
                claimedAt,
                lastHeartbeatAt,
                value,
                completedAt,
                percentComplete,
                currentPhase,
                updatedAt);
    }

    /**
     * {@return this state with another end}
     *
     * @param value see {@link #completedAt()}
     */
    public AttemptState withCompletedAt(@Nullable Instant value) {
        return new AttemptState(
                version,
                status,
                attemptCount,
                claimedBy,
                claimedAt,
                lastHeartbeatAt,
                nextRetryAt,
                value,
                percentComplete,
                currentPhase,
                updatedAt);
    }
}
