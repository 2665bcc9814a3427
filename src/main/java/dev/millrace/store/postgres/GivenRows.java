package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.jooq.tables.records.ExecutionJobsRecord;
import dev.millrace.types.JsonText;
import java.lang.reflect.Array;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jooq.CommonTableExpression;
import org.jooq.Condition;
import org.jooq.Converter;
import org.jooq.DSLContext;
import org.jooq.DataType;
import org.jooq.Field;
import org.jooq.Name;
import org.jooq.Param;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.SelectField;
import org.jooq.UpdateConditionStep;
import org.jooq.impl.DSL;
import org.jooq.impl.DefaultDataType;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;

/**
 * The values of many rows, sent as one array for each column: a statement over them has one text and few binds, however
 * many rows there are. The arrays are unnested side by side, which costs one pass; taking elements by their number would
 * cost one for each element, since texts have no fixed length.
 *
 * <p>An update locks the rows that it names before it changes any of them, and waits for none, so that it can't
 * deadlock with another one over the same rows; the join by which the rows are found drives the lock, not the update, so
 * that the update has but one way to each row, by its id.
 */
final class GivenRows {
    private static final Name GIVEN = DSL.name("given");
    private static final Name LOCKED = DSL.name("locked");

    private final List<Field<?>> columns;
    private final CommonTableExpression<? extends Record> given;

    /** @param rows not empty, each with the same columns, the job's id among them; values, or null, or a bind of them */
    GivenRows(List<Map<Field<?>, Object>> rows) {
        this.columns = List.copyOf(rows.get(0).keySet());
        List<SelectField<?>> arrays = new ArrayList<>();
        for (Field<?> column : columns) {
            arrays.add(unnested(column, rows));
        }
        this.given = DSL.name(GIVEN).asMaterialized(DSL.select(arrays));
    }

    /** A column of the rows as they were sent. */
    static <T> Field<T> given(Field<T> column) {
        return DSL.field(DSL.name(GIVEN, column.getUnqualifiedName()), column.getDataType());
    }

    /** The same once the row that it belongs to is locked, for what an update assigns. */
    static <T> Field<T> locked(Field<T> column) {
        return DSL.field(DSL.name(LOCKED, column.getUnqualifiedName()), column.getDataType());
    }

    CommonTableExpression<? extends Record> table() {
        return given;
    }

    /**
     * An update of the rows that have these ids and fulfil the conditions, which may compare with what was {@link
     * #given}; to be run, or to be asked for what it returns. It leaves out rows that someone else has locked: one of them
     * must not hold up all others, which would be locked meanwhile. A caller's transaction, which keeps its locks, has them
     * already: {@link Bulk#lockInOrder}.
     */
    UpdateConditionStep<ExecutionJobsRecord> update(
            DSLContext dsl, Map<Field<?>, Object> values, Condition... conditions) {
        List<SelectField<?>> carried = new ArrayList<>();
        carried.add(EXECUTION_JOBS.OPERATION_ID);
        columns.stream()
                .filter(column -> !column.equals(EXECUTION_JOBS.OPERATION_ID))
                .forEach(column -> carried.add(given(column)));
        CommonTableExpression<? extends Record> rowsToLock = DSL.name("rows_to_lock")
                .asMaterialized(DSL.select(carried)
                        .from(given)
                        .join(EXECUTION_JOBS)
                        .on(EXECUTION_JOBS.OPERATION_ID.eq(given(EXECUTION_JOBS.OPERATION_ID)))
                        .where(conditions)
                        .forNoKeyUpdate()
                        .of(EXECUTION_JOBS)
                        .skipLocked());
        CommonTableExpression<? extends Record> locked = DSL.name(LOCKED)
                .asMaterialized(DSL.select(rowsToLock.fields())
                        .select(DbTime.CLOCK.as("now"))
                        .from(rowsToLock));
        return dsl.with(given, rowsToLock, locked)
                .update(EXECUTION_JOBS)
                .set(values)
                .from(locked)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(locked(EXECUTION_JOBS.OPERATION_ID)));
    }

    private static <T> Field<T> unnested(Field<T> column, List<Map<Field<?>, Object>> rows) {
        List<@Nullable T> values = new ArrayList<>(rows.size());
        for (Map<Field<?>, Object> row : rows) {
            Object value = row.get(column);
            values.add(column.getType().cast(value instanceof Param<?> bind ? bind.getValue() : value));
        }
        return element(column, values).as(column.getUnqualifiedName());
    }

    /** Each element as the driver can send it in an array, and what makes the column's type of it again. */
    private static <T> Field<T> element(Field<T> column, List<@Nullable T> values) {
        DataType<T> type = column.getDataType();
        if (column.getType() == String.class) {
            return texts(values, Object::toString).coerce(type);
        }
        if (column.getType() == JsonText.class) {
            return texts(values, value -> ((JsonText) value).text()).cast(type);
        }
        if (column.getType() == Duration.class) {
            return texts(values, Object::toString).cast(type); // ISO 8601, which no session reads otherwise
        }
        if (List.class.isAssignableFrom(column.getType())) {
            return texts(values, value -> arrayLiteral((List<?>) value)).cast(type);
        }
        Converter<?, T> converter = column.getConverter();
        return values.contains(null)
                ? texts(values, value -> String.valueOf(converter.to(value))).cast(type)
                : sent(converter.fromType(), column, values).coerce(type);
    }

    private static <T, U> Field<U> sent(Class<U> sentAs, Field<T> column, List<@Nullable T> values) {
        @SuppressWarnings("unchecked")
        U[] array = (U[]) Array.newInstance(sentAs, values.size());
        for (int i = 0; i < array.length; i++) {
            array[i] = sentAs.cast(column.getConverter().to(values.get(i)));
        }
        return unnest(array, DefaultDataType.getDataType(SQLDialect.POSTGRES, sentAs));
    }

    /**
     * As texts, none of which is empty: null is sent as the empty one, since a session with {@code array_nulls=off} reads
     * a null in an array as the text "null".
     */
    private static <T> Field<String> texts(List<@Nullable T> values, Function<T, String> text) {
        String[] array = values.stream()
                .map(value -> value == null ? "" : text.apply(value))
                .toArray(String[]::new);
        Field<String> element = unnest(array, SQLDataType.CLOB);
        return values.contains(null) ? DSL.nullif(element, DSL.inline("")) : element;
    }

    private static <U> Field<U> unnest(U[] array, DataType<U> type) {
        return DSL.function(DSL.name("pg_catalog", "unnest"), type, DSL.val(array, type.array()));
    }

    /** An array of texts as PostgreSQL reads it: an array of arrays of unequal length can't be sent as one. */
    private static String arrayLiteral(List<?> texts) {
        StringBuilder literal = new StringBuilder("{");
        for (Object text : texts) {
            literal.append(literal.length() == 1 ? "\"" : ",\"")
                    .append(text.toString().replace("\\", "\\\\").replace("\"", "\\\""))
                    .append('"');
        }
        return literal.append('}').toString();
    }
}
