package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * A stored job that this release can't read: a newer one may have written it, or something else has. Its row stays as
 * it is. Says nothing of other jobs.
 */
public final class UnreadableJobException extends StoreException {
    private static final long serialVersionUID = 1L;

    private final String jobId;

    /**
     * A job that can't be read.
     *
     * @param jobId the job's id
     * @param what what can't be read, and why
     * @param cause the cause, or null if there is none
     */
    public UnreadableJobException(String jobId, String what, @Nullable Throwable cause) {
        super(
                "Job \"" + jobId + "\" can't be read by this release: " + what
                        + ". Its row is untouched. If a newer release has written it, upgrade this one; otherwise mend the"
                        + " column \"record\".",
                cause);
        this.jobId = jobId;
    }

    /** {@return the job} */
    public String jobId() {
        return jobId;
    }
}
