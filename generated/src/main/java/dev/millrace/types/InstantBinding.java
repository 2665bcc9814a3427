package dev.millrace.types;

import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.SignStyle;
import java.time.temporal.ChronoField;
import java.util.Locale;
import org.jooq.BindingGetResultSetContext;
import org.jooq.BindingSQLContext;
import org.jooq.BindingSetStatementContext;
import org.jooq.Converter;
import org.jooq.impl.AbstractBinding;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;

/**
 * Columns of type {@code timestamptz} as {@link Instant}, exact to the microsecond.
 *
 * <p>What is smaller than a microsecond is cut off here, since the driver would round it up. Instants outside of {@link
 * Microseconds#EARLIEST} to {@link Microseconds#LATEST} are refused with an {@link IllegalArgumentException} before
 * anything is sent, and so are {@code infinity} and {@code -infinity} when they are read; jOOQ makes that the cause of a
 * {@link org.jooq.exception.DataAccessException}. Neither the session's time zone
 * nor the JVM's has a say. A bind value is a plain {@code ?}, sent as {@code timestamptz}.
 *
 * <p>Stateless and safe for use by several threads. Public because the generated tables name it.
 */
public final class InstantBinding extends AbstractBinding<OffsetDateTime, Instant> {

    private static final long serialVersionUID = 1L;

    // Years beyond 9999 have no sign, and the years before the first are counted by era.
    private static final DateTimeFormatter LITERAL = new DateTimeFormatterBuilder()
            .appendValue(ChronoField.YEAR_OF_ERA, 4, 6, SignStyle.NEVER)
            .appendPattern("-MM-dd HH:mm:ss.SSSSSS'+00'")
            .toFormatter(Locale.ROOT);

    private final InstantConverter converter = new InstantConverter();

    @Override
    public Converter<OffsetDateTime, Instant> converter() {
        return converter;
    }

    @Override
    protected void sqlInline(BindingSQLContext<Instant> context) {
        context.render().visit(DSL.inline(literal(context.value())).cast(SQLDataType.TIMESTAMPWITHTIMEZONE));
    }

    @Override
    protected void sqlBind(BindingSQLContext<Instant> context) {
        context.render().sql(context.variable());
    }

    @Override
    public void set(BindingSetStatementContext<Instant> context) throws SQLException {
        context.statement().setObject(context.index(), converter.to(context.value()), Types.TIMESTAMP_WITH_TIMEZONE);
    }

    @Override
    public void get(BindingGetResultSetContext<Instant> context) throws SQLException {
        context.value(converter.from(context.resultSet().getObject(context.index(), OffsetDateTime.class)));
    }

    private static @Nullable String literal(@Nullable Instant instant) {
        if (instant == null) {
            return null;
        }
        OffsetDateTime time = Microseconds.truncate(instant).atOffset(ZoneOffset.UTC);
        return LITERAL.format(time) + (time.getYear() < 1 ? " BC" : "");
    }
}
