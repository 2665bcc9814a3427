package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.db.Migrator;
import dev.millrace.db.SchemaState;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

@MillraceDatabase(schema = "My-Jobs")
class MillraceDatabaseTest {

    private static TestDatabase ofClass;

    private final TestDatabase ofConstructor;
    private TestDatabase ofTest;

    MillraceDatabaseTest(TestDatabase ofConstructor) {
        this.ofConstructor = ofConstructor;
    }

    @BeforeAll
    static void injectIntoStaticMethod(TestDatabase database) {
        ofClass = database;
    }

    @BeforeEach
    void injectIntoLifecycleMethod(TestDatabase database) {
        ofTest = database;
    }

    @Test
    void database_isTheSameWhereverItIsInjected(TestDatabase database) {
        assertThat(database).isSameAs(ofClass).isSameAs(ofConstructor).isSameAs(ofTest);
    }

    @Test
    void schema_isMigratedAndEmpty(TestDatabase database) throws SQLException {
        assertThat(Migrator.of(database.unpooledDataSource(), database.schema())
                        .state()
                        .status())
                .isEqualTo(SchemaState.Status.CURRENT);
        assertThat(query(database.dataSource(), "SELECT count(*) FROM \"" + database.schema() + "\".execution_jobs"))
                .containsExactly("0");
    }

    @Test
    void schema_isTheOneThatTheAnnotationNames(TestDatabase database) {
        assertThat(database.schema()).startsWith("My-Jobs");
    }

    @Test
    void dataSource_isAPoolThatStays(TestDatabase database) throws SQLException {
        assertThat(database.dataSource()).isSameAs(database.dataSource());
        assertThat(query(database.dataSource(), "SELECT pg_backend_pid()"))
                .isEqualTo(query(database.dataSource(), "SELECT pg_backend_pid()"));
        assertThat(query(database.unpooledDataSource(), "SELECT pg_backend_pid()"))
                .isNotEqualTo(query(database.unpooledDataSource(), "SELECT pg_backend_pid()"));
    }

    @Test
    void jdbcUrl_connectsToTheSameDatabase(TestDatabase database) throws SQLException {
        Coordinates coordinates = new Coordinates(database.jdbcUrl(), database.user(), database.password());

        assertThat(query(coordinates.dataSource(), "SELECT current_database()"))
                .isEqualTo(query(database.dataSource(), "SELECT current_database()"));
    }

    @Nested
    class NestedTest {

        @Test
        void nestedClass_sharesTheDatabaseOfTheClassAround(TestDatabase database) {
            assertThat(database).isSameAs(ofClass);
        }
    }

    private static List<String> query(DataSource dataSource, String sql) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            while (result.next()) {
                rows.add(result.getString(1));
            }
        }
        return rows;
    }
}
