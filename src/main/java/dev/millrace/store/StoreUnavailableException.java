package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * The database can't be reached, is starting, stopping or read-only, or has no connection left. What was asked may or
 * may not have happened. It is transient: the same call may succeed later, and all of them are safe to repeat but where
 * their documentation says otherwise.
 */
public final class StoreUnavailableException extends StoreException {
    private static final long serialVersionUID = 1L;

    /**
     * A database that is not available.
     *
     * @param message what was asked and what happened
     * @param cause the cause, or null if there is none
     */
    public StoreUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
