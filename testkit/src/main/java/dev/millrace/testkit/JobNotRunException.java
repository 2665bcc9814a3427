package dev.millrace.testkit;

import dev.millrace.store.Assignment;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A job could not be run: it can't be claimed now, or the kit has no handler for its kind. Nothing about the job was
 * changed, but where {@link Assignment.Reason#UNREADABLE} says so.
 */
public final class JobNotRunException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String jobId;
    private final Assignment.@Nullable Reason reason;

    JobNotRunException(String jobId, Assignment.@Nullable Reason reason, String message) {
        super(message);
        this.jobId = jobId;
        this.reason = reason;
    }

    /** {@return the id of the job} */
    public String jobId() {
        return jobId;
    }

    /** {@return why it can't be claimed; empty if there is no handler for it} */
    public Optional<Assignment.Reason> reason() {
        return Optional.ofNullable(reason);
    }
}
