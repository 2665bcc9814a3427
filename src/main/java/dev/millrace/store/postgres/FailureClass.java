package dev.millrace.store.postgres;

/**
 * What may be done about a call whose outcome is unknown, because its connection failed before the answer came. (One that
 * has done nothing for certain may always be repeated, but for the last class.) {@link Repetition} decides by it.
 */
enum FailureClass {
    /** Doing it twice is as good as doing it once. */
    REPEATABLE,
    /** The row tells whether it was done, and by whom: the call is repeated, and recognises its own earlier success. */
    CONFIRMABLE,
    /** What it did can be found by the tokens that the caller has sent with it. The caller is told, and looks. */
    RECOVERABLE,
    /** Nothing tells whether it was done. The caller is told. */
    ONCE,
    /** The failure itself is what the caller wants to know: it is told at once, also if nothing was sent. */
    NEVER
}
