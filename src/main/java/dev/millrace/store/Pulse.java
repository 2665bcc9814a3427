package dev.millrace.store;

/** What a beat, a start or a report of progress says about the attempt that made it. */
public enum Pulse {
    /** The attempt is still the job's. */
    HELD,
    /** The attempt is still the job's, and someone asked for the job to be cancelled. */
    CANCELLATION_REQUESTED,
    /** The job has ended, was given to another attempt, or is gone: nothing was written, and nothing more will be. */
    LOST,
    /** Someone else's transaction holds the row, so nothing is known: try again. Only what waits for no row answers this. */
    BUSY
}
