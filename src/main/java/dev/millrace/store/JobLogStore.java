package dev.millrace.store;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The logs of jobs: for each job the newest lines, numbered from zero without gaps. A log is there from its first line on;
 * whether there is such a job is not asked.
 */
public interface JobLogStore {
    /** How many lines one call appends at most. */
    int MAX_BATCH = 1_000;

    /** How many lines one call reads at most. */
    int MAX_PAGE = 500;

    /**
     * Appends lines in this order, all or none, next to each other. Those whose event the log has taken before, also if
     * its line was dropped since, are left out, however many deliver it at once. Lines that come from several callers are
     * in the order in which the database took them; {@link LogEntry#attempt} tells whose they are.
     *
     * <p>If all lines have event ids, a call whose answer was lost is repeated, here and by its caller; with a line that has
     * none it is not, since that line might be in the log already.
     *
     * @param jobId the job
     * @param entries the lines, at most {@value #MAX_BATCH}
     * @return how many this delivery has written; one that had to be repeated may find them written already
     * @throws LogEventLimitException if the log can't remember that many event ids. Nothing was appended; in a caller's
     *     transaction this is an SQL error, after which PostgreSQL takes nothing more in it
     */
    int append(String jobId, List<LogEntry> entries);

    /**
     * Reads the newest lines.
     *
     * @param jobId the job
     * @param limit how many at most, 1 to {@value #MAX_PAGE}
     * @return the lines, the oldest of them first; none if the job has no log
     */
    LogPage tail(String jobId, int limit);

    /**
     * Reads lines from a place on, forwards. Lines that are dropped before they are read are missing: then the sequence of
     * the first line is greater than expected.
     *
     * @param jobId the job
     * @param cursor {@link LogPage#next} of an earlier answer; null for the beginning
     * @param limit how many at most, 1 to {@value #MAX_PAGE}
     * @return the lines; none if the job has no log, or no more lines
     * @throws dev.millrace.job.InvalidJobException if the cursor is none
     */
    LogPage page(String jobId, @Nullable String cursor, int limit);

    /**
     * Keeps the log for so long from now, and no longer; for the end of a job. A line that comes in later may lengthen
     * that. As long as the job is active, its log is kept in any case.
     *
     * @param jobId the job
     * @param retention from now by database time; zero or longer
     * @return whether there is a log
     */
    boolean setRetention(String jobId, Duration retention);
}
