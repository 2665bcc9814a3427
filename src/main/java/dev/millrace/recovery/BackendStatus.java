package dev.millrace.recovery;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How a {@link BackendReconciler} is, at one moment. For health reports and operators.
 *
 * @param running whether its loop runs: started, not closed, and its thread is alive
 * @param onHold whether the last sweep did nothing because recovery is stopped
 * @param backends the names of the backends that it has
 * @param missing the names of backends that jobs are for, and that no process has been seen to have for the grace
 * @param inHand how many jobs it acts on, or is about to
 * @param overdue how many of those are in a call of a backend that takes too long; each keeps one thread of that
 *     backend busy
 * @param outage what the last sweep could not read the store for; null if it could
 * @param lastSweep what the last sweep did; null before the first one
 */
public record BackendStatus(
        boolean running,
        boolean onHold,
        Set<String> backends,
        Set<String> missing,
        int inHand,
        int overdue,
        @Nullable Throwable outage,
        @Nullable BackendReport lastSweep) {}
