package dev.millrace.job;

import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The limits of the model's values, in one place. Texts must be storable: PostgreSQL has no NUL in text and no lone
 * surrogates in UTF-8, and an index row holds 2,700 bytes. Each check returns what it was given, or throws {@link
 * InvalidJobException}.
 */
public final class Checks {
    static final int MAX_ID_CHARACTERS = 512;
    static final int MAX_ID_BYTES = 2048;
    static final int MAX_NAME_CHARACTERS = 64;
    static final int MAX_NAME_BYTES = 128;
    static final int MAX_REFERENCE_CHARACTERS = 512;
    static final int MAX_REFERENCE_BYTES = 2048;

    /** A century: longer than any delay or retention that is meant, far below what an interval or timestamp holds. */
    static final Duration MAX_DURATION = Duration.ofDays(36_525);

    static final Instant MIN_INSTANT = Instant.parse("0001-01-01T00:00:00Z");
    static final Instant MAX_INSTANT = Instant.parse("9999-12-31T23:59:59.999999Z");

    private Checks() {}

    /**
     * An id of a job: what the primary key can hold.
     *
     * @param field what to call the value in the message of a refusal
     * @param value the id
     * @return the id
     * @throws InvalidJobException if it is not allowed
     */
    public static String id(String field, String value) {
        return text(field, value, MAX_ID_CHARACTERS, MAX_ID_BYTES);
    }

    /**
     * A kind, profile, queue or backend: what an index over several of them can hold.
     *
     * @param field what to call the value in the message of a refusal
     * @param value the name
     * @return the name
     * @throws InvalidJobException if it is not allowed
     */
    public static String name(String field, String value) {
        return text(field, value, MAX_NAME_CHARACTERS, MAX_NAME_BYTES);
    }

    /** A reference that lists can be filtered by, or null. */
    static @Nullable String reference(String field, @Nullable String value) {
        return value == null ? null : text(field, value, MAX_REFERENCE_CHARACTERS, MAX_REFERENCE_BYTES);
    }

    /**
     * Text that can be stored, within these limits.
     *
     * @param field what to call the value in the message of a refusal
     * @param value the text, not empty
     * @param maxCharacters how many characters it may have
     * @param maxBytes how many bytes it may have in UTF-8
     * @return the text
     * @throws InvalidJobException if it is not allowed
     */
    public static String text(String field, String value, int maxCharacters, int maxBytes) {
        String found = whatIsWrong(value, maxCharacters, maxBytes);
        if (found != null) {
            throw new InvalidJobException(
                    field,
                    found,
                    "1 to " + maxCharacters + " characters, at most " + maxBytes
                            + " bytes in UTF-8, without NUL and lone surrogates");
        }
        return value;
    }

    /** What is wrong with a text; null if nothing is. */
    private static @Nullable String whatIsWrong(String value, int maxCharacters, int maxBytes) {
        if (value == null) {
            return "null";
        }
        int characters = value.codePointCount(0, value.length());
        if (characters == 0 || characters > maxCharacters) {
            return characters + " characters";
        }
        String unstorable = unstorable(value);
        if (unstorable != null) {
            return unstorable;
        }
        int bytes = utf8Length(value);
        return bytes > maxBytes ? bytes + " bytes" : null;
    }

    /** The same of NUL and lone surrogates alone. */
    private static @Nullable String unstorable(String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == 0) {
                return "a NUL character at index " + i;
            }
            if (Character.isHighSurrogate(c)
                    && i + 1 < value.length()
                    && Character.isLowSurrogate(value.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                return "a lone surrogate at index " + i;
            }
        }
        return null;
    }

    /**
     * Zero or longer, at most a century, in whole microseconds (the rest is cut off).
     *
     * @param field what to call the value in the message of a refusal
     * @param value the delay
     * @return the delay in whole microseconds
     * @throws InvalidJobException if it is not allowed
     */
    public static Duration delay(String field, Duration value) {
        return duration(field, value, Duration.ZERO);
    }

    /**
     * At least the given length, at most a century, in whole microseconds (the rest is cut off).
     *
     * @param field what to call the value in the message of a refusal
     * @param value the duration
     * @param atLeast the least that is allowed
     * @return the duration in whole microseconds
     * @throws InvalidJobException if it is not allowed
     */
    public static Duration duration(String field, Duration value, Duration atLeast) {
        if (value == null || value.compareTo(atLeast) < 0 || value.compareTo(MAX_DURATION) > 0) {
            throw new InvalidJobException(
                    field, String.valueOf(value), "a duration from " + atLeast + " to " + MAX_DURATION);
        }
        return value.truncatedTo(ChronoUnit.MICROS);
    }

    /**
     * Within the years 1 to 9999, in whole microseconds (the rest is cut off).
     *
     * @param field what to call the value in the message of a refusal
     * @param value the instant
     * @return the instant in whole microseconds
     * @throws InvalidJobException if it is not allowed
     */
    public static Instant instant(String field, Instant value) {
        String allowed = "an instant of the years 1 to 9999";
        if (value == null) {
            throw new InvalidJobException(field, "null", allowed);
        }
        if (value.isBefore(MIN_INSTANT) || value.isAfter(MAX_INSTANT.plusNanos(999))) {
            throw new InvalidJobException(field, value.toString(), allowed);
        }
        return value.truncatedTo(ChronoUnit.MICROS);
    }

    static @Nullable Instant instantOrNull(String field, @Nullable Instant value) {
        return value == null ? null : instant(field, value);
    }

    static double percent(String field, double value) {
        if (Double.isNaN(value) || value < 0 || value > 100) {
            throw new InvalidJobException(field, String.valueOf(value), "a number from 0 to 100");
        }
        return value;
    }

    /**
     * A number from this one on.
     *
     * @param field what to call the value in the message of a refusal
     * @param value the number
     * @param atLeast the least that is allowed
     * @return the number
     * @throws InvalidJobException if it is not allowed
     */
    public static int atLeast(String field, int value, int atLeast) {
        if (value < atLeast) {
            throw new InvalidJobException(field, String.valueOf(value), "a whole number from " + atLeast);
        }
        return value;
    }

    static <T> List<T> noNulls(String field, List<T> values) {
        for (T value : values) {
            given(field, value);
        }
        return List.copyOf(values);
    }

    /**
     * {@return the value, which is not null}
     *
     * @param <T> its type
     * @param field what it is the value of
     * @param value the value
     * @throws InvalidJobException if it is null
     */
    public static <T> T given(String field, T value) {
        if (value == null) {
            throw new InvalidJobException(field, "null", "a value");
        }
        return value;
    }

    /** Members that are unknown here, and so can't be given under a name that is known: the JSON would have it twice. */
    static Map<String, JsonText> more(String of, @Nullable Map<String, JsonText> more, Set<String> known) {
        if (more == null) {
            return Map.of();
        }
        for (String name : more.keySet()) {
            if (known.contains(name)) {
                throw new InvalidJobException(
                        of + ".more",
                        "a member \"" + name + "\"",
                        "members that this release does not know; give this one as what it is");
            }
        }
        return Map.copyOf(more);
    }

    private static int utf8Length(String value) {
        int bytes = 0;
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : Character.isSurrogate(c) ? 2 : 3;
        }
        return bytes;
    }
}
