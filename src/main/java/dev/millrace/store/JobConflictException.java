package dev.millrace.store;

import java.util.List;

/** A job of this id is already there, and is another one. Nothing was written, and no SQL error was raised. */
public final class JobConflictException extends StoreException {
    private static final long serialVersionUID = 1L;

    private final String jobId;
    private final List<String> differences;

    /**
     * A job that is another one.
     *
     * @param jobId the id that both have
     * @param differences what differs, such as {@code kind}
     */
    public JobConflictException(String jobId, List<String> differences) {
        super(
                "A job with the id \"" + jobId + "\" is already there, and differs in "
                        + String.join(", ", differences)
                        + ". Submit under another id, or with the same content if this is a repetition.",
                null);
        this.jobId = jobId;
        this.differences = List.copyOf(differences);
    }

    /** {@return the id that both have} */
    public String jobId() {
        return jobId;
    }

    /** {@return what differs, such as {@code kind} or {@code parameters}} */
    public List<String> differences() {
        return differences;
    }
}
