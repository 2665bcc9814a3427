package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.Provider;
import dev.millrace.devdb.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jooq.Constants;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** The tests run on the versions and settings that the build names, so that a run on others proves what it says. */
@MillraceDatabase
class VersionsTest {

    @Test
    void jooq_isTheOneThatTheBuildNames() throws ReflectiveOperationException {
        // By reflection: the compiler copies the constant's value from the jOOQ that it sees.
        Object running = Constants.class.getField("FULL_VERSION").get(null);

        assertThat(running).isEqualTo(System.getProperty("expected.jooq"));
    }

    @Test
    void embeddedServer_isOfTheVersionThatTheBuildNames(TestDatabase database) throws SQLException {
        assumeThat(database.server().provider())
                .as("a server of somebody else has the version that it has")
                .isEqualTo(Provider.EMBEDDED);
        try (Connection connection = database.dataSource().getConnection()) {
            assertThat(connection.getMetaData().getDatabaseMajorVersion())
                    .isEqualTo(Integer.valueOf(System.getProperty("expected.postgres")));
        }
    }

    @Test
    @EnabledIfEnvironmentVariable(named = "MILLRACE_DEVDB_SCHEMA", matches = ".+")
    void schema_isTheOneThatIsAskedFor(TestDatabase database) {
        assertThat(database.schema()).isEqualTo(System.getenv("MILLRACE_DEVDB_SCHEMA"));
    }

    @Test
    @EnabledIfEnvironmentVariable(named = "MILLRACE_DEVDB_ROLE", matches = "owner")
    void role_ownsItsSchemaAndIsNoSuperuser(TestDatabase database) throws SQLException {
        assertThat(value(database, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"))
                .isEqualTo("f");
        assertThat(value(database, "SELECT count(*) FROM pg_namespace WHERE nspname = 'public'"))
                .isEqualTo("0");
    }

    @Test
    @EnabledIfEnvironmentVariable(named = "MILLRACE_DEVDB_PARAMETERS", matches = "(?s).*IntervalStyle=sql_standard.*")
    void sessions_beginWithTheSettingsThatAreAskedFor(TestDatabase database) throws SQLException {
        assertThat(value(database, "SHOW IntervalStyle")).isEqualTo("sql_standard");
        assertThat(value(database, "SHOW search_path")).isEqualTo("nowhere");
    }

    private static String value(TestDatabase database, String query) throws SQLException {
        try (Connection connection = database.unpooledDataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }
}
