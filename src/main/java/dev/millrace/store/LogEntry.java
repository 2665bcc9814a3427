package dev.millrace.store;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A line for a job's log. Any text may be in it: control characters other than line feed and tab, and lone surrogates, are
 * stored as U+FFFD, and what doesn't fit into an entry is cut off, which the stored entry says.
 *
 * @param attempt the number of the attempt that it is about, from 1, so that late lines of an attempt that was superseded
 *     can be told from those of the current one; 0 if it is about none
 * @param level how much it matters
 * @param message what happened; may be empty
 * @param fields more of it by name, each name 1 to 64 characters
 * @param eventId names the event for good, 1 to 160 characters: the log takes an event once, however often it is
 *     delivered. Null if nobody will deliver it again
 */
public record LogEntry(
        int attempt,
        Level level,
        String message,
        Map<String, String> fields,
        @Nullable String eventId) {
    /** How much a line matters. */
    public enum Level {
        /** The finest detail. */
        TRACE,
        /** For those who look for a fault. */
        DEBUG,
        /** The usual. */
        INFO,
        /** Something that somebody should look at some time. */
        WARN,
        /** Something that went wrong. */
        ERROR
    }

    private static final int MAX_EVENT_ID_CHARACTERS = 160;

    /**
     * Checks the values.
     *
     * @param attempt see {@link #attempt()}
     * @param level see {@link #level()}
     * @param message see {@link #message()}
     * @param fields see {@link #fields()}
     * @param eventId see {@link #eventId()}
     * @throws InvalidJobException if a value is not allowed
     */
    public LogEntry {
        Checks.atLeast("attempt", attempt, 0);
        given("level", level);
        given("message", message);
        given("fields", fields);
        Map<String, String> copy = new LinkedHashMap<>();
        fields.forEach((name, value) -> copy.put(Checks.name("fields", name), given("fields", value)));
        fields = Collections.unmodifiableMap(copy);
        if (eventId != null) {
            Checks.text("eventId", eventId, MAX_EVENT_ID_CHARACTERS, 4 * MAX_EVENT_ID_CHARACTERS);
        }
    }

    /**
     * {@return a line without fields and event id}
     *
     * @param attempt the number of the attempt that it is about, from 1; 0 if it is about none
     * @param level how much it matters
     * @param message what happened
     */
    public static LogEntry of(int attempt, Level level, String message) {
        return new LogEntry(attempt, level, message, Map.of(), null);
    }

    /**
     * {@return the same line with these fields}
     *
     * @param value see {@link #fields()}
     */
    public LogEntry withFields(Map<String, String> value) {
        return new LogEntry(attempt, level, message, value, eventId);
    }

    /**
     * {@return the same line as this event}
     *
     * @param value see {@link #eventId()}
     */
    public LogEntry withEventId(@Nullable String value) {
        return new LogEntry(attempt, level, message, fields, value);
    }

    private static <T> T given(String field, @Nullable T value) {
        if (value == null) {
            throw new InvalidJobException(field, "null", "a value");
        }
        return value;
    }
}
