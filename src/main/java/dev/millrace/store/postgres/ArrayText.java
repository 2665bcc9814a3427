package dev.millrace.store.postgres;

import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Set;
import java.util.UUID;
import org.jooq.BindingGetResultSetContext;
import org.jooq.BindingSQLContext;
import org.jooq.BindingSetStatementContext;
import org.jooq.Converter;
import org.jooq.Converters;
import org.jooq.DataType;
import org.jooq.impl.AbstractBinding;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/**
 * Sends an array that is a parameter of a {@link Shape}, as jOOQ does: as text, cast in the statement. But that cast is
 * known, as the statement was rendered before, and the text is made in one go; a claim has eight arrays, and they were a quarter
 * of what this process did for it. As with jOOQ, what becomes of nulls depends on the session's {@code array_nulls}.
 */
final class ArrayText<T> extends AbstractBinding<T, T> {
    private static final long serialVersionUID = 1L;

    /** Those whose text is what PostgreSQL reads; for the others jOOQ knows. */
    private static final Set<Class<?>> ELEMENTS =
            Set.of(String.class, UUID.class, Short.class, Integer.class, Long.class);

    private final DataType<T> type;
    private final String sql;
    private final Converter<T, T> converter;

    private ArrayText(DataType<T> type, String sql) {
        this.type = type;
        this.sql = sql;
        this.converter = Converters.identity(type.getType());
    }

    /** The type for a parameter that is rendered as this: the same type, if it is of no such array. */
    static <T> DataType<T> of(DataType<T> type, String sql) {
        Class<?> element = type.getType().getComponentType();
        return element != null && ELEMENTS.contains(element)
                ? type.asConvertedDataType(new ArrayText<>(type, sql))
                : type;
    }

    @Override
    public Converter<T, T> converter() {
        return converter;
    }

    @Override
    protected void sqlInline(BindingSQLContext<T> context) {
        context.render().visit(DSL.inline(context.value(), type));
    }

    @Override
    protected void sqlBind(BindingSQLContext<T> context) {
        PlainSql.parameter(context.render(), sql);
    }

    @Override
    public void set(BindingSetStatementContext<T> context) throws SQLException {
        context.statement().setString(context.index(), text((Object[]) context.value()));
    }

    @Override
    public void get(BindingGetResultSetContext<T> context) throws SQLException {
        throw new SQLFeatureNotSupportedException("It is only sent");
    }

    /** As PostgreSQL's manual has it under "Array Input and Output Syntax". */
    static @Nullable String text(@Nullable Object @Nullable [] array) {
        if (array == null) {
            return null;
        }
        StringBuilder text = new StringBuilder(2 + 40 * array.length).append('{');
        for (int i = 0; i < array.length; i++) {
            if (i > 0) {
                text.append(',');
            }
            Object element = array[i];
            if (element instanceof String string) {
                quote(text, string);
            } else {
                text.append(element == null ? "NULL" : element.toString());
            }
        }
        return text.append('}').toString();
    }

    private static void quote(StringBuilder text, String element) {
        text.append('"');
        if (element.indexOf('"') < 0 && element.indexOf('\\') < 0) {
            text.append(element);
        } else {
            text.append(element.replace("\\", "\\\\").replace("\"", "\\\""));
        }
        text.append('"');
    }
}
