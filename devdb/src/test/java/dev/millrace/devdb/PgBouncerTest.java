package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.db.Migrator;
import dev.millrace.db.SchemaState;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where PgBouncer is installed: an embedded server behind one. */
@Timeout(120)
class PgBouncerTest {

    private static Server direct;
    private static DevDatabase server;

    @BeforeAll
    static void start() {
        assumeTrue(PgBouncer.program().isPresent(), "PgBouncer is not installed");
        direct = EmbeddedServer.start(Flushing.OFF, ServerParameters.NONE);
        server = new DevDatabase(Pooler.PGBOUNCER.inFrontOf(direct), "for a test");
    }

    @AfterAll
    static void end() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void transactionsOfOneConnection_areInDifferentSessionsOfTheServer() throws SQLException {
        try (Connection connection = server.dataSource().getConnection()) {
            Set<String> sessions = new HashSet<>();
            Awaitility.await()
                    .until(() -> sessions.add(query(connection, "SELECT pg_backend_pid()")) && sessions.size() > 1);
        }
    }

    @Test
    void setting_thatOneClientLeavesInItsSession_isFoundByAnother() throws SQLException {
        Database database = server.createDatabase("leaking");
        try (Connection careless = database.dataSource().getConnection();
                Connection other = database.dataSource().getConnection()) {
            execute(careless, "SET work_mem = '77kB'");

            Awaitility.await().until(() -> query(other, "SHOW work_mem").equals("77kB"));
        }
    }

    @Test
    void transaction_staysInOneSession() throws SQLException {
        try (Connection connection = server.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            String session = query(connection, "SELECT pg_backend_pid()");

            for (int i = 0; i < 10; i++) {
                assertThat(query(connection, "SELECT pg_backend_pid()")).isEqualTo(session);
            }
        }
    }

    @Test
    void role_thatIsNewOnTheServer_isLetIn() throws SQLException {
        Database database = server.createDatabase("with_a_role");
        try (Connection connection = server.dataSource().getConnection()) {
            execute(connection, "CREATE ROLE newcomer LOGIN");
        }

        assertThat(query(database.dataSource("newcomer", "any"), "SELECT current_user"))
                .isEqualTo("newcomer");
    }

    @Test
    void databases_areCopiedAndDroppedWhileClientsAreConnected() throws SQLException {
        TestDatabases databases = new TestDatabases(server, TestRole.SERVER);
        TestDatabase one = databases.create("millrace");
        try (Connection connection = one.dataSource().getConnection()) {
            assertThat(query(connection, "SHOW server_version")).isNotEmpty();
            TestDatabase two = databases.create("millrace");

            assertThat(Migrator.of(two.dataSource()).state().status()).isEqualTo(SchemaState.Status.CURRENT);

            two.close();
        }
        one.close();
        try (Connection connection = server.dataSource().getConnection()) {
            assertThat(query(connection, "SELECT count(*) FROM pg_database WHERE datname LIKE 'millrace_test_%'"))
                    .as("what is left is the template")
                    .isEqualTo("1");
        }
    }

    @Test
    void startAgain_afterAStop_returnsWhenClientsAreLetIn() throws SQLException {
        server.stop(StopMode.FAST);
        assertThatThrownBy(() -> query(server.dataSource(), "SELECT 1"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).startsWith("08"));

        server.startAgain();

        assertThat(query(server.dataSource(), "SELECT 1")).isEqualTo("1");
    }

    @Test
    void givenServer_isReachedWithItsUsersPassword() throws SQLException {
        GivenServer given =
                GivenServer.connect(direct.coordinates().jdbcUrl(), Optional.of("postgres"), Optional.of("s3 \"cret"));
        try (PgBouncer pooler = PgBouncer.start(given)) {
            assertThat(query(pooler.coordinates().dataSource(), "SELECT 1")).isEqualTo("1");
            assertThatThrownBy(() -> pooler.coordinates()
                            .as("postgres", "wrong")
                            .dataSource()
                            .getConnection())
                    .hasMessageContaining("authentication failed");
        }
    }

    @Test
    void close_endsItAndRemovesItsFolder() {
        PgBouncer pooler = PgBouncer.start(direct);
        DataSource dataSource = pooler.coordinates().dataSource();

        pooler.close();
        pooler.close();

        assertThatThrownBy(dataSource::getConnection)
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08001"));
        assertThat(pooler.folder()).doesNotExist();
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String query(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return query(connection, sql);
        }
    }

    private static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
