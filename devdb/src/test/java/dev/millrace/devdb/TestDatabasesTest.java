package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.db.Migrator;
import dev.millrace.db.SchemaState;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How test classes get their databases, on the server of this one, seen as a given server. */
@MillraceDatabase
@Timeout(120)
class TestDatabasesTest {

    private final TestDatabase neighbour;

    TestDatabasesTest(TestDatabase neighbour) {
        this.neighbour = neighbour;
    }

    @Test
    void create_ofManyAtOnce_givesEachADatabaseOfItsOwnAndDropsThem() throws Exception {
        TestDatabases databases =
                databasesOf(neighbour.server().user(), neighbour.server().password());
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<TestDatabase> created = new ArrayList<>();
        try {
            List<Future<TestDatabase>> futures = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                futures.add(threads.submit(() -> databases.create("millrace")));
            }
            for (Future<TestDatabase> future : futures) {
                created.add(future.get(60, TimeUnit.SECONDS));
            }
        } finally {
            threads.shutdownNow();
        }
        List<String> names = new ArrayList<>();
        for (TestDatabase database : created) {
            assertThat(stateOf(database)).isEqualTo(SchemaState.Status.CURRENT);
            names.add(nameOf(database));
        }
        assertThat(names).doesNotHaveDuplicates();

        created.get(0).close();

        assertThat(allDatabases()).doesNotContain(names.get(0)).contains(names.get(1));

        created.subList(1, 4).forEach(TestDatabase::close);
        databases.close();

        String prefix = names.get(0).substring(0, names.get(0).lastIndexOf('_'));
        assertThat(allDatabases()).as("templates included").noneMatch(name -> name.startsWith(prefix));
    }

    @Test
    void create_ofAnotherSchema_hasATemplateOfItsOwn() throws SQLException {
        TestDatabases databases =
                databasesOf(neighbour.server().user(), neighbour.server().password());
        TestDatabase one = databases.create("one");
        TestDatabase two = databases.create("Another One");

        assertThat(one.schema()).isEqualTo("one");
        assertThat(two.schema()).isEqualTo("Another One");
        assertThat(stateOf(one)).isEqualTo(stateOf(two)).isEqualTo(SchemaState.Status.CURRENT);

        one.close();
        two.close();
        databases.close();
    }

    @Test
    void create_byAUserWhoMayNotCreateDatabases_givesASchemaOfItsOwnAndDropsIt() throws SQLException {
        String role = "nocreatedb_" + Long.toString(System.nanoTime(), 36);
        execute("CREATE ROLE " + role + " LOGIN PASSWORD 'secret'");
        execute("GRANT CONNECT, CREATE ON DATABASE \"" + nameOf(neighbour) + "\" TO " + role);
        TestDatabases databases = databasesOf(role, "secret");
        TestDatabase one = databases.create("漢".repeat(21));
        TestDatabase two = databases.create("millrace");

        assertThat(nameOf(one)).isEqualTo(nameOf(two)).isEqualTo(nameOf(neighbour));
        assertThat(one.schema()).startsWith("漢").isNotEqualTo(two.schema());
        assertThat(two.schema()).startsWith("millrace_");
        assertThat(stateOf(one)).isEqualTo(stateOf(two)).isEqualTo(SchemaState.Status.CURRENT);

        one.close();
        two.close();
        databases.close();

        assertThat(query("SELECT nspname FROM pg_namespace WHERE nspowner = '" + role + "'::regrole"))
                .isEmpty();
        execute("DROP OWNED BY " + role);
        execute("DROP ROLE " + role);
    }

    @Test
    void create_forAnOwner_givesARoleThatMayDoNothingOutsideOfItsSchema() throws SQLException {
        TestDatabases databases =
                databasesOf(neighbour.server().user(), neighbour.server().password(), TestRole.OWNER);
        TestDatabase database = databases.create("My-Jobs");

        assertThat(stateOf(database)).isEqualTo(SchemaState.Status.CURRENT);
        assertThat(query(database.adminDataSource(), "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_'"))
                .containsExactlyInAnyOrder("information_schema", "My-Jobs");
        assertThat(query(database.dataSource(), "SHOW search_path")).containsExactly("\"\"");
        assertThat(query(
                        database.dataSource(),
                        "SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles"
                                + " WHERE rolname = current_user"))
                .containsExactly("f");
        for (String forbidden : List.of(
                "CREATE SCHEMA another",
                "CREATE TABLE here (id int)",
                "CREATE TEMPORARY TABLE here (id int)",
                "CREATE ROLE another",
                "CREATE TABLE pg_catalog.here (id int)")) {
            assertThatThrownBy(() -> execute(database.dataSource(), forbidden))
                    .as(forbidden)
                    .isInstanceOf(SQLException.class);
        }
        assertThat(query("SELECT rolname FROM pg_roles")).contains(database.user());

        database.close();
        databases.close();

        assertThat(query("SELECT rolname FROM pg_roles")).doesNotContain(database.user());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            CREATE TABLE public.stray (id int)                                         | public.stray (relation)
            CREATE TABLE stray (id int)                                                | public.stray (relation)
            CREATE TYPE public.stray AS ENUM ()                                        | public.stray (type)
            CREATE FUNCTION public.stray() RETURNS int LANGUAGE sql AS 'SELECT 1'      | public.stray (function)
            CREATE FUNCTION pg_catalog.stray() RETURNS int LANGUAGE sql AS 'SELECT 1'  | pg_catalog.stray (function)
            CREATE SCHEMA stray                                                        | stray (schema)
            """)
    void close_ofADatabaseWithSomethingOutsideOfItsSchema_namesItAndDropsTheDatabase(String make, String stray)
            throws SQLException {
        TestDatabases databases =
                databasesOf(neighbour.server().user(), neighbour.server().password());
        TestDatabase database = databases.create("millrace");
        String name = nameOf(database);
        execute(database.adminDataSource(), make);

        assertThatThrownBy(database::close)
                .isInstanceOf(DevDatabaseException.class)
                .hasMessageContaining(stray);

        assertThat(allDatabases()).doesNotContain(name);
        databases.close();
    }

    private TestDatabases databasesOf(String user, String password) {
        return databasesOf(user, password, TestRole.SERVER);
    }

    private TestDatabases databasesOf(String user, String password, TestRole role) {
        return new TestDatabases(
                new DevDatabase(
                        GivenServer.connect(neighbour.jdbcUrl(), Optional.of(user), Optional.of(password)),
                        "for a test"),
                role);
    }

    private static SchemaState.Status stateOf(TestDatabase database) {
        return Migrator.of(database.dataSource(), database.schema()).state().status();
    }

    private static String nameOf(TestDatabase database) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            return connection.getCatalog();
        }
    }

    private List<String> allDatabases() throws SQLException {
        return query("SELECT datname FROM pg_database");
    }

    private List<String> query(String sql) throws SQLException {
        return query(neighbour.adminDataSource(), sql);
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

    private void execute(String sql) throws SQLException {
        execute(neighbour.adminDataSource(), sql);
    }

    private static void execute(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
