package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * The database can't be reached, lets the data source's user not in, is starting, stopping or read-only, or has no
 * connection left. The same call may succeed later, and all of them are safe to repeat but where their documentation says
 * otherwise; it is thrown when the repetitions that the store makes by itself were in vain, or where it makes none.
 */
public final class StoreUnavailableException extends StoreException {
    private static final long serialVersionUID = 1L;

    /**
     * A database that is not available, and may or may not have done what was asked.
     *
     * @param message what was asked and what happened
     * @param cause the cause, or null if there is none
     */
    public StoreUnavailableException(String message, @Nullable Throwable cause) {
        this(message, cause, true);
    }

    /**
     * A database that is not available.
     *
     * @param message what was asked and what happened
     * @param cause the cause, or null if there is none
     * @param mayHaveHappened see {@link #mayHaveHappened()}
     */
    public StoreUnavailableException(String message, @Nullable Throwable cause, boolean mayHaveHappened) {
        super(message, cause, mayHaveHappened);
    }
}
