package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * The schema is not there, or is not one that this release of the library may use. Nothing was read or written,
 * unless {@link #mayHaveHappened()}. The message says what to do; once it is done, the same call works.
 */
public final class SchemaNotReadyException extends StoreException {
    private static final long serialVersionUID = 1L;

    /** What is wrong with it. */
    public enum Reason {
        /** It is not there, or not all of it is. */
        MISSING,
        /** It is of an older version than this release works with: it has to be migrated. */
        BEHIND,
        /** It says that this release is too old to write to it: the library has to be upgraded. */
        TOO_NEW,
        /** It doesn't say of which version it is, or which releases may write to it. */
        UNCLEAR
    }

    private final String schema;
    private final Reason reason;

    /**
     * A schema that is not ready.
     *
     * @param schema its name
     * @param reason what is wrong with it, for programs
     * @param message what is wrong with it, and what to do
     * @param cause the cause, or null if there is none
     * @param mayHaveHappened whether an earlier try, whose answer was lost, may have done it
     */
    public SchemaNotReadyException(
            String schema, Reason reason, String message, @Nullable Throwable cause, boolean mayHaveHappened) {
        super(message, cause, mayHaveHappened);
        this.schema = schema;
        this.reason = reason;
    }

    /** {@return the schema that was looked for} */
    public String schema() {
        return schema;
    }

    /** {@return what is wrong with it} */
    public Reason reason() {
        return reason;
    }
}
