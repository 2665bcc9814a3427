package dev.millrace.store;

import java.util.Objects;

/**
 * An attempt and how it ends, for {@link WorkSource#finishAll}.
 *
 * @param claim the claim that the attempt has
 * @param finish how it ends
 */
public record Completion(Claim claim, Finish finish) {
    /**
     * Checks the values.
     *
     * @param claim see {@link #claim()}
     * @param finish see {@link #finish()}
     */
    public Completion {
        Objects.requireNonNull(claim, "claim");
        Objects.requireNonNull(finish, "finish");
    }
}
