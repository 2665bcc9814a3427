package dev.millrace.store.postgres;

import org.jooq.Condition;
import org.jooq.Field;
import org.jooq.impl.DSL;

/**
 * Arrays that are sent with a statement. jOOQ and the driver send them as text, and where PostgreSQL plans a statement once
 * for all values it takes that text apart each time that it evaluates the expression which has the array: where that is once
 * for each row, a statement for n rows reads n * n elements. In a subquery it does so once.
 */
final class SentArray {
    private SentArray() {}

    /** The array, for expressions that are evaluated for each row. */
    static <T> Field<T[]> once(Field<T[]> array) {
        return DSL.field(DSL.select(array));
    }

    /** It has an element that is equal to this column of each row. Where an index leads to the rows it is not needed. */
    static <T> Condition contains(Field<T[]> array, Field<T> column) {
        // Cast, or ANY would compare the column with the subquery's rows.
        return column.eq(DSL.any(once(array).cast(array.getDataType())));
    }
}
