package dev.millrace.worker;

/**
 * Does the work of one kind of job. Called by many threads at once, and for the same job more than once if an earlier
 * attempt did not end: make it idempotent.
 *
 * @param <T> the payload's type
 */
@FunctionalInterface
public interface JobHandler<T> {
    /**
     * Runs the job. A normal return is its success; anything thrown is a failure of this attempt, and the job's retry
     * policy decides whether there is another one. The thread is interrupted when the job should stop; {@link
     * JobContext#stopReason} says why.
     *
     * @param payload the job's parameters
     * @param context the attempt
     * @throws Exception if the attempt failed. Its class and message are stored with the job, so they should hold no
     *     secrets
     */
    void handle(T payload, JobContext context) throws Exception;
}
