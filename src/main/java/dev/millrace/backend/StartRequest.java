package dev.millrace.backend;

import dev.millrace.job.Job;
import java.util.Objects;
import java.util.UUID;

/**
 * An attempt that a backend is to start. Immutable, its job included.
 *
 * @param job the job as it is now: kind, parameters, policies
 * @param attempt the attempt's number, from 1
 * @param token the attempt's token: the same whenever the start of this attempt is repeated, and no other attempt's
 */
public record StartRequest(Job job, int attempt, UUID token) {
    /**
     * Checks the values.
     *
     * @param job see {@link #job()}
     * @param attempt see {@link #attempt()}
     * @param token see {@link #token()}
     */
    public StartRequest {
        Objects.requireNonNull(job, "job");
        Objects.requireNonNull(token, "token");
    }

    /** {@return the attempt, without an id at the backend} */
    public RemoteOperation operation() {
        return new RemoteOperation(job.id(), attempt, token, null);
    }
}
