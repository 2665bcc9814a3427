package dev.millrace.recovery;

import java.time.Duration;

/** Durations as people read them. */
final class DurationText {
    private static final long MINUTE = 60_000;
    private static final long HOUR = 60 * MINUTE;
    private static final long DAY = 24 * HOUR;

    private DurationText() {}

    /** Such as {@code 250 ms}, {@code 1.5 s}, {@code 2 min 5 s}, {@code 1 h 0 min} or {@code 3 d 4 h}. */
    static String of(Duration duration) {
        long millis = Math.max(0, duration.toMillis());
        if (millis < 1_000) {
            return millis + " ms";
        }
        if (millis < MINUTE) {
            long tenths = millis % 1_000 / 100;
            return millis / 1_000 + (tenths == 0 ? "" : "." + tenths) + " s";
        }
        if (millis < HOUR) {
            return millis / MINUTE + " min " + millis % MINUTE / 1_000 + " s";
        }
        if (millis < DAY) {
            return millis / HOUR + " h " + millis % HOUR / MINUTE + " min";
        }
        return millis / DAY + " d " + millis % DAY / HOUR + " h";
    }
}
