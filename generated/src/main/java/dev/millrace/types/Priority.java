package dev.millrace.types;

import java.util.Arrays;
import java.util.stream.Collectors;

/** How urgent a job is. Of two jobs of one queue that are both due, the more urgent one is claimed first. */
public enum Priority {
    /** Before all others. */
    CRITICAL(0, "Critical"),
    /** Before normal ones. */
    HIGH(1, "High"),
    /** The default. */
    NORMAL(2, "Normal"),
    /** After all others. */
    LOW(3, "Low");

    private final short code;
    private final String literal;

    Priority(int code, String literal) {
        this.code = (short) code;
        this.literal = literal;
    }

    /** {@return the value of this priority in the database: 0 is the most urgent} */
    public short code() {
        return code;
    }

    /** {@return the value of this priority in JSON} */
    public String literal() {
        return literal;
    }

    /**
     * The priority with this code.
     *
     * @param code 0 to 3
     * @return the priority
     * @throws IllegalArgumentException if there is none; the message lists those that there are
     */
    public static Priority of(int code) {
        for (Priority priority : values()) {
            if (priority.code == code) {
                return priority;
            }
        }
        throw unknown(String.valueOf(code));
    }

    /**
     * The priority with this literal, compared exactly.
     *
     * @param literal such as {@code Normal}
     * @return the priority
     * @throws IllegalArgumentException if there is none; the message lists those that there are
     */
    public static Priority of(String literal) {
        for (Priority priority : values()) {
            if (priority.literal.equals(literal)) {
                return priority;
            }
        }
        throw unknown('"' + literal + '"');
    }

    private static IllegalArgumentException unknown(String found) {
        return new IllegalArgumentException("No priority is written " + found + "; known are "
                + Arrays.stream(values())
                        .map(p -> p.literal + " (" + p.code + ")")
                        .collect(Collectors.joining(", "))
                + ".");
    }
}
