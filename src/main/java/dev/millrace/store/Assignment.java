package dev.millrace.store;

/** What came of the request for one job by its id. */
public sealed interface Assignment {
    /**
     * The job is claimed.
     *
     * @param claim the job, with the token of the request
     */
    record Taken(Claim claim) implements Assignment {}

    /**
     * The job was not claimed, and nothing about it was changed but where {@link Reason#UNREADABLE} says so.
     *
     * @param reason why, for programs
     * @param message why, for people: what was found, and what becomes of the job
     */
    record Refused(Reason reason, String message) implements Assignment {}

    /** Why a job was not claimed. */
    enum Reason {
        /** There is no such job. */
        NOT_FOUND,
        /** It belongs to a remote backend, which starts it itself. */
        REMOTE,
        /** It waits for a time that has not come: its delay, or its next attempt. */
        NOT_DUE,
        /** A worker holds it that has given a sign of life in time. */
        HELD,
        /** Its worker is silent, but the request does not allow to take the job from it. */
        SILENT,
        /** Its worker is silent, and someone else's transaction holds the row, which may be why: ask again later. */
        LOCKED,
        /** Its worker is silent, and someone asked for the job to be cancelled: the recovery ends it. */
        CANCELLATION_REQUESTED,
        /** Its worker is silent, and the job has no attempt left: the recovery ends it. */
        NO_ATTEMPTS_LEFT,
        /** Its attempt took longer than its maximum duration, which is not retried: the recovery ends it. */
        OVERDUE,
        /** {@link Controls#hold} is in force: ask again when it is released. */
        ON_HOLD,
        /** Its queue or kind is paused ({@link Controls#pause}): ask again when it is resumed. */
        PAUSED,
        /** It has ended. */
        ENDED,
        /** This release can't read its record. A queued job that was found to be so has failed, its record untouched. */
        UNREADABLE
    }
}
