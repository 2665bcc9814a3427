package dev.millrace.store;

import dev.millrace.types.JobStatus;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the recovery loops read and write. */
public interface ReconcilableJobs {
    /**
     * Goes the way of a beat, to no job: fails where a beat would fail (no connection, a server that is read-only), and
     * waits where a beat would wait (someone has locked the table); but it writes no row, so what delays only the commit of
     * writes is not seen by it. Whoever wants to know why no beats came in asks this;
     * a mere look at the clock is answered by a server that takes no beats.
     *
     * @return the database's time, in whole microseconds
     */
    Instant probe();

    /**
     * Claimed jobs whose heartbeat is older than their own heartbeat timeout (local ones only), or whose claim is older
     * than their maximum duration, by database time. In the order of their ids, bytewise, so that a sweep goes on behind
     * the last job of a full answer, whatever became of the jobs in it.
     *
     * <p>A job whose record this release can't read is in the answer as well: it doesn't keep the others out. None while
     * {@link Controls#hold} is in force.
     *
     * @param after only jobs with greater ids; empty for the first ones
     * @param limit how many at most, from 1
     * @return the jobs; fewer than the limit if there are no more
     */
    List<Suspect> suspects(String after, int limit);

    /**
     * Jobs that have not ended, and that a {@code BackendReconciler} may have to act on: those of remote backends, and local
     * ones that are queued although somebody wants them cancelled, or with the progress of an earlier attempt. However many
     * local jobs wait in the queue for their first claim costs nothing. In the order of status and id, to be asked for in pages, of which each costs what
     * there is of its statuses, so rather a few large ones than many small ones. A job that changes its status meanwhile may
     * come twice, or not until the next time.
     *
     * <p>None while {@link Controls#hold} is in force.
     *
     * @param after the last one of the page before; null for the first page
     * @param limit how many at most, from 1
     * @return the jobs; fewer than the limit if there are no more
     */
    List<Candidate> candidates(@Nullable Candidate after, int limit);

    /**
     * Ends an attempt that is overdue, if it still is: the age is checked again in the same statement, under the row's
     * lock, so that a beat that came in between wins. Does not wait for a row that someone else has locked. Leaves the
     * record of a job as it is if this release can't read it.
     *
     * @param suspect as {@link #suspects} returned it
     * @param finish what becomes of the job; {@link Finish.Fail} if its record can't be read
     * @return what became of the job
     */
    Expiry expire(Suspect suspect, Finish finish);

    /**
     * Whether someone else's transaction holds the job's row at this moment, so that no beat can be written to it. Waits
     * for nothing and changes nothing; false if the row is gone.
     *
     * @param suspect as {@link #suspects} returned it
     * @return whether the row is locked
     */
    boolean isLocked(Suspect suspect);

    /** {@return the shortest heartbeat timeout of all claimed local jobs; empty if there is none} */
    Optional<Duration> shortestHeartbeatTimeout();

    /**
     * A job for which something may have to be done, as it was when it was looked for.
     *
     * @param jobId the job's id
     * @param status its status, not a final one
     * @param version its version
     * @param backend {@code local}, or which remote backend it is for
     * @param cancellationRequested whether someone wants it cancelled
     * @param due whether its next attempt may begin, as far as its back-off goes
     * @param showsProgress whether it has a percentage or a phase
     * @param priority how urgent it is
     * @param dueAt when its next attempt may begin, as far as its back-off goes; when it was created if it has none
     */
    record Candidate(
            String jobId,
            JobStatus status,
            long version,
            String backend,
            boolean cancellationRequested,
            boolean due,
            boolean showsProgress,
            Priority priority,
            Instant dueAt) {}

    /**
     * A claimed job that is overdue.
     *
     * @param attempt the job's id and the token of the claim as read
     * @param cause why it is overdue; {@link Cause#DURATION} if both apply
     * @param claim the job as read, and its token; null if this release can't read the job's record
     */
    record Suspect(Attempt attempt, Cause cause, @Nullable Claim claim) {
        /**
         * {@return a job whose record can be read}
         *
         * @param claim the claim that is overdue
         * @param cause why it is
         */
        public static Suspect of(Claim claim, Cause cause) {
            return new Suspect(claim.attempt(), cause, claim);
        }
    }

    /** Why a claimed job is overdue. */
    enum Cause {
        /** Its worker gave no sign of life for the job's heartbeat timeout. */
        HEARTBEAT,
        /** It has taken longer than its maximum duration. */
        DURATION
    }

    /** What came of ending an overdue attempt. */
    enum Expiry {
        /** It is ended as asked. */
        ENDED,
        /** It was no longer overdue, or no longer the job's attempt; or {@link Controls#hold} is in force. */
        SPARED,
        /** Someone else's transaction holds the row. */
        LOCKED
    }
}
