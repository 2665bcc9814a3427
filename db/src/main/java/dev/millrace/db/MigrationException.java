package dev.millrace.db;

import org.jspecify.annotations.Nullable;

/**
 * The schema could not be migrated or looked at. Nothing of the failed step was kept: each step is one transaction.
 *
 * <p>The message says what happened and what to do; {@link #reason()} is for programs. The cause is the database's own
 * error, where there was one.
 */
public final class MigrationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Why it failed. */
    public enum Reason {
        /** No connection could be had, or it was lost. Repeating is safe. */
        UNREACHABLE,
        /** The role lacks a privilege; the message has the statement that grants it. */
        MISSING_PRIVILEGE,
        /** Other sessions held a lock for too long; the message names them where they can be seen. Repeating is safe. */
        LOCK_NOT_OBTAINED,
        /** The schema says that this release is too old to write to it; nothing was written. */
        SCHEMA_TOO_NEW,
        /** The migrations that were applied are not those of this library (checksums, or gaps in the history). */
        HISTORY_DIFFERS,
        /** The database's encoding is not UTF8, so it can't keep every character. */
        NOT_UTF8,
        /** The server, or the session, only reads: a standby, or {@code default_transaction_read_only}. */
        READ_ONLY,
        /** Anything else. */
        FAILED
    }

    private final Reason reason;
    private final String schema;
    private final @Nullable String sqlState;

    MigrationException(
            Reason reason, String schema, String message, @Nullable String sqlState, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
        this.schema = schema;
        this.sqlState = sqlState;
    }

    /** {@return why it failed} */
    public Reason reason() {
        return reason;
    }

    /** {@return the schema} */
    public String schema() {
        return schema;
    }

    /** {@return the SQLSTATE of the database's error, or null if there was none} */
    public @Nullable String sqlState() {
        return sqlState;
    }
}
