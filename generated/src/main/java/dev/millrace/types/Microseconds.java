package dev.millrace.types;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Times as PostgreSQL can hold them: whole microseconds, within its range. The columns' bindings apply this to whatever
 * is written; apply it earlier where a value is compared with, or kept next to, what was written, so that both are the
 * same. Stateless and safe for use by several threads.
 */
public final class Microseconds {

    /** The earliest instant of a {@code timestamptz} column: the first of January 4713 BC, UTC. */
    public static final Instant EARLIEST = Instant.parse("-4712-01-01T00:00:00Z");

    /** The latest instant of a {@code timestamptz} column: the last microsecond of the year 294276, UTC. */
    public static final Instant LATEST = Instant.parse("+294276-12-31T23:59:59.999999Z");

    /**
     * The longest duration of an {@code interval} column, about 245,000 years; its negation is the shortest. The hours
     * are then an int, which every server version reads and writes exactly.
     */
    public static final Duration LONGEST = Duration.ofHours(Integer.MAX_VALUE);

    private static final Duration SHORTEST = LONGEST.negated();
    private static final Instant AFTER_LATEST = LATEST.plusNanos(1_000);

    private Microseconds() {}

    /**
     * The instant without what is smaller than a microsecond: the next one at or before it.
     *
     * @param instant the instant to cut
     * @return the same instant if there is nothing to cut
     * @throws IllegalArgumentException if it is before {@link #EARLIEST} or after {@link #LATEST}
     */
    public static Instant truncate(Instant instant) {
        if (instant.isBefore(EARLIEST) || !instant.isBefore(AFTER_LATEST)) {
            throw new IllegalArgumentException("The instant " + instant + " is out of range: PostgreSQL holds "
                    + EARLIEST + " (4713 BC) to " + LATEST + ".");
        }
        return instant.truncatedTo(ChronoUnit.MICROS);
    }

    /**
     * The duration without what is smaller than a microsecond: the next one towards zero.
     *
     * @param duration the duration to cut; may be negative
     * @return the same duration if there is nothing to cut
     * @throws IllegalArgumentException if it is longer than {@link #LONGEST}, in either direction
     */
    public static Duration truncate(Duration duration) {
        if (duration.compareTo(LONGEST) > 0 || duration.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException("The duration " + duration + " is out of range: the database holds "
                    + SHORTEST + " to " + LONGEST + ", about 245,000 years.");
        }
        return duration.truncatedTo(ChronoUnit.MICROS);
    }
}
