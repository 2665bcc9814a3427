package dev.millrace.devdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An embedded server of its own, because it is stopped here. */
@Timeout(120)
class DevDatabaseTest {

    private static DevDatabase server;

    @BeforeAll
    static void start() {
        server = DevDatabase.start(Provider.EMBEDDED);
    }

    @AfterAll
    static void end() {
        server.close();
    }

    @Test
    void description_ofEmbedded_saysWhatIsUsedAndWhy() {
        assertThat(server.description())
                .matches("Using embedded PostgreSQL \\d+\\.\\d+ on port " + server.port()
                        + " \\(embedded asked for by the program\\)");
        assertThat(server.provider()).isEqualTo(Provider.EMBEDDED);
    }

    @Test
    void embedded_isOfTheVersionThatTheBuildNames() throws SQLException {
        assertThat(query(server.dataSource(), "SHOW server_version"))
                .startsWith(System.getProperty("expected.postgres") + ".");
    }

    @Test
    void embedded_isAsDurableAsProductionAndHasRoomForManyPools() throws SQLException {
        DataSource dataSource = server.dataSource();

        assertThat(query(dataSource, "SHOW fsync")).isEqualTo("on");
        assertThat(query(dataSource, "SHOW synchronous_commit")).isEqualTo("on");
        assertThat(query(dataSource, "SHOW full_page_writes")).isEqualTo("on");
        assertThat(Integer.parseInt(query(dataSource, "SHOW max_connections"))).isGreaterThanOrEqualTo(300);
        assertThat(query(dataSource, "SHOW server_encoding")).isEqualTo("UTF8");
        assertThat(query(dataSource, "SHOW listen_addresses")).isEqualTo("localhost");
    }

    @ParameterizedTest
    @EnumSource(StopMode.class)
    void stopAndStartAgain_keepsWhatWasCommittedAndThePort(StopMode mode) throws SQLException {
        Database database = server.createDatabase("stop_" + mode);
        int port = server.port();
        try (Connection connection = database.dataSource().getConnection()) {
            execute(connection, "CREATE TABLE kept (id integer)");
            execute(connection, "INSERT INTO kept VALUES (1)");
            connection.setAutoCommit(false);
            execute(connection, "INSERT INTO kept VALUES (2)");

            server.stop(mode);

            assertThat(server.isRunning()).isFalse();
            assertThatThrownBy(() -> execute(connection, "SELECT 1")).isInstanceOf(SQLException.class);
        }
        assertThatThrownBy(() -> database.dataSource().getConnection().close())
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08001"));

        server.startAgain();

        assertThat(server.isRunning()).isTrue();
        assertThat(server.port()).isEqualTo(port);
        assertThat(query(database.dataSource(), "SELECT string_agg(id::text, ',') FROM kept"))
                .isEqualTo("1");
    }

    @Test
    void stopAndStartAgain_repeated_doNothing() throws SQLException {
        server.startAgain();
        server.stop(StopMode.FAST);
        server.stop(StopMode.FAST);
        server.startAgain();
        server.startAgain();

        assertThat(query(server.dataSource(), "SELECT 1")).isEqualTo("1");
    }

    @Test
    void close_ofAStoppedServer_endsItForGood() {
        DevDatabase own = DevDatabase.start(Provider.EMBEDDED);
        own.stop(StopMode.IMMEDIATE);
        own.close();

        assertThatCode(own::close).doesNotThrowAnyException();
        assertThat(own.isRunning()).isFalse();
        assertThatIllegalStateException().isThrownBy(own::startAgain).withMessageContaining("has been closed");
    }

    @Test
    void createDatabase_withAnOddName_isThereUntilItIsDropped() throws SQLException {
        Database database = server.createDatabase("My \"odd\" Ünïcode/База?a=b&c%20d");

        assertThat(query(database.dataSource(), "SELECT current_database()")).isEqualTo(database.name());
        assertThat(query(server.database(database.name()).dataSource(), "SELECT 1"))
                .isEqualTo("1");

        try (Connection connection = database.dataSource().getConnection()) {
            database.drop();
            assertThatThrownBy(() -> execute(connection, "SELECT 1")).isInstanceOf(SQLException.class);
        }
        assertThatCode(database::drop).doesNotThrowAnyException();
    }

    @Test
    void createDatabase_withANameThatIsTaken_saysSo() {
        assertThatThrownBy(() -> server.createDatabase("postgres"))
                .isInstanceOf(DevDatabaseException.class)
                .hasMessageContaining("postgres could not be created")
                .hasMessageContaining("already exists");
    }

    @Test
    void givenServer_isUsedAndCannotBeStopped() throws SQLException {
        Database database = server.createDatabase("given");
        try (DevDatabase given = new DevDatabase(
                GivenServer.connect(database.jdbcUrl(), Optional.of("postgres"), Optional.of("any")), "for a test")) {
            assertThat(given.description())
                    .startsWith("Using PostgreSQL ")
                    .endsWith(" at localhost:" + server.port() + ", database given (for a test)");
            assertThat(query(given.dataSource(), "SELECT current_database()")).isEqualTo("given");
            assertThat(given.port()).isEqualTo(server.port());

            ServerNotControllableException refusal =
                    catchThrowableOfType(ServerNotControllableException.class, () -> given.stop(StopMode.FAST));

            assertThat(refusal.provider()).isEqualTo(Provider.URL);
            assertThat(refusal).hasMessageContaining("who runs it, stops it");
        }
        assertThat(query(server.dataSource(), "SELECT 1")).isEqualTo("1");
    }

    @Test
    void givenServer_withUserAndPasswordInItsUrl_usesThem() {
        GivenServer given = GivenServer.connect(
                server.jdbcUrl() + "?user=postgres&password=s3cret&ApplicationName=dev",
                Optional.empty(),
                Optional.empty());

        assertThat(given.coordinates().user()).isEqualTo("postgres");
        assertThat(given.coordinates().password()).isEqualTo("s3cret");
        assertThat(given.coordinates().inDatabase("other").jdbcUrl())
                .contains("/other?")
                .contains("ApplicationName=dev");
        assertThat(given.coordinates()).asString().doesNotContain("s3cret");
    }

    @Test
    void givenServer_thatIsNotThere_saysSoWithoutThePassword() {
        assertThatThrownBy(() -> GivenServer.connect(
                        "jdbc:postgresql://localhost:1/x?password=s3cret", Optional.of("me"), Optional.empty()))
                .isInstanceOf(DevDatabaseException.class)
                .hasMessageContaining("No PostgreSQL could be reached at jdbc:postgresql://localhost:1/x as me")
                .hasMessageNotContaining("s3cret");
    }

    @Test
    void parameters_areTheDefaultsOfAllSessions() throws SQLException {
        ServerParameters parameters = ServerParameters.parse("search_path=nowhere, \"it's\"; work_mem=77kB");
        EmbeddedServer strange = EmbeddedServer.start(Flushing.OFF, parameters);
        try {
            DataSource dataSource = strange.coordinates().dataSource();
            assertThat(query(dataSource, "SHOW search_path")).isEqualTo("nowhere, \"it's\"");
            assertThat(query(dataSource, "SHOW work_mem")).isEqualTo("77kB");
        } finally {
            strange.close();
        }
    }

    @Test
    void parameters_thatTheServerDoesNotKnow_areRefusedWithWhatItSays() {
        ServerParameters parameters = ServerParameters.parse("no_such_thing=1");

        assertThatThrownBy(() -> EmbeddedServer.start(Flushing.OFF, parameters))
                .isInstanceOf(DevDatabaseException.class)
                .hasMessageContaining("unrecognized configuration parameter \"no_such_thing\"");
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String query(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
