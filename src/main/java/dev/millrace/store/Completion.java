package dev.millrace.store;

import java.util.Objects;

/**
 * An attempt and how it ends, for {@link WorkSource#finish} and {@link WorkSource#finishAll}.
 *
 * @param claim the claim that the attempt has
 * @param finish how it ends
 * @param notes what it adds to its job's outcome
 */
public record Completion(Claim claim, Finish finish, Notes notes) {
    /**
     * Checks the values.
     *
     * @param claim see {@link #claim()}
     * @param finish see {@link #finish()}
     * @param notes see {@link #notes()}
     */
    public Completion {
        Objects.requireNonNull(claim, "claim");
        Objects.requireNonNull(finish, "finish");
        Objects.requireNonNull(notes, "notes");
    }

    /**
     * An ending that adds nothing to the job's outcome.
     *
     * @param claim see {@link #claim()}
     * @param finish see {@link #finish()}
     */
    public Completion(Claim claim, Finish finish) {
        this(claim, finish, Notes.NONE);
    }
}
