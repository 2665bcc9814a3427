package dev.millrace.backend;

/** Whether another attempt at a job may go better. */
public enum Retrying {
    /** It may: the job is retried as its retry policy says, if attempts are left. */
    ALLOWED,
    /** It can't: the job fails, whatever attempts are left. */
    POINTLESS
}
