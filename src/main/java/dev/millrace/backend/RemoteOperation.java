package dev.millrace.backend;

import dev.millrace.job.Checks;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An attempt at a backend. Immutable.
 *
 * @param jobId the job
 * @param attempt the attempt's number, from 1; 0 if it is not known
 * @param token the attempt's token, by which and the job's id it was started
 * @param operationId the id that the backend has given it, 1 to 512 characters; null if it has not been told yet
 */
public record RemoteOperation(
        String jobId, int attempt, UUID token, @Nullable String operationId) {
    /**
     * Checks the values.
     *
     * @param jobId see {@link #jobId()}
     * @param attempt see {@link #attempt()}
     * @param token see {@link #token()}
     * @param operationId see {@link #operationId()}
     * @throws dev.millrace.job.InvalidJobException if a value is not allowed
     */
    public RemoteOperation {
        Checks.id("jobId", jobId);
        Checks.atLeast("attempt", attempt, 0);
        Objects.requireNonNull(token, "token");
        if (operationId != null) {
            Checks.id("operationId", operationId);
        }
    }

    /**
     * {@return the same attempt under this id}
     *
     * @param value see {@link #operationId()}
     */
    public RemoteOperation withOperationId(@Nullable String value) {
        return new RemoteOperation(jobId, attempt, token, value);
    }
}
