package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * A job's log has taken as many event ids as it can remember. Nothing was appended. Lines without an event id can still be
 * appended. Unlike a refusal of bad input it is found out by the database, so it ends a caller's transaction.
 */
public final class LogEventLimitException extends StoreException {
    private static final long serialVersionUID = 1L;

    /** How many event ids one log takes. */
    public static final int MAX_EVENT_IDS = 8_192;

    private final String jobId;

    /**
     * A log that takes no more event ids.
     *
     * @param jobId whose log it is
     * @param cause what the database said, or null
     */
    public LogEventLimitException(String jobId, @Nullable Throwable cause) {
        super(
                "The log of job \"" + jobId + "\" takes no more event ids: it remembers " + MAX_EVENT_IDS
                        + " of them at most. Nothing was appended. Append the job's further lines without event ids, or"
                        + " write fewer of them.",
                cause);
        this.jobId = jobId;
    }

    /** {@return whose log it is} */
    public String jobId() {
        return jobId;
    }
}
