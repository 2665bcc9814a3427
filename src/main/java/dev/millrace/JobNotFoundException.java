package dev.millrace;

/** There is no job of this id: it was never submitted here, its transaction was rolled back, or retention deleted it. */
public final class JobNotFoundException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String jobId;

    JobNotFoundException(String jobId, String schema) {
        super("There is no job \"" + jobId + "\" in schema \"" + schema
                + "\": it was never submitted there, its transaction was rolled back or is still open, or its retention"
                + " has passed.");
        this.jobId = jobId;
    }

    /** {@return the id that was looked for} */
    public String jobId() {
        return jobId;
    }
}
