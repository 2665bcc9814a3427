package dev.millrace.store.postgres;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/** The values of one execution of a {@link Shape}, by the names of its parameters. */
final class Binds {
    private final Map<String, @Nullable Object> values = new HashMap<>();

    /** A parameter for the values of a column. */
    static <T> Param<T> parameter(Field<T> column) {
        return DSL.param(column.getName(), column.getDataType());
    }

    /** Sets the value of a parameter. */
    <T> Binds with(Param<T> parameter, @Nullable T value) {
        values.put(name(parameter), value);
        return this;
    }

    /** Sets the {@link #parameter}s of these columns: to values, or to those of a bind. */
    Binds withAll(Map<Field<?>, Object> columns) {
        columns.forEach((column, value) ->
                values.put(column.getName(), value instanceof Param<?> bind ? bind.getValue() : value));
        return this;
    }

    /** The value of a parameter. */
    <T> @Nullable T get(Param<T> parameter) {
        String name = name(parameter);
        Object value = values.get(name);
        if (value == null && !values.containsKey(name)) {
            throw new IllegalStateException(
                    "The statement has a parameter \"" + name + "\", but values only for " + values.keySet() + ".");
        }
        return parameter.getType().cast(value);
    }

    private static String name(Param<?> parameter) {
        return Objects.requireNonNull(parameter.getParamName(), "the name of a parameter");
    }
}
