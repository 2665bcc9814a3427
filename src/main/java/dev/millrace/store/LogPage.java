package dev.millrace.store;

import java.util.List;

/**
 * A part of a job's log, and how much there is, both of one moment.
 *
 * @param lines the lines, the oldest first
 * @param appended how many were ever appended
 * @param dropped how many of the oldest of them are no longer kept
 * @param next where the log goes on behind these lines, for {@link JobLogStore#page}. Also given at the end of the log, so
 *     that a reader can ask again for what has come since
 * @param more whether there were lines behind these ones at that moment
 */
public record LogPage(List<LogLine> lines, long appended, long dropped, String next, boolean more) {
    /**
     * Keeps a copy of the lines.
     *
     * @param lines see {@link #lines()}
     * @param appended see {@link #appended()}
     * @param dropped see {@link #dropped()}
     * @param next see {@link #next()}
     * @param more see {@link #more()}
     */
    public LogPage {
        lines = List.copyOf(lines);
    }
}
