package dev.millrace.worker;

/** Why a handler should stop. Declared from the weakest to the strongest: a stronger reason replaces a weaker one. */
public enum StopReason {
    /** Someone asked for the job to be cancelled. It ends cancelled, unless the handler still returns normally. */
    CANCELLED,
    /** The worker is closing and its drain timeout is over. The job was handed back and runs again elsewhere. */
    SHUTDOWN,
    /** The attempt took longer than the job's maximum duration. The job has failed, whatever the handler does now. */
    TIMED_OUT,
    /** The job has ended, was given to another attempt, or is gone. Nothing that this attempt writes is accepted. */
    LOST
}
