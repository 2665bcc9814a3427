package dev.millrace.store;

/**
 * How many there are, as far as it was counted.
 *
 * @param jobs how many were counted
 * @param exact true if that is all; false if counting ended there and there are more
 */
public record Count(long jobs, boolean exact) {
    /** {@return such as {@code 17}, or {@code over 500} where counting ended} */
    @Override
    public String toString() {
        return exact ? String.valueOf(jobs) : "over " + jobs;
    }
}
