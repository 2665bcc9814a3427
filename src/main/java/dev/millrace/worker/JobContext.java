package dev.millrace.worker;

import dev.millrace.job.Job;
import dev.millrace.job.TraceContext;
import dev.millrace.store.Claim;
import dev.millrace.store.LogEntry;
import dev.millrace.store.WorkSource;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One attempt at a job, as its handler sees it. Safe for use by many threads, also by threads that the handler starts;
 * the MDC ({@code millrace.job}, {@code millrace.kind}, {@code millrace.attempt}, {@code millrace.worker}, and {@code
 * millrace.traceparent} if the job has one) is set on the handler's own thread only.
 */
public interface JobContext {
    /** {@return the job as it was claimed} */
    Job job();

    /** {@return the claim that this attempt has: what the database knows it by} */
    Claim claim();

    /** {@return the number of this attempt, from 1: how often the job has been claimed} */
    int attempt();

    /** {@return the name of the worker that runs this attempt} */
    String worker();

    /**
     * {@return the W3C trace context that the job was submitted with, if it has one} For a handler that calls others by
     * itself; an integration such as that for Micrometer's observations has made it the current one already.
     */
    default Optional<TraceContext> traceContext() {
        return job().audit().trace();
    }

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

    /**
     * Writes a line to the job's log, marked with this attempt's number. One call is one statement. A line that can't be
     * written because the database is out of reach is dropped, with a warning in the application's log; one whose answer was
     * lost may be there.
     *
     * @param message what happened; bounded when it is stored
     * @throws AttemptLostException if this attempt is no longer the job's, as far as is known here; nothing is written
     */
    default void log(String message) {
        log(LogEntry.Level.INFO, message, Map.of());
    }

    /**
     * As {@link #log(String)}, with a level and fields.
     *
     * @param level how much it matters
     * @param message what happened; bounded when it is stored
     * @param fields more of it by name, each name 1 to 64 characters
     * @throws dev.millrace.job.InvalidJobException if an argument is not allowed; nothing is written
     * @throws AttemptLostException if this attempt is no longer the job's, as far as is known here; nothing is written
     */
    void log(LogEntry.Level level, String message, Map<String, String> fields);

    /**
     * Adds a warning to the job's outcome, for those who look at it later. It is written with the end of this attempt,
     * whatever that is; of more than 100 the newest are kept. Should the attempt turn out not to be the job's any more, it goes to
     * the job's log.
     *
     * @param warning what to look at; bounded when it is stored
     * @throws AttemptLostException if this attempt is no longer the job's, as far as is known here
     */
    void warn(String warning);

    /**
     * Adds a reference to something that the job has produced to its outcome, such as the address of a file. It is written
     * with the end of this attempt, whatever that is; the same one twice counts once, and of more than 100 the newest are kept.
     *
     * @param reference 1 to 2,000 characters
     * @throws dev.millrace.job.InvalidJobException if it is not allowed
     * @throws AttemptLostException if this attempt is no longer the job's, as far as is known here
     */
    void publishArtifact(String reference);

    /**
     * Leaves a result for the job's callers, in place of an earlier one; {@code Millrace.result} reads it. It is there when this
     * returns: while the database is out of reach this waits, as long as the attempt may go on.
     *
     * @param result any value that can be written as JSON, at most 1 MiB of it
     * @throws dev.millrace.job.InvalidJobException if it can't be written, or is too large; nothing is stored
     * @throws AttemptLostException if this attempt is no longer the job's; nothing is stored
     * @throws JobCancelledException if the attempt should stop while this waits; the result may be stored
     */
    void resultPackage(@Nullable Object result);

    /**
     * Ends this attempt with success in a transaction of the handler's own, so that its work and the job's success are committed
     * together, or not at all. Then commit, and return from the handler. If the handler returns although the transaction was
     * rolled back, the attempt has failed.
     *
     * <p>From then on this context takes no warnings, artifacts and results any more, and reports no progress: the job's row is
     * locked by the transaction, and ends with it.
     *
     * <pre>{@code
     * dsl.transaction(tx -> {
     *     tx.dsl().insertInto(INVOICES).set(..).execute();
     *     millrace.in(tx).complete(context);
     * });
     * }</pre>
     *
     * @param transaction the work source in the transaction; {@code MillraceTransaction.complete} knows it
     * @throws AttemptLostException if this attempt is no longer the job's: let it pass, so that the transaction is rolled
     *     back
     */
    void completeIn(WorkSource transaction);
}
