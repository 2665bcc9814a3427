package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/** The database could not do what was asked. Subclasses say why; this class itself stands for all other reasons. */
public class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean mayHaveHappened;

    /**
     * What the database could not do, and did not do.
     *
     * @param message what was asked, what was found, and what to do
     * @param cause the cause, or null if there is none
     */
    public StoreException(String message, @Nullable Throwable cause) {
        this(message, cause, false);
    }

    /**
     * What the database could not do, or what it was asked and gave no answer to.
     *
     * @param message what was asked, what was found, and what to do
     * @param cause the cause, or null if there is none
     * @param mayHaveHappened see {@link #mayHaveHappened()}
     */
    public StoreException(String message, @Nullable Throwable cause, boolean mayHaveHappened) {
        super(message, cause);
        this.mayHaveHappened = mayHaveHappened;
    }

    /**
     * {@return whether what was asked may have been done all the same: it was sent, and its answer was lost} False if
     * nothing was sent, or if the database has answered that it refuses.
     */
    public final boolean mayHaveHappened() {
        return mayHaveHappened;
    }
}
