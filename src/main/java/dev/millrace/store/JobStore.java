package dev.millrace.store;

import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Jobs as rows: create, read, list, change. */
public interface JobStore {
    /**
     * Creates a local job together with its place in the queue, or a remote one for its backend, in one statement.
     * Repeatable: a job that is already there with the same content (kind, profile, queue, backend, priority, policies
     * and parameters, the latter compared as JSON) is returned as it is.
     *
     * @param job the job
     * @return the job as it is now in the database, and whether it was there before
     * @throws JobConflictException if a job with this id is there and its content is another one
     */
    Creation submit(NewJob job);

    /**
     * Creates a job as given, timestamps included, without a place in the queue: {@link JobQueue#enqueue} gives it one.
     * Repeatable as {@link #submit} is.
     *
     * @param job must be {@code Queued} and of version 1, never claimed
     * @return the job as it is now in the database, and whether it was there before
     * @throws JobConflictException if a job with this id is there and its content is another one
     */
    Creation create(Job job);

    /**
     * {@return the job with this id, if there is one}
     *
     * @param id the job's id
     */
    Optional<Job> get(String id);

    /**
     * Changes a job if it is still as it was read. Only what differs between {@code read} and {@code changed} is
     * assigned; the version grows by one. Of the attempt state:
     *
     * <ul>
     *   <li>{@code claimedAt} and {@code completedAt}: null clears, any other change becomes database time;
     *   <li>{@code nextRetryAt}: null clears, any other change becomes database time plus {@code retryDelay};
     *   <li>a final status takes the job out of the queue, sets {@code completedAt} unless that is changed as well, and
     *       starts its retention;
     *   <li>another retention of a job that has ended counts from its end;
     *   <li>back to {@code Queued} clears the claim, and a place in the queue becomes claimable after {@code retryDelay};
     *   <li>{@code version}, {@code attemptCount}, {@code lastHeartbeatAt}, {@code percentComplete}, {@code
     *       currentPhase}, {@code updatedAt} and the time of creation are not the writer's to change.
     * </ul>
     *
     * @param read the job as it was read
     * @param changed the same job as it should be
     * @param retryDelay how long until the next attempt; zero or longer
     * @return whether the change was made; false if the job has changed since, or is gone. Where an answer of the database
     *     was lost and others have changed the job meanwhile, false as well: read it again. A worker changes a job too, when
     *     it claims, starts and ends it; the start comes once the handler has run for a second, or reports progress
     * @throws dev.millrace.job.InvalidJobException if {@code changed} changes what is not the writer's to change
     */
    boolean compareAndSet(Job read, Job changed, Duration retryDelay);

    /**
     * The same, only while a lease is held: by that owner, and not expired by database time when the change is made. Both
     * rows are locked by then, the lease's first, so that between that and the change nobody can take the lease over. To
     * be used in a transaction of one's own: in a caller's, the lease can't be renewed until the commit.
     *
     * @param read the job as it was read
     * @param changed the same job as it should be
     * @param retryDelay how long until the next attempt; zero or longer
     * @param lease the lease, by its key and owner
     * @return whether the change was made; false if the lease is not held, or the job has changed since, or is gone
     * @throws dev.millrace.job.InvalidJobException if {@code changed} changes what is not the writer's to change
     */
    boolean compareAndSet(Job read, Job changed, Duration retryDelay, Lease lease);

    /**
     * The same without a delay.
     *
     * @param read the job as it was read
     * @param changed the same job as it should be
     * @return whether the change was made; false if the job has changed since, or is gone
     */
    default boolean compareAndSet(Job read, Job changed) {
        return compareAndSet(read, changed, Duration.ZERO);
    }

    /**
     * Cancels a job: one that is queued ends {@code Cancelled} at once, one that is claimed gets a durable request that
     * its worker sees at its next beat. Repeatable; the first request stays.
     *
     * @param id the job's id
     * @param by who asks, or null
     * @param why the reason, or null
     * @return what became of the request
     */
    CancelResult cancel(String id, @Nullable String by, @Nullable String why);

    /**
     * Lists jobs, newest first: by their time of creation and, where that is the same, by their ids, greatest first. Each
     * page is read at its own moment. A job that stays as it is while pages are read is on exactly one of them, whatever
     * becomes of the others; one that comes to fulfil the conditions, or no longer does, may be missed.
     * That includes a job whose creation is committed late: its time is that of its submit, which may be on a page that was
     * read before. So a list shows what is there, and is no feed of what is new.
     *
     * <p>A job whose record this release can't read keeps nobody out: see {@link JobPage#unreadable}.
     *
     * @param query which jobs, and how many at once
     * @return a page of them
     * @throws dev.millrace.job.InvalidJobException if the query's cursor is none
     */
    JobPage query(JobQuery query);

    /**
     * Lists jobs that have not ended, newest first: the first page of {@link JobQuery#active}.
     *
     * @param kind only jobs of this kind; null for all
     * @param limit how many at most, 1 to {@value JobQuery#MAX_LIMIT}
     * @return the jobs; {@link JobPage#next} is there if these are not all, and continues the query
     */
    default JobPage listActive(@Nullable String kind, int limit) {
        JobQuery active = JobQuery.ALL.active().withLimit(limit);
        return query(kind == null ? active : active.withKind(kind));
    }

    /**
     * Has a job run again that has ended: an operator's decision. It is queued, one that is local at once claimable, one
     * of a remote backend left to that. All attempts so far are forgiven; outcome, claim, cancellation and progress are
     * cleared; {@link dev.millrace.job.JobAudit#retried()} tells who it was and why.
     *
     * <p>Repeatable until the job is claimed: the same person with the same reason is told {@link RetryResult#QUEUED}
     * again, and anybody else {@link RetryResult#NOT_ENDED}.
     *
     * @param id the job's id
     * @param by who asks, at most 512 characters, or null
     * @param why the reason, at most 2,000 characters, or null
     * @return what became of it
     * @throws UnreadableJobException if this release can't read the job's record; the row is untouched
     */
    RetryResult retry(String id, @Nullable String by, @Nullable String why);

    /**
     * Stores a job exactly as given, whatever its status, timestamps and attempts: for imports, fixtures, and moving
     * from elsewhere. One of the same id is overwritten, and its version grows then, whatever was given, so that nobody
     * who has read the old job changes the new one. The job has no claim token, so no attempt holds it: one that is
     * given as claimed is expired by the recovery when its heartbeat is old enough. All of its attempts count: which ones of
     * the job before were forgiven is forgotten with that.
     *
     * <p>A queued local job has its place in the queue at once, claimable from its {@code nextRetryAt} on; so import jobs
     * that must not run yet as ended, or before workers start. An ended one is kept until its {@code completedAt} (or, if
     * that is not given, {@code updatedAt}) plus its retention, which may be over.
     *
     * @param job the job
     * @return whether it is stored; false if the job of this id is held by an attempt, and was left as it is
     */
    boolean seed(Job job);

    /**
     * Submits many jobs, as {@link #submit} does each, in statements of up to 1,000.
     *
     * <p>In transactions of our own each of these statements is committed by itself. A job that conflicts keeps no other
     * one out, nor does one that the database refuses: that statement is done again in parts, until such jobs are alone. If
     * the database is no longer available, the jobs of the statements before are there. In any case repeating the whole
     * call is safe. Statements take jobs in the order of their ids, so that calls with the same ids don't block each
     * other for ever.
     *
     * @param jobs the jobs; of two with the same id the first is submitted, and the other compared with it
     * @return what came of each, in the order of the list
     * @throws JobConflictException if jobs are there whose content is another one: {@link
     *     JobConflictException#conflicts()} names them, and all others have been submitted
     * @throws JobsFailedException if the database refuses some, such as by a trigger of yours: {@link
     *     JobsFailedException#failures()} names them, and says why; all others have been submitted, unless a hundred
     *     were refused before ({@link JobsFailedException#untried()}); a conflict is then a suppressed exception of it. Not in a caller's transaction, which such an error
     *     ends
     */
    List<Creation> submitAll(List<NewJob> jobs);

    /**
     * Cancels many jobs, as {@link #cancel} does each, in statements of up to 500. Each of these is committed by itself in
     * transactions of our own; repeating the call is safe. A job that can't be read, or that the database refuses to
     * change, keeps no other one out. Jobs whose rows
     * others have locked come last, one by one. In a caller's transaction all of the jobs are locked first, and waited for, in
     * the order of their ids.
     *
     * @param ids the jobs' ids
     * @param by who asks, or null
     * @param why the reason, or null
     * @return what became of the request, for each id, in the order given
     * @throws UnreadableJobException if this release can't read a job's record; all others have been cancelled
     * @throws JobsFailedException if the database refuses to change some, as in {@link #submitAll}
     */
    Map<String, CancelResult> cancelAll(Collection<String> ids, @Nullable String by, @Nullable String why);
}
