package dev.millrace.store;

import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * How many jobs there are. Each method counts at one moment, so its numbers add up. {@link #exact} reads every job that
 * it counts; the others count up to a number and then say that there are more, so that they stay cheap among millions.
 */
public interface JobCounts {
    /** The most that a bounded count may be asked to count. */
    int MAX_UP_TO = 100_000;

    /** Enough for a dashboard. */
    int DEFAULT_UP_TO = 500;

    /**
     * Counts by status, kind and queue. Its cost grows with the number of jobs that are counted: without any condition
     * the whole table is read.
     *
     * @param query which jobs; its limit and cursor don't matter
     * @return a count for each combination that there is, in no particular order
     */
    List<JobCount> exact(JobQuery query);

    /**
     * Counts by status.
     *
     * @param upTo how many of each status to count before it says that there are more: 1 to {@value #MAX_UP_TO}
     * @return a count for each status, zero included
     */
    Map<JobStatus, Count> byStatus(int upTo);

    /**
     * Counts by kind.
     *
     * @param upTo how many of each kind to count before it says that there are more: 1 to {@value #MAX_UP_TO}
     * @return a count for each kind of which there are jobs, in the order of their names
     */
    Map<String, Count> byKind(int upTo);

    /**
     * Counts what waits for a worker and is due, by profile and queue.
     *
     * @param upTo how many in each queue to count before it says that there are more: 1 to {@value #MAX_UP_TO}
     * @return a count for each profile and queue in which jobs have a place, zero included where none of them is due
     */
    Map<ClaimRequest.Source, Count> waiting(int upTo);

    /**
     * How long the oldest job in each queue has been due: how far its workers lag behind. A job that waits for its delay
     * or its next attempt is not due yet.
     *
     * @return the age for each profile and queue in which jobs have a place, by database time; zero where none of them is due
     */
    Map<ClaimRequest.Source, Duration> oldestWaiting();

    /**
     * Counts what waits for a worker and is due in one queue: {@link JobQueue#depth}, bounded.
     *
     * @param source the profile and the queue
     * @param upTo how many to count before it says that there are more: 1 to {@value #MAX_UP_TO}
     * @return the count
     */
    Count waiting(ClaimRequest.Source source, int upTo);
}
