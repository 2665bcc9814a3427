package dev.millrace.store;

import dev.millrace.job.Job;
import java.util.List;
import java.util.Optional;

/**
 * A page of a list.
 *
 * @param jobs the jobs, newest first
 * @param unreadable the ids of those that belong on this page but whose record this release can't read, newest first:
 *     see {@link UnreadableJobException}. They count towards the limit
 * @param next where the next page begins, for {@link JobQuery#after}; empty if this is the last one
 */
public record JobPage(List<Job> jobs, List<String> unreadable, Optional<String> next) {
    /**
     * Copies the lists.
     *
     * @param jobs see {@link #jobs()}
     * @param unreadable see {@link #unreadable()}
     * @param next see {@link #next()}
     */
    public JobPage {
        jobs = List.copyOf(jobs);
        unreadable = List.copyOf(unreadable);
    }
}
