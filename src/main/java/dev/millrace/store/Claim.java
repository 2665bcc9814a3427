package dev.millrace.store;

import dev.millrace.job.Job;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A claimed job.
 *
 * @param job the job as it is since the claim
 * @param token the fence of this attempt; null only if the job was seeded as claimed, and so is no attempt's
 * @param forgivenAttempts how many earlier claims don't count against the maximum of attempts
 */
public record Claim(Job job, @Nullable UUID token, int forgivenAttempts) {
    /** {@return what the attempt's writes are fenced by} */
    public Attempt attempt() {
        return new Attempt(job.id(), token);
    }

    /**
     * {@return this claim with the job as it is given}
     *
     * @param value the same job, changed
     */
    public Claim withJob(Job value) {
        return new Claim(value, token, forgivenAttempts);
    }

    /** {@return how many attempts count, this one included} */
    public int countedAttempts() {
        return job.state().attemptCount() - forgivenAttempts;
    }
}
