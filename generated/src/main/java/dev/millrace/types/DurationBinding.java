package dev.millrace.types;

import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import org.jooq.BindingGetResultSetContext;
import org.jooq.BindingSQLContext;
import org.jooq.BindingSetStatementContext;
import org.jooq.Converter;
import org.jooq.impl.AbstractBinding;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jooq.types.YearToSecond;
import org.postgresql.util.PGobject;

/**
 * Columns of type {@code interval} as {@link Duration}, exact to the microsecond.
 *
 * <p>What is smaller than a microsecond is cut off. Durations longer than {@link Microseconds#LONGEST} are refused with an
 * {@link IllegalArgumentException} before anything is sent, and intervals with months when they are read, since a month
 * has no fixed length; jOOQ makes that the cause of a {@link org.jooq.exception.DataAccessException}. They are written in
 * hours, minutes and seconds, so that adding one to a time doesn't depend on the session's daylight saving; a day that
 * someone else wrote is read as 24 hours. The session's IntervalStyle has no say. A bind value is a plain {@code ?}, sent as {@code interval}.
 *
 * <p>Stateless and safe for use by several threads. Public because the generated tables name it.
 */
public final class DurationBinding extends AbstractBinding<YearToSecond, Duration> {

    private static final long serialVersionUID = 1L;

    private final DurationConverter converter = new DurationConverter();

    @Override
    public Converter<YearToSecond, Duration> converter() {
        return converter;
    }

    @Override
    protected void sqlInline(BindingSQLContext<Duration> context) {
        Duration duration = context.value();
        context.render()
                .visit(DSL.inline(duration == null ? null : IntervalText.of(duration))
                        .cast(SQLDataType.INTERVAL));
    }

    @Override
    protected void sqlBind(BindingSQLContext<Duration> context) {
        context.render().sql(context.variable());
    }

    @Override
    public void set(BindingSetStatementContext<Duration> context) throws SQLException {
        PGobject interval = new PGobject();
        interval.setType("interval");
        Duration duration = context.value();
        interval.setValue(duration == null ? null : IntervalText.of(duration));
        context.statement().setObject(context.index(), interval, Types.OTHER);
    }

    @Override
    public void get(BindingGetResultSetContext<Duration> context) throws SQLException {
        // Not as the driver's PGInterval: that one reads the days of the style sql_standard as zero.
        String interval = context.resultSet().getString(context.index());
        context.value(interval == null ? null : IntervalText.parse(interval));
    }
}
