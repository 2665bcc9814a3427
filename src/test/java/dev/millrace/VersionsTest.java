package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.Provider;
import dev.millrace.devdb.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import org.jooq.Constants;
import org.junit.jupiter.api.Test;

/** The tests run on the versions that the build names, so that a run on others proves what it says. */
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
}
