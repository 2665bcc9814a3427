package dev.millrace.recovery;

import java.time.Duration;

/**
 * Is told what a {@link JobReconciler}, a {@link BackendReconciler} and a {@link RetentionSweeper} do. Override what you want to know.
 *
 * <p>Each listener has a daemon thread of its own. Nothing waits for it, and what it throws, an {@link Error} included, is
 * logged and harms nothing. One that falls behind by more than 10,000 events misses some, and is told how many.
 */
public interface RecoveryListener {
    /**
     * A sweep for overdue jobs is over.
     *
     * @param report what it found and did, and what it failed with
     * @param took how long it took
     */
    default void swept(SweepReport report, Duration took) {}

    /**
     * A sweep for jobs of backends is over.
     *
     * @param report what it found and did, and what it failed with
     * @param took how long it took, the calls of backends that it waited for included
     */
    default void backendSwept(BackendReport report, Duration took) {}

    /**
     * A sweep that deletes what has outlived its retention is over.
     *
     * @param report what it did, and what it failed with
     * @param took how long it took
     */
    default void retentionSwept(RetentionReport report, Duration took) {}

    /**
     * This listener was too slow, and was not told of some events.
     *
     * @param events how many
     */
    default void missed(long events) {}
}
