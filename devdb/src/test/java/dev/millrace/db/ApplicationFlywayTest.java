package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.SQLException;
import java.util.List;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An application that uses Flyway itself, in the same database. */
@MillraceDatabase
class ApplicationFlywayTest {

    private static final String HISTORY = "SELECT * FROM public.flyway_schema_history ORDER BY installed_rank";

    private final TestDatabase neighbour;
    private EmptyDatabase database;

    ApplicationFlywayTest(TestDatabase neighbour) {
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
    void migrate_besideAnApplicationsHistory_leavesItAlone() throws SQLException {
        application().load().migrate();
        List<String> before = database.query(HISTORY);
        assertThat(before).isNotEmpty();

        Migrator.of(database.dataSource()).migrate();

        assertThat(database.query(HISTORY)).isEqualTo(before);
        assertThat(application().load().validateWithResult().validationSuccessful)
                .isTrue();
        assertThat(application().load().migrate().migrationsExecuted).isZero();
    }

    @Test
    void migrate_besideAnApplicationWithABaseline_leavesItAlone() throws SQLException {
        database.execute("CREATE TABLE public.orders (id integer)");
        application().baselineVersion("7").load().baseline();
        List<String> before = database.query(HISTORY);

        Migrator.of(database.dataSource(), "public").migrate();

        assertThat(database.query(HISTORY)).isEqualTo(before);
        assertThat(Migrator.of(database.dataSource(), "public").state().status())
                .isEqualTo(SchemaState.Status.CURRENT);
    }

    @Test
    void applicationsMigration_afterOurs_isNotDisturbed() throws SQLException {
        Migrator.of(database.dataSource()).migrate();

        assertThat(application().load().migrate().migrationsExecuted).isEqualTo(1);
        assertThat(Migrator.of(database.dataSource()).state().status()).isEqualTo(SchemaState.Status.CURRENT);
    }

    /** The build sets the variables of an application's Flyway for all tests of this module. */
    @Test
    void migrate_underVariablesOfAnApplicationsFlyway_doesNotHeedThem() throws SQLException {
        assertThat(System.getenv()).containsKeys("FLYWAY_SCHEMAS", "FLYWAY_TABLE", "FLYWAY_LOCATIONS", "FLYWAY_TARGET");

        Migrator.of(database.dataSource()).migrate();

        assertThat(database.objectsOutside("millrace")).containsExactly("public|schema|");
        assertThat(Migrator.of(database.dataSource()).state().status()).isEqualTo(SchemaState.Status.CURRENT);
    }

    private FluentConfiguration application() {
        return Flyway.configure(getClass().getClassLoader())
                .dataSource(database.dataSource())
                .defaultSchema("public")
                .locations("classpath:application/migration");
    }
}
