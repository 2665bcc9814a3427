package dev.millrace.store;

/** What came of asking for an ended job to run again. */
public enum RetryResult {
    /** It is queued again. */
    QUEUED,
    /** It has not ended: it waits, or runs. Nothing was changed. */
    NOT_ENDED,
    /** There is no such job; its retention may be over. */
    NOT_FOUND
}
