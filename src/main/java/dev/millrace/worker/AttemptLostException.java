package dev.millrace.worker;

/**
 * An attempt wrote for a job that is no longer its own: the job has ended, was given to another attempt, or is gone.
 * Nothing was written. The handler should stop.
 */
public final class AttemptLostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String jobId;
    private final int attempt;
    private final String worker;

    AttemptLostException(String jobId, int attempt, String worker) {
        super("Attempt " + attempt + " of job \"" + jobId + "\" on worker \"" + worker
                + "\" is no longer the job's: the job has ended, was given to another attempt, or is gone. Nothing was"
                + " written; the handler should stop.");
        this.jobId = jobId;
        this.attempt = attempt;
        this.worker = worker;
    }

    /** {@return the job} */
    public String jobId() {
        return jobId;
    }

    /** {@return the number of the attempt that was refused} */
    public int attempt() {
        return attempt;
    }

    /** {@return the name of the worker that runs it} */
    public String worker() {
        return worker;
    }
}
