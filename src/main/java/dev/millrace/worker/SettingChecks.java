package dev.millrace.worker;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The limits of a worker's settings. They refuse; they never correct. */
final class SettingChecks {
    private SettingChecks() {}

    /** Text that the database can hold, within the limits of the column that it goes to. */
    static void text(String setting, @Nullable String value, int maxCharacters, int maxBytes) {
        String allowed = "1 to " + maxCharacters + " characters, at most " + maxBytes
                + " bytes in UTF-8, without NUL and lone surrogates";
        String whatToDo = "Choose a shorter or plainer text for " + setting + ".";
        if (value == null) {
            throw new InvalidWorkerException(setting, "null", allowed, "Leave " + setting + " out for its default.");
        }
        int characters = value.codePointCount(0, value.length());
        if (characters == 0 || characters > maxCharacters) {
            throw new InvalidWorkerException(setting, characters + " characters", allowed, whatToDo);
        }
        if (value.indexOf('\0') >= 0) {
            throw new InvalidWorkerException(setting, "a NUL character", allowed, whatToDo);
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(value)) {
            throw new InvalidWorkerException(setting, "a lone surrogate", allowed, whatToDo);
        }
        int bytes = value.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > maxBytes) {
            throw new InvalidWorkerException(setting, bytes + " bytes", allowed, whatToDo);
        }
    }

    /** At least one name, no two alike. */
    static List<String> names(String setting, @Nullable List<String> values) {
        String allowed = "at least one name, no two alike";
        if (values == null || values.isEmpty()) {
            throw new InvalidWorkerException(
                    setting, values == null ? "null" : "none", allowed, "Leave " + setting + " out for its default.");
        }
        Set<String> seen = new HashSet<>();
        for (String value : values) {
            text(setting, value, 64, 128);
            if (!seen.add(value)) {
                throw new InvalidWorkerException(
                        setting, "\"" + value + "\" twice", allowed, "Name it once: a repetition gives it no weight.");
            }
        }
        return List.copyOf(values);
    }

    static void number(String setting, int value, int most) {
        if (value < 1 || value > most) {
            throw new InvalidWorkerException(
                    setting,
                    String.valueOf(value),
                    "a whole number from 1 to " + most,
                    value < 1
                            ? "To stop a worker, close it."
                            : "Start more workers, on this machine or others, for more than that.");
        }
    }

    /** From none. */
    static void upTo(String setting, int value, int most) {
        if (value < 0 || value > most) {
            throw new InvalidWorkerException(
                    setting,
                    String.valueOf(value),
                    "a whole number from 0 to " + most,
                    "Leave " + setting + " out for none.");
        }
    }

    static void given(String setting, @Nullable Object value) {
        if (value == null) {
            throw new InvalidWorkerException(setting, "null", "a value", "Leave " + setting + " out for its default.");
        }
    }

    /** Some kinds, each with a number up to that of all. */
    /** Whether they fit to the concurrency is seen when a worker is built, as the one may be set after the other. */
    static Map<String, Integer> kinds(String setting, @Nullable Map<String, Integer> values, int most) {
        given(setting, values);
        Map<String, Integer> copy = new LinkedHashMap<>(Objects.requireNonNull(values));
        copy.forEach((kind, number) -> {
            text(setting, kind, 64, 128);
            if (number == null || number < 1 || number > most) {
                throw new InvalidWorkerException(
                        setting,
                        number + " for the kind \"" + kind + "\"",
                        "a whole number from 1 to " + most,
                        "Leave a kind out that may have all slots, and give the worker no handler for one that it shall not"
                                + " run.");
            }
        });
        return Collections.unmodifiableMap(copy);
    }

    static void duration(String setting, @Nullable Duration value, Duration least, Duration most) {
        if (value == null || value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new InvalidWorkerException(
                    setting,
                    String.valueOf(value),
                    "a duration from " + least + " to " + most,
                    "Leave " + setting + " out for its default.");
        }
    }
}
