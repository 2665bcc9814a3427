package dev.millrace;

import dev.millrace.job.Job;
import dev.millrace.store.Assignment;
import org.jspecify.annotations.Nullable;

/**
 * What came of running one job by its id.
 *
 * @param ran whether the job was claimed; how its attempt ended is in the job
 * @param refusal why the job was not claimed, as it was said last; null if it was, or if the database said nothing
 * @param job the job as it stands now; null if there is none of that id
 */
public record AssignedRun(
        boolean ran,
        Assignment.@Nullable Refused refusal,
        @Nullable Job job) {}
