package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Param;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.junit.jupiter.api.Test;

@MillraceDatabase
class ArrayTextTest {
    private static final List<String[]> TEXTS = List.of(
            new String[] {},
            new String[] {""},
            new String[] {null},
            new String[] {"NULL", null, "null"},
            new String[] {"plain", "with space", " a ", "\t\n\r"},
            new String[] {"\"", "\\", "\\\"", "\"\"", "\\\\", "a\"b\\c"},
            new String[] {"{", "}", "{}", ",", "{\"a\",\"b\"}"},
            new String[] {"'", "$1", "?", "{0}", ":a", "ä€😀"});

    private final TestDatabase database;

    ArrayTextTest(TestDatabase database) {
        this.database = database;
    }

    /** What comes back is what was sent, by the text of this class as by jOOQ's own. */
    private <T> void assertSent(Param<T[]> parameter, List<T[]> arrays) throws SQLException {
        Field<T[]> sent = SentArray.once(parameter);
        Shape shape = new Shape(List.of(parameter), dsl -> dsl.select(sent));
        try (Connection connection = database.dataSource().getConnection();
                Statement settings = connection.createStatement()) {
            settings.execute("SET array_nulls = on"); // else PostgreSQL reads NULL as a text of four letters
            DSLContext dsl = DSL.using(new Rendering(database.schema())
                    .configuration()
                    .derive(DSL.using(connection, SQLDialect.POSTGRES)
                            .configuration()
                            .connectionProvider()));
            for (T[] array : arrays) {
                assertThat(shape.fetch(dsl, new Binds().with(parameter, array))
                                .get(0)
                                .get(0))
                        .isEqualTo(array);
                assertThat(dsl.select(DSL.val(array, parameter.getDataType()))
                                .fetchOne()
                                .value1())
                        .isEqualTo(array);
            }
        }
    }

    @Test
    void texts_areSentAsTheyAre() throws SQLException {
        assertSent(DSL.param("texts", SQLDataType.CLOB.array()), TEXTS);
    }

    @Test
    void idsAndNumbers_areSentAsTheyAre() throws SQLException {
        assertSent(DSL.param("ids", SQLDataType.UUID.array()), List.of(new UUID[] {}, new UUID[] {null}, new UUID[] {
            UUID.randomUUID(), new UUID(0, 0), null
        }));
        assertSent(
                DSL.param("numbers", SQLDataType.SMALLINT.array()),
                List.of(new Short[] {}, new Short[] {Short.MIN_VALUE, 0, null, Short.MAX_VALUE}));
    }

    @Test
    void noArray_isNull() {
        assertThat(ArrayText.text(null)).isNull();
    }

    /** Their texts are not known to be what PostgreSQL reads. */
    @Test
    void otherTypes_areLeftToJooq() {
        assertThat(ArrayText.of(SQLDataType.INSTANT.array(), "?"))
                .extracting(type -> type.getBinding().getClass())
                .isNotEqualTo(ArrayText.class);
        assertThat(ArrayText.of(SQLDataType.CLOB, "?")).isSameAs(SQLDataType.CLOB);
    }
}
