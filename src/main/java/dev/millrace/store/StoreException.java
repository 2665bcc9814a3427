package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/** The database could not do what was asked. Subclasses say why; this class itself stands for all other reasons. */
public class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * What the database could not do.
     *
     * @param message what was asked, what was found, and what to do
     * @param cause the cause, or null if there is none
     */
    public StoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
