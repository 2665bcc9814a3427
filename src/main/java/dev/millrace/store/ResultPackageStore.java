package dev.millrace.store;

import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.Optional;

/** What jobs leave for their callers: one JSON value for each job, kept for a while. */
public interface ResultPackageStore {
    /** The largest result, in bytes of UTF-8. */
    int MAX_BYTES = 1024 * 1024;

    /**
     * Stores what an attempt has come to as its job's result, in place of an earlier one, as long as the job is this
     * attempt's: one that was superseded, or whose job has ended, overwrites nobody's result. Store it before the attempt
     * is finished, or in one transaction with that. Repeatable.
     *
     * @param attempt the attempt, of a {@link Claim}
     * @param result the result, at most {@value #MAX_BYTES} bytes; comes back as it is, to the letter
     * @param retention for how long from now, by database time, it can be read; zero or longer
     * @return false if the attempt was no longer the job's, and this call has written nothing; after an answer that was lost
     *     an earlier one may have
     * @throws dev.millrace.job.InvalidJobException if it is too large
     */
    boolean put(Attempt attempt, JsonText result, Duration retention);

    /**
     * Stores a job's result, in place of an earlier one, whoever works at the job: for those who have no attempt, such as
     * an operator. Repeatable.
     *
     * @param jobId the job; whether there is one is not asked
     * @param result the result, at most {@value #MAX_BYTES} bytes; comes back as it is, to the letter
     * @param retention for how long from now, by database time, it can be read; zero or longer
     * @throws dev.millrace.job.InvalidJobException if it is too large
     */
    void put(String jobId, JsonText result, Duration retention);

    /**
     * {@return the job's result; empty if it has none, or the retention of the one that it had is over}
     *
     * @param jobId the job
     */
    Optional<JsonText> get(String jobId);
}
