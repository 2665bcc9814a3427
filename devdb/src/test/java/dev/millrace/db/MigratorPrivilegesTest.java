package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.db.MigrationException.Reason;
import dev.millrace.devdb.Database;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Roles that may little, and a schema other than public: A17 of the field cases. */
@MillraceDatabase
class MigratorPrivilegesTest {

    private final TestDatabase neighbour;
    private EmptyDatabase database;

    MigratorPrivilegesTest(TestDatabase neighbour) {
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
    void migrate_byARoleThatOnlyOwnsItsSchema_works() throws SQLException {
        String role = database.createRole();
        database.execute("CREATE SCHEMA \"My-Jobs\" AUTHORIZATION " + role);

        MigrationReport report =
                Migrator.of(database.dataSource(role), "My-Jobs").migrate();

        assertThat(report.appliedCount()).isPositive();
        assertThat(Migrator.of(database.dataSource(role), "My-Jobs").state().status())
                .isEqualTo(SchemaState.Status.CURRENT);
    }

    @Test
    void migrate_withPublicDroppedAndASearchPathWithoutIt_createsNothingElsewhere() throws SQLException {
        String role = database.createRole();
        database.execute(
                "DROP SCHEMA public",
                "CREATE SCHEMA elsewhere AUTHORIZATION " + role,
                "CREATE SCHEMA \"My-Jobs\" AUTHORIZATION " + role,
                "ALTER ROLE " + role + " SET search_path = elsewhere, absent");
        List<String> before = database.objectsOutside("My-Jobs");

        Migrator.of(database.dataSource(role), "My-Jobs").migrate();

        assertThat(database.objectsOutside("My-Jobs")).isEqualTo(before).containsExactly("elsewhere|schema|");
    }

    @Test
    void migrate_withAnEmptySearchPath_works() throws SQLException {
        String role = database.createRole();
        database.execute(
                "CREATE SCHEMA millrace AUTHORIZATION " + role, "ALTER ROLE " + role + " SET search_path = ''");

        assertThat(Migrator.of(database.dataSource(role)).migrate().appliedCount())
                .isPositive();
        assertThat(database.objectsOutside("millrace")).containsExactly("public|schema|");
    }

    @Test
    void migrate_byARoleThatMayNotCreateTheSchema_saysWhatToGrant() throws SQLException {
        String role = database.createRole();

        MigrationException failure =
                catchThrowableOfType(MigrationException.class, Migrator.of(database.dataSource(role))::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.MISSING_PRIVILEGE);
        assertThat(failure.sqlState()).isEqualTo("42501");
        assertThat(failure)
                .hasMessageContaining("Could not create schema \"millrace\"")
                .hasMessageContaining("CREATE SCHEMA \"millrace\" AUTHORIZATION \"" + role + "\";")
                .hasMessageContaining("GRANT CREATE ON DATABASE \"" + database.name() + "\" TO \"" + role + "\";");

        database.execute("GRANT CREATE ON DATABASE " + database.name() + " TO " + role);

        assertThat(Migrator.of(database.dataSource(role)).migrate().appliedCount())
                .isPositive();
    }

    @Test
    void migrate_byARoleThatMayNotCreateInTheSchema_saysWhatToGrant() throws SQLException {
        String role = database.createRole();
        database.execute("CREATE SCHEMA millrace");

        MigrationException failure =
                catchThrowableOfType(MigrationException.class, Migrator.of(database.dataSource(role))::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.MISSING_PRIVILEGE);
        assertThat(failure)
                .hasMessageContaining("Could not migrate schema \"millrace\"")
                .hasMessageContaining("GRANT USAGE, CREATE ON SCHEMA \"millrace\" TO \"" + role + "\";");

        database.execute("GRANT USAGE, CREATE ON SCHEMA millrace TO " + role);

        assertThat(Migrator.of(database.dataSource(role)).migrate().appliedCount())
                .isPositive();
    }

    @Test
    void migrate_byARoleThatDoesNotOwnTheTables_saysThatItMust() throws SQLException {
        Migrator.of(database.dataSource()).migrate();
        String role = database.createRole();
        database.execute(
                "GRANT USAGE, CREATE ON SCHEMA millrace TO " + role,
                "GRANT ALL ON ALL TABLES IN SCHEMA millrace TO " + role);

        MigrationException failure = catchThrowableOfType(
                MigrationException.class,
                Migrator.of(database.dataSource(role), "millrace", MigratorLocksTest.WITH_LATER, null)::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.MISSING_PRIVILEGE);
        assertThat(failure)
                .hasMessageContaining("must be owner of table execution_jobs")
                .hasMessageContaining("the role that owns the schema and its tables");
    }

    @Test
    void state_byARoleWithoutPrivileges_saysWhatToGrantAndThenWorks() throws SQLException {
        Migrator.of(database.dataSource()).migrate();
        String role = database.createRole();
        Migrator reader = Migrator.of(database.dataSource(role));

        MigrationException failure = catchThrowableOfType(MigrationException.class, reader::state);

        assertThat(failure.reason()).isEqualTo(Reason.MISSING_PRIVILEGE);
        assertThat(failure)
                .hasMessageContaining("GRANT USAGE ON SCHEMA \"millrace\" TO \"" + role + "\";")
                .hasMessageContaining(
                        "GRANT SELECT ON \"millrace\".millrace_schema_history, \"millrace\".controls TO \"" + role
                                + "\";");

        database.execute(
                "GRANT USAGE ON SCHEMA \"millrace\" TO \"" + role + "\"",
                "GRANT SELECT ON \"millrace\".millrace_schema_history, \"millrace\".controls TO \"" + role + "\"");

        assertThat(reader.state().status()).isEqualTo(SchemaState.Status.CURRENT);
        assertThat(reader.migrate().appliedCount()).isZero();
    }

    @Test
    void state_byARoleThatMayNotReadTheHistory_saysWhatToGrant() throws SQLException {
        Migrator.of(database.dataSource(), "My-Jobs").migrate();
        String role = database.createRole();
        database.execute("GRANT USAGE ON SCHEMA \"My-Jobs\" TO " + role);
        Migrator reader = Migrator.of(database.dataSource(role), "My-Jobs");

        assertThat(catchThrowableOfType(MigrationException.class, reader::state))
                .hasMessageContaining("permission denied for table millrace_schema_history")
                .hasMessageContaining("GRANT SELECT ON \"My-Jobs\".millrace_schema_history, \"My-Jobs\".controls TO \""
                        + role + "\";")
                .extracting(MigrationException::reason)
                .isEqualTo(Reason.MISSING_PRIVILEGE);
    }

    /** A pool reports it as a connection that it could not have in time. */
    @Test
    @DisabledIfEnvironmentVariable(
            named = "MILLRACE_DEVDB_POOLER",
            matches = "pgbouncer",
            disabledReason = "PgBouncer passes on what the server said, but with its own SQLSTATE, 08P01")
    void migrate_byARoleThatMayNotConnect_saysWhatToGrant_alsoThroughAPool() throws SQLException {
        String role = database.createRole();
        database.execute("REVOKE CONNECT ON DATABASE " + database.name() + " FROM PUBLIC");
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource(role));
        config.setInitializationFailTimeout(-1);
        config.setConnectionTimeout(2_000);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            for (DataSource one : List.of(database.dataSource(role), pool)) {
                assertThat(catchThrowableOfType(MigrationException.class, Migrator.of(one)::migrate))
                        .hasMessageContaining("GRANT CONNECT ON DATABASE")
                        .extracting(MigrationException::reason)
                        .isEqualTo(Reason.MISSING_PRIVILEGE);
            }
        }
    }

    @Test
    void migrate_byARoleWithQuotesInItsName_proposesStatementsThatCanBeRun() throws SQLException {
        String role = database.createRole("an \"odd\" ");
        database.execute("CREATE SCHEMA millrace");

        MigrationException failure =
                catchThrowableOfType(MigrationException.class, Migrator.of(database.dataSource(role))::migrate);

        String message = failure.getMessage();
        database.execute(message.substring(message.indexOf("GRANT USAGE, CREATE")));
        assertThat(Migrator.of(database.dataSource(role)).migrate().appliedCount())
                .isPositive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"LATIN1", "SQL_ASCII"})
    void migrate_ofADatabaseThatCanNotKeepEveryCharacter_isRefused(String encoding) throws SQLException {
        String name = database.name() + "_" + encoding.toLowerCase(Locale.ROOT);
        database.execute("CREATE DATABASE " + name + " ENCODING '" + encoding
                + "' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
        Database other = neighbour.server().database(name);
        try {
            Migrator migrator = Migrator.of(other.dataSource());
            for (ThrowingCallable call : List.<ThrowingCallable>of(migrator::migrate, migrator::state)) {
                assertThat(catchThrowableOfType(MigrationException.class, call))
                        .hasMessageContaining("Database \"" + name + "\" has the encoding " + encoding)
                        .hasMessageContaining("ENCODING 'UTF8'")
                        .extracting(MigrationException::reason)
                        .isEqualTo(Reason.NOT_UTF8);
            }
        } finally {
            other.drop();
        }
    }

    @Test
    void migrate_whereSessionsOnlyRead_saysSo() throws SQLException {
        String role = database.createRole();
        database.execute(
                "CREATE SCHEMA millrace AUTHORIZATION " + role,
                "ALTER ROLE " + role + " SET default_transaction_read_only = on");

        MigrationException failure =
                catchThrowableOfType(MigrationException.class, Migrator.of(database.dataSource(role))::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.READ_ONLY);
        assertThat(failure).hasMessageContaining("Connect to the primary");
        assertThat(Migrator.of(database.dataSource(role)).state().status()).isEqualTo(SchemaState.Status.MISSING);
    }
}
