package dev.millrace.store;

import java.time.Instant;
import java.util.Map;

/**
 * A line of a job's log as it is stored.
 *
 * @param sequence its position in the log, from zero, without gaps
 * @param at when it was appended, in database time
 * @param attempt the number of the attempt that it is about; 0 if it is about none
 * @param level how much it matters
 * @param message what happened
 * @param fields more of it by name, in the order in which they were given
 * @param cut whether some of it was cut off to fit into an entry
 */
public record LogLine(
        long sequence,
        Instant at,
        int attempt,
        LogEntry.Level level,
        String message,
        Map<String, String> fields,
        boolean cut) {}
