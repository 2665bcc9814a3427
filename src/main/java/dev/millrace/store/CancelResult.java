package dev.millrace.store;

/** What came of a request to cancel a job. */
public enum CancelResult {
    /** It was queued, and is cancelled now. */
    CANCELLED,
    /** It is claimed; the request is stored, and its worker will see it. It may still end otherwise before that. */
    REQUESTED,
    /** It had ended already, one way or another. */
    ALREADY_ENDED,
    /** There is no such job. */
    NOT_FOUND
}
