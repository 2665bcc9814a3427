package dev.millrace.types;

import java.time.Duration;
import org.jooq.impl.AbstractConverter;
import org.jooq.types.DayToSecond;
import org.jooq.types.YearToMonth;
import org.jooq.types.YearToSecond;
import org.jspecify.annotations.Nullable;

/**
 * jOOQ's type of interval columns and {@link Duration}, field by field: jOOQ's own conversion counts a year as 365.25 days
 * and calculates the rest in floating point. {@link DurationBinding} goes past that type; this is for where jOOQ insists
 * on it.
 */
final class DurationConverter extends AbstractConverter<YearToSecond, Duration> {

    private static final long serialVersionUID = 1L;

    DurationConverter() {
        super(YearToSecond.class, Duration.class);
    }

    @Override
    public @Nullable Duration from(@Nullable YearToSecond interval) {
        if (interval == null) {
            return null;
        }
        YearToMonth months = interval.getYearToMonth();
        if (months.getYears() != 0 || months.getMonths() != 0) {
            throw new IllegalArgumentException(IntervalText.hasNoLength(interval.toString()));
        }
        DayToSecond rest = interval.getDayToSecond();
        Duration length = Duration.ofDays(rest.getDays())
                .plusHours(rest.getHours())
                .plusMinutes(rest.getMinutes())
                .plusSeconds(rest.getSeconds())
                .plusNanos(rest.getNano());
        return rest.getSign() < 0 ? length.negated() : length;
    }

    @Override
    public @Nullable YearToSecond to(@Nullable Duration duration) {
        if (duration == null) {
            return null;
        }
        Duration exact = Microseconds.truncate(duration);
        Duration length = exact.abs();
        DayToSecond rest = new DayToSecond(
                Math.toIntExact(length.toDaysPart()),
                length.toHoursPart(),
                length.toMinutesPart(),
                length.toSecondsPart(),
                length.toNanosPart());
        return new YearToSecond(new YearToMonth(), exact.isNegative() ? rest.neg() : rest);
    }
}
