package dev.millrace.recovery;

import org.jspecify.annotations.Nullable;

/**
 * What one retention sweep did.
 *
 * @param jobs jobs that were deleted
 * @param logs logs that were deleted
 * @param results result packages that were deleted
 * @param leases leases that were deleted
 * @param heldJobs jobs whose retention is over, but which a foreign key of another table or an error of a trigger holds
 *     fast; they are tried again after a day
 * @param heldBy one such foreign key and its table, or such an error; null if there was none
 * @param activeLogs logs whose retention is over, but whose job has not ended; they are looked at again after a day
 * @param errors how many of the tables could not be swept to their end
 * @param failure the first of these errors; null if there was none
 */
public record RetentionReport(
        long jobs,
        long logs,
        long results,
        long leases,
        long heldJobs,
        @Nullable String heldBy,
        long activeLogs,
        int errors,
        @Nullable Throwable failure) {
    /** {@return all that was deleted; lines of logs aren't counted} */
    public long deleted() {
        return jobs + logs + results + leases;
    }
}
