package dev.millrace.worker;

import dev.millrace.job.Job;
import java.util.Optional;

/**
 * One attempt at a job, as its handler sees it. Safe for use by many threads, also by threads that the handler starts;
 * the MDC ({@code millrace.job}, {@code millrace.kind}, {@code millrace.attempt}, {@code millrace.worker}) is set on the
 * handler's own thread only.
 */
public interface JobContext {
    /** {@return the job as it was claimed} */
    Job job();

    /** {@return the number of this attempt, from 1: how often the job has been claimed} */
    int attempt();

    /** {@return the name of the worker that runs this attempt} */
    String worker();

    /** {@return whether the handler should stop: see {@link #stopReason}} */
    boolean cancelled();

    /**
     * {@return why the handler should stop; empty while it shouldn't} The handler's thread was interrupted when the
     * reason came up, once for each reason.
     */
    Optional<StopReason> stopReason();

    /**
     * Throws if the handler should stop.
     *
     * @throws JobCancelledException if there is a {@link #stopReason}. Let it pass: the worker knows what it means
     */
    void throwIfCancelled();

    /**
     * Reports progress and what is being done; a sign of life as well. One call is one statement, so report what
     * someone may want to see, not each step. A report that can't be written because the database is out of reach is
     * dropped with a warning in the log: an outage fails no job.
     *
     * @param percent 0 to 100
     * @param phase what is being done: 1 to 512 characters
     * @throws dev.millrace.job.InvalidJobException if an argument is not allowed; nothing is written
     * @throws AttemptLostException if this attempt is no longer the job's; nothing is written
     */
    void progress(double percent, String phase);

    /**
     * As {@link #progress(double, String)}, leaving the phase as it is.
     *
     * @param percent 0 to 100
     */
    void progress(double percent);

    /**
     * As {@link #progress(double, String)}, leaving the percentage as it is.
     *
     * @param phase 1 to 512 characters
     */
    void phase(String phase);
}
