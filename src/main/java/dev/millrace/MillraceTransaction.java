package dev.millrace;

import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.JobQueue;
import dev.millrace.store.JobStore;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.store.WorkSource;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.worker.JobContext;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Millrace in a transaction of the caller's: what it writes is there when that commits and gone when it rolls back.
 * Nothing is retried inside, and nothing is committed. A job that is submitted twice raises no SQL error under READ
 * COMMITTED, so the transaction stays usable; under stricter isolation a serialization failure is the caller's, as
 * always.
 *
 * <p>As safe for use by several threads as the caller's connection is: normally not.
 */
public final class MillraceTransaction {
    private final PostgresStore store;
    private final Submissions submissions;

    MillraceTransaction(PostgresStore store, Submissions submissions) {
        this.store = store;
        this.submissions = submissions;
    }

    /**
     * As {@link Millrace#submit}. The job's times are the statement's.
     *
     * @param <T> the payload's type
     * @param type the kind of job, and the type of its payload
     * @param payload the handler's input; has to become a JSON object
     * @param options what is to be other than the default
     * @return the job, visible to others once the transaction has committed
     */
    public <T> Job submit(JobType<T> type, T payload, SubmitOption... options) {
        return submissions.submit(store.jobs(), type, payload, options);
    }

    /**
     * As {@link Millrace#submitAll}, all in this transaction.
     *
     * @param <T> the payloads' type
     * @param type the kind of job, and the type of its payload
     * @param payloads the handler's inputs, one for each job; have to become JSON objects
     * @param options what is to be other than the default, for all of them; an id can't be given
     * @return the jobs, in the order of their payloads, visible to others once the transaction has committed
     */
    public <T> List<Job> submitAll(JobType<T> type, Collection<T> payloads, SubmitOption... options) {
        return submissions.submitAll(store.jobs(), type, payloads, options);
    }

    /**
     * As {@link Millrace#get}; sees what this transaction sees.
     *
     * @param id the job's id
     * @return the job with this id, if there is one
     */
    public Optional<Job> get(String id) {
        return store.jobs().get(id);
    }

    /**
     * As {@link Millrace#cancel}.
     *
     * @param id the job's id
     * @param by who asks, at most 512 characters, or null
     * @param why the reason, at most 2,000 characters, or null
     * @return what becomes of the request once the transaction has committed
     */
    public CancelResult cancel(String id, @Nullable String by, @Nullable String why) {
        return store.jobs().cancel(id, by, why);
    }

    /**
     * Ends a handler's own attempt with success: so what it has written in this transaction and its job's success are
     * committed together, or not at all. Then commit, and return from the handler.
     *
     * @param context the handler's context
     * @throws dev.millrace.worker.AttemptLostException if the job is no longer the attempt's: let it pass, so that the transaction
     *     is rolled back
     */
    public void complete(JobContext context) {
        context.completeIn(store.work());
    }

    /**
     * Ends an attempt, as {@link WorkSource#finish(Claim, Finish)} does: so a handler's result and its job's success are committed
     * together.
     *
     * @param claim the claim that the attempt has
     * @param finish how it ends
     * @return true if the attempt is ended as asked once the transaction has committed, false if it was no longer the
     *     job's, and nothing was written
     */
    public boolean finish(Claim claim, Finish finish) {
        return store.work().finish(claim, finish);
    }

    /** {@return jobs as rows, in this transaction} */
    public JobStore jobs() {
        return store.jobs();
    }

    /** {@return the queue, in this transaction} */
    public JobQueue queue() {
        return store.queue();
    }

    /**
     * {@return the logs of jobs, in this transaction} A log that was appended to is locked until the transaction ends, and
     * whoever else appends to it waits: so append late, and to several logs in one order.
     */
    public JobLogStore logs() {
        return store.logs();
    }

    /** {@return what jobs leave for their callers, in this transaction} */
    public ResultPackageStore results() {
        return store.results();
    }
}
