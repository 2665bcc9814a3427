package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.db.MigrationException.Reason;
import dev.millrace.devdb.DevDatabase;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

@MillraceDatabase
class MigratorFailuresTest {

    private final TestDatabase neighbour;
    private EmptyDatabase database;

    MigratorFailuresTest(TestDatabase neighbour) {
        this.neighbour = neighbour;
    }

    @BeforeEach
    void createDatabase() {
        database = EmptyDatabase.on(neighbour);
    }

    @AfterEach
    void dropDatabase() throws SQLException {
        database.close();
    }

    @Test
    void migrate_ofABrokenMigration_keepsNothingOfItAndNamesIt() throws SQLException {
        Migrator.of(database.dataSource()).migrate();
        List<String> before = database.query("SELECT * FROM millrace.millrace_schema_history");

        MigrationException failure = catchThrowableOfType(MigrationException.class, library("broken")::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.FAILED);
        assertThat(failure.sqlState()).isEqualTo("42P01");
        assertThat(failure).hasMessageContaining("V900__broken.sql").hasMessageContaining("no_such_table");
        assertThat(database.query("SELECT * FROM millrace.millrace_schema_history"))
                .isEqualTo(before);
        assertThat(database.query("SELECT to_regclass('millrace.half_done')")).containsExactly("null");
    }

    @Test
    void migrate_ofAnEmptyDatabaseWithABrokenMigration_leavesItEmpty() throws SQLException {
        assertThatThrownBy(library("broken")::migrate).isInstanceOf(MigrationException.class);

        assertThat(database.objectsOutside("nothing")).containsExactly("public|schema|");
    }

    @Test
    void migrate_whoseConnectionIsLost_leavesNothingHalfDoneAndCanBeRepeated() throws SQLException {
        Migrator.of(database.dataSource(), "millrace", List.of(Migrations.LOCATION), "3")
                .migrate();

        MigrationException failure = catchThrowableOfType(MigrationException.class, library("dying")::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.UNREACHABLE);
        assertThat(failure).hasMessageContaining("try again: nothing is left half done");
        assertThat(database.query("SELECT to_regclass('millrace.half_done')")).containsExactly("null");
        assertThat(Migrator.of(database.dataSource()).migrate().appliedCount()).isZero();
    }

    @Test
    void migrate_thatFails_hasNoClassOfFlywayInItsCauses() {
        MigrationException failure = catchThrowableOfType(MigrationException.class, library("broken")::migrate);

        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            assertThat(cause.getClass().getName()).doesNotContain("flyway");
        }
    }

    @Test
    void migrate_ofMissingMigrations_saysSo() {
        MigrationException failure = catchThrowableOfType(MigrationException.class, library("absent")::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.FAILED);
        assertThat(failure).hasMessageContaining("dev/millrace/db/absent");
    }

    @Test
    void migrate_ofAServerThatIsNotThere_isUnreachable() throws IOException {
        PGSimpleDataSource nowhere = new PGSimpleDataSource();
        nowhere.setServerNames(new String[] {"localhost"});
        nowhere.setPortNumbers(new int[] {unusedPort()});

        MigrationException failure = catchThrowableOfType(MigrationException.class, Migrator.of(nowhere)::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.UNREACHABLE);
        assertThat(failure)
                .hasMessageContaining("Could not connect to the database of schema \"millrace\"")
                .hasMessageContaining("Check that the server runs");
    }

    @Test
    void migrate_ofADatabaseThatIsNotThere_isUnreachable() {
        DevDatabase server = neighbour.server();

        MigrationException failure = catchThrowableOfType(
                MigrationException.class,
                Migrator.of(server.database("not_there").dataSource())::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.UNREACHABLE);
        assertThat(failure.sqlState()).as("the server's, or PgBouncer's").isIn("3D000", "08P01");
    }

    private Migrator library(String folder) {
        return Migrator.of(
                database.dataSource(),
                "millrace",
                List.of(Migrations.LOCATION, "classpath:dev/millrace/db/" + folder),
                null);
    }

    private static int unusedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
