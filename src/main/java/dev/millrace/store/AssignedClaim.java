package dev.millrace.store;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import java.util.UUID;

/**
 * A request for one job by its id: for a process that was started to run just this job.
 *
 * @param worker who asks: 1 to 512 characters
 * @param jobId the job
 * @param token a fresh random token. That of the claim is made of it and of the attempt's number, which takes the place of
 *     its last 32 bits: so the same request finds its claim again after a lost answer, and if it is used for a later
 *     attempt, that has another token, and the earlier one is fenced off as by any other claim. A request is one process's, to
 *     be repeated by it after a lost answer: two processes with the same one would, until the job is shown as
 *     {@code Running} (a second after its handler began, or later), both get its claim, and one that outlives the job may
 *     find its token at another job of the same id
 * @param takeover whether the job may be taken from a worker that is silent
 */
public record AssignedClaim(String worker, String jobId, UUID token, Takeover takeover) {
    /** Whether a claimed job may be taken from its worker. */
    public enum Takeover {
        /** Only a queued job is taken. */
        NEVER,
        /**
         * A job whose worker gave no sign of life for the job's heartbeat timeout is taken as well. To be said only by
         * who has watched a healthy database for that long: after an outage of the database every worker looks silent.
         */
        OUTAGE_GRACE_IS_OVER
    }

    /**
     * Checks the values.
     *
     * @param worker see {@link #worker()}
     * @param jobId see {@link #jobId()}
     * @param token see {@link #token()}
     * @param takeover see {@link #takeover()}
     * @throws InvalidJobException if a value is not allowed
     */
    public AssignedClaim {
        Checks.id("worker", worker);
        Checks.id("jobId", jobId);
        given("token", token);
        given("takeover", takeover);
    }

    /**
     * {@return a request for a queued job, with a fresh token; to be repeated after a lost answer}
     *
     * @param worker who asks: 1 to 512 characters
     * @param jobId the job
     */
    public static AssignedClaim of(String worker, String jobId) {
        return new AssignedClaim(worker, jobId, UUID.randomUUID(), Takeover.NEVER);
    }

    /**
     * {@return the same request, with the same token, that may take the job or not from a silent worker}
     *
     * @param value see {@link #takeover()}
     */
    public AssignedClaim withTakeover(Takeover value) {
        return new AssignedClaim(worker, jobId, token, value);
    }

    private static void given(String field, Object value) {
        if (value == null) {
            throw new InvalidJobException(field, "null", "a value");
        }
    }
}
