package dev.millrace.store.postgres;

/**
 * What may be done about a call whose outcome is unknown, because its connection failed before the answer came. (One that
 * failed before anything was sent may always be repeated.)
 */
enum FailureClass {
    /** Doing it twice is as good as doing it once. */
    REPEATABLE,
    /** The row tells whether it was done, and by whom: the call is repeated, and recognises its own earlier success. */
    CONFIRMABLE,
    /** What it did can be found by the tokens that the caller has sent with it. The caller is told, and looks. */
    RECOVERABLE,
    /** Nothing tells whether it was done, or the caller wants to know of the failure itself. The caller is told. */
    ONCE
}
