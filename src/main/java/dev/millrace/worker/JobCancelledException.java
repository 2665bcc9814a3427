package dev.millrace.worker;

/** A handler asked whether it should stop, and it should. Thrown by {@link JobContext#throwIfCancelled}. */
public final class JobCancelledException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String jobId;
    private final int attempt;
    private final String worker;
    private final StopReason reason;

    JobCancelledException(String jobId, int attempt, String worker, StopReason reason) {
        super("Attempt " + attempt + " of job \"" + jobId + "\" on worker \"" + worker + "\" should stop: " + reason);
        this.jobId = jobId;
        this.attempt = attempt;
        this.worker = worker;
        this.reason = reason;
    }

    /** {@return the job that should stop} */
    public String jobId() {
        return jobId;
    }

    /** {@return the number of the attempt} */
    public int attempt() {
        return attempt;
    }

    /** {@return the name of the worker that runs it} */
    public String worker() {
        return worker;
    }

    /** {@return why it should stop} */
    public StopReason reason() {
        return reason;
    }
}
