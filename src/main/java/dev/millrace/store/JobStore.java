package dev.millrace.store;

import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import java.time.Duration;
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
     *   <li>back to {@code Queued} clears the claim, and a place in the queue becomes claimable after {@code retryDelay};
     *   <li>{@code version}, {@code attemptCount}, {@code lastHeartbeatAt}, {@code percentComplete}, {@code
     *       currentPhase}, {@code updatedAt} and the time of creation are not the writer's to change.
     * </ul>
     *
     * @param read the job as it was read
     * @param changed the same job as it should be
     * @param retryDelay how long until the next attempt; zero or longer
     * @return whether the change was made; false if the job has changed since, or is gone. Where an answer of the database
     *     was lost and others have changed the job meanwhile, false as well: read it again
     * @throws dev.millrace.job.InvalidJobException if {@code changed} changes what is not the writer's to change
     */
    boolean compareAndSet(Job read, Job changed, Duration retryDelay);

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
}
