package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/** The database role may not do what was asked. Nothing was written. The message names what to grant. */
public final class MissingPrivilegeException extends StoreException {
    private static final long serialVersionUID = 1L;

    public MissingPrivilegeException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
