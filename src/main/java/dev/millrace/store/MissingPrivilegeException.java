package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/** The database role may not do what was asked. Nothing was written. The message names what to grant. */
public final class MissingPrivilegeException extends StoreException {
    private static final long serialVersionUID = 1L;

    /**
     * A missing privilege.
     *
     * @param message what may not be done, and what to grant
     * @param cause the cause, or null if there is none
     */
    public MissingPrivilegeException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
