package dev.millrace.types;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text of PostgreSQL's intervals: written in the one form that every session reads alike, read in each of the four
 * forms that a session's IntervalStyle can ask for. Decimal throughout, since most fractions of a second have no exact
 * double.
 */
final class IntervalText {

    /** {@code 1 day} and {@code -2.5 secs}, a time of day, and sql_standard's bare years-months and days. */
    private static final Pattern FIELD =
            Pattern.compile("(?:(?<amount>[+-]?\\d+(?:\\.\\d+)?) (?<unit>year|mon|day|hour|min|sec)s?"
                    + "|(?<years>[+-]?\\d+)-(?<months>\\d+)"
                    + "|(?<sign>[+-]?)(?<hours>\\d+):(?<minutes>\\d+):(?<seconds>\\d+(?:\\.\\d+)?)"
                    + "|(?<days>[+-]?\\d+))(?: |$)");

    private static final String AGO = " ago";

    private IntervalText() {}

    /** The duration in hours, minutes and seconds as ISO 8601, each with its sign: no style changes what that means. */
    static String of(Duration duration) {
        Duration exact = Microseconds.truncate(duration);
        long minutes = exact.toMinutes();
        long micros = exact.minusMinutes(minutes).toNanos() / 1_000;
        return "PT" + minutes / 60 + "H" + minutes % 60 + "M" + BigDecimal.valueOf(micros, 6) + "S";
    }

    /**
     * The duration that this text means; a day has 24 hours.
     *
     * @throws IllegalArgumentException if it has years or months, or is infinite
     */
    static Duration parse(String text) {
        if (text.startsWith("P")) {
            return parseIso(text);
        }
        // postgres_verbose: "@ 1 day -2 hours ago"
        boolean ago = text.endsWith(AGO);
        String fields = text.substring(text.startsWith("@ ") ? 2 : 0, text.length() - (ago ? AGO.length() : 0));
        Duration sum = sum(fields, text);
        return ago ? sum.negated() : sum;
    }

    private static Duration parseIso(String text) {
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(hasNoLength(text), e);
        }
    }

    private static Duration sum(String fields, String text) {
        Duration sum = Duration.ZERO;
        Matcher field = FIELD.matcher(fields);
        // sql_standard: the sign of "-1 2:00:00" is that of the days and of the time.
        boolean negativeDays = false;
        int at = 0;
        do {
            if (!field.region(at, fields.length()).lookingAt()) {
                throw new IllegalArgumentException(hasNoLength(text));
            }
            if (field.group("unit") != null) {
                sum = sum.plus(inUnit(field, text));
            } else if (field.group("hours") != null) {
                Duration time = timeOfDay(field);
                boolean negative =
                        field.group("sign").equals("-") || (field.group("sign").isEmpty() && negativeDays);
                sum = sum.plus(negative ? time.negated() : time);
            } else if (field.group("days") != null) {
                sum = sum.plusDays(Long.parseLong(field.group("days")));
                negativeDays = field.group("days").startsWith("-");
            } else if (Long.parseLong(field.group("years")) != 0 || Long.parseLong(field.group("months")) != 0) {
                throw new IllegalArgumentException(hasNoLength(text));
            }
            at = field.end();
        } while (at < fields.length());
        return sum;
    }

    private static Duration inUnit(Matcher field, String text) {
        BigDecimal amount = new BigDecimal(field.group("amount"));
        return switch (field.group("unit")) {
            case "day" -> Duration.ofDays(amount.longValueExact());
            case "hour" -> Duration.ofHours(amount.longValueExact());
            case "min" -> Duration.ofMinutes(amount.longValueExact());
            case "sec" -> seconds(amount);
            default -> {
                if (amount.signum() != 0) {
                    throw new IllegalArgumentException(hasNoLength(text));
                }
                yield Duration.ZERO;
            }
        };
    }

    private static Duration timeOfDay(Matcher field) {
        return Duration.ofHours(Long.parseLong(field.group("hours")))
                .plusMinutes(Long.parseLong(field.group("minutes")))
                .plus(seconds(new BigDecimal(field.group("seconds"))));
    }

    private static Duration seconds(BigDecimal seconds) {
        return Duration.ofSeconds(0, seconds.movePointRight(9).longValueExact());
    }

    /** The message about an interval that is no duration. */
    static String hasNoLength(String interval) {
        return "The database holds the interval \"" + interval
                + "\", which has no fixed length. Millrace writes hours, "
                + "minutes and seconds, and reads a day as 24 hours: set the column to such an interval, without years or "
                + "months.";
    }
}
