package dev.millrace.store;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Deletes what has outlived its retention. Jobs that have not ended, and their logs, stay. */
public interface Retention {
    /** What is deleted by itself, in a useful order: a job's log can go once the job has gone. */
    enum Subject {
        /** Jobs that have ended. */
        JOBS,
        /** Logs, with their lines and event ids, of jobs that have ended or are gone. */
        LOGS,
        /** Result packages, which have a retention of their own, whatever the job does. */
        RESULTS,
        /** Leases that nobody holds any more. */
        LEASES
    }

    /** For how long what can't be deleted yet is left alone. */
    Duration POSTPONEMENT = Duration.ofDays(1);

    /**
     * Deletes one batch, in a transaction of its own, those first whose retention was over first. Waits for no row of these tables: what
     * someone else has locked is left for the next time. A foreign key of yours with {@code ON DELETE CASCADE} or {@code SET
     * NULL} waits for its own rows. Any number of processes may do it at once.
     *
     * <p>A job that a foreign key of another table holds fast, or a trigger by an error, and the log of a job that has not ended, are kept for
     * another day ({@link #POSTPONEMENT}), so that they stand in nobody's way meanwhile. For that a trigger has to let them be
     * updated; one that refuses this as well ends each sweep with its error.
     *
     * @param subject what to delete
     * @param limit how many at most, from 1
     * @return what was done; if it comes to as many as the limit, there may be more
     */
    Batch sweep(Subject subject, int limit);

    /**
     * What one batch did.
     *
     * @param deleted how many were deleted
     * @param postponed how many were over their retention and are kept for another day
     * @param heldBy which foreign key has held jobs fast, or with what error a trigger of yours did, the last one met; null if
     *     there was none
     */
    record Batch(int deleted, int postponed, @Nullable String heldBy) {
        /** {@return how many were dealt with} */
        public int size() {
            return deleted + postponed;
        }
    }
}
