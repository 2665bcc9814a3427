package dev.millrace.recovery;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What settings are allowed to be. A bad one is refused by an {@link IllegalArgumentException} that says which one, what
 * it was, what is allowed, and what to do.
 *
 * @param kind whose settings they are, such as {@code recovery}
 */
record Limits(String kind) {
    /** A duration. */
    void check(String name, @Nullable Duration value, Duration least, Duration most, String usual) {
        if (value == null || value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw refused(name, String.valueOf(value), "a duration from " + least + " to " + most, usual);
        }
    }

    /** A whole number, from 1. */
    void check(String name, int value, int most, String usual) {
        if (value < 1 || value > most) {
            throw refused(name, String.valueOf(value), "a whole number from 1 to " + most, usual);
        }
    }

    IllegalArgumentException refused(String name, String found, String allowed, String usual) {
        return new IllegalArgumentException("Invalid " + kind + " setting " + name + ": found " + found
                + ", allowed is " + allowed + ". Set it within these limits, or leave it at its default of " + usual
                + ".");
    }
}
