package dev.millrace.store;

import dev.millrace.job.Job;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A claimed job.
 *
 * @param job the job as it is since the claim
 * @param token the fence of this attempt; null only if the job was seeded as claimed, and so is no attempt's
 * @param forgivenAttempts how many earlier claims don't count against the maximum of attempts
 * @param dueAt since when the job could be claimed, by the database's clock; null if it had no place in the queue
 */
public record Claim(
        Job job,
        @Nullable UUID token,
        int forgivenAttempts,
        @Nullable Instant dueAt) {
    /**
     * A claim of which it is not known since when the job was due.
     *
     * @param job see {@link #job()}
     * @param token see {@link #token()}
     * @param forgivenAttempts see {@link #forgivenAttempts()}
     */
    public Claim(Job job, @Nullable UUID token, int forgivenAttempts) {
        this(job, token, forgivenAttempts, null);
    }

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
        return new Claim(value, token, forgivenAttempts, dueAt);
    }

    /** {@return how many attempts count, this one included} */
    public int countedAttempts() {
        return job.state().attemptCount() - forgivenAttempts;
    }
}
