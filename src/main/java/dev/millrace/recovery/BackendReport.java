package dev.millrace.recovery;

import org.jspecify.annotations.Nullable;

/**
 * What one sweep of a {@link BackendReconciler} did. An act that takes longer than its sweep counts in the one in which
 * it ends.
 *
 * @param found jobs for which something might have had to be done
 * @param begun attempts that were begun
 * @param started attempts that their backends have taken on
 * @param progressed attempts whose progress or sign of life was written
 * @param succeeded jobs that succeeded
 * @param retried jobs that wait for their next attempt
 * @param failed jobs that failed
 * @param cancelled jobs that were cancelled, queued ones included
 * @param missing queued jobs that failed because nobody has their backend
 * @param cleared queued jobs whose percentage and phase, of an earlier attempt, were cleared
 * @param orphans operations that were cancelled since their attempt was over
 * @param waiting jobs that were left queued since their backend has no room
 * @param leased jobs that another process was acting on
 * @param overdue calls of backends that took too long
 * @param errors jobs that could not be dealt with, and steps of the sweep that failed; they are tried again by the next
 *     one
 * @param failure the first of these errors; null if there was none
 * @param onHold whether nothing was done because recovery is stopped, see {@link dev.millrace.store.Controls#hold}
 */
public record BackendReport(
        int found,
        int begun,
        int started,
        int progressed,
        int succeeded,
        int retried,
        int failed,
        int cancelled,
        int missing,
        int cleared,
        int orphans,
        int waiting,
        int leased,
        int overdue,
        int errors,
        @Nullable Throwable failure,
        boolean onHold) {}
