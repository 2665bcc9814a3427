package dev.millrace.store;

import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Attempts at jobs of remote backends, as who looks after them writes them. Nobody claims such a job: its attempt
 * begins with {@link #begin}, which draws the token, and everything that is learned of it afterwards is a write of this
 * attempt, fenced by that token, as a worker's writes are.
 *
 * <p>Several processes may look after the same job, one at a time: each of these writes is also refused unless the
 * given lease is held, by database time, when both rows are locked. The lease is locked before the job.
 */
public interface RemoteJobs {
    /** What came of a write. */
    enum Answer {
        /** It is done. */
        DONE,
        /** It is done, and someone asked for the job to be cancelled. */
        CANCELLATION_REQUESTED,
        /**
         * The job has ended, was given to another attempt, or is gone: nothing was written, and nothing more will be.
         */
        ATTEMPT_LOST,
        /** The lease is not held: nothing was written. The attempt may be someone else's to look after now. */
        LEASE_LOST
    }

    /**
     * {@return the job as it is now, with the token of its attempt if it has one; empty if there is no such job}
     *
     * @param jobId the job
     * @throws UnreadableJobException if this release can't read its record
     */
    Optional<Claim> get(String jobId);

    /**
     * Begins an attempt at a remote job: {@code Queued} becomes {@code Provisioning}, the attempt counts and gets its
     * token. Only if the job is still of this version, nobody wants it cancelled, its next attempt is due, and neither
     * the lease is lost nor {@link Controls#hold} in force. So of a begin and a cancellation that race one wins, and
     * the other one's caller is told: either the job ends {@code Cancelled} and nothing is begun, or it is begun and
     * has the request.
     *
     * <p>The id under which the backend ran an earlier attempt is cleared.
     *
     * @param jobId the job
     * @param version the version that it was read with
     * @param node who looks after the attempt, shown as the job's worker: 1 to 512 characters
     * @param token a fresh random token, for this call alone
     * @param lease the lease, by its key and owner
     * @return the attempt; empty if it was not begun
     * @throws UnreadableJobException if this release can't read the job's record; the row is untouched
     */
    Optional<Claim> begin(String jobId, long version, String node, UUID token, Lease lease);

    /**
     * The backend has taken the attempt on: {@code Running}, under this id. Repeatable.
     *
     * @param attempt the attempt
     * @param providerOperationId the id under which the backend runs it: 1 to 512 characters
     * @param lease the lease, by its key and owner
     * @return what came of it
     */
    Answer running(Attempt attempt, String providerOperationId, Lease lease);

    /**
     * How far the attempt has come; a sign of life as well. Repeatable.
     *
     * @param attempt the attempt
     * @param percent 0 to 100, or null to leave it
     * @param phase 1 to 512 characters, or null to leave it
     * @param lease the lease, by its key and owner
     * @return what came of it
     */
    Answer progress(Attempt attempt, @Nullable Double percent, @Nullable String phase, Lease lease);

    /**
     * Ends the attempt, as {@link WorkSource#finish} does. Repeatable: an ending that an earlier, unanswered call has
     * written is recognised by its token.
     *
     * @param attempt the attempt
     * @param finish how it ends
     * @param notes what it adds to its job's outcome, however it ends
     * @param lease the lease, by its key and owner
     * @return what came of it, {@link Answer#DONE} also where {@link Finish} says that the job is cancelled instead
     */
    Answer finish(Attempt attempt, Finish finish, Notes notes, Lease lease);

    /**
     * Clears percentage and phase of a queued job, which are those of an attempt that is over. Repeatable.
     *
     * @param jobId the job
     * @param version the version that it was read with
     * @param lease the lease, by its key and owner
     * @return whether it was done; false if the job has changed since, shows no progress, or the lease is not held
     */
    boolean clearProgress(String jobId, long version, Lease lease);
}
