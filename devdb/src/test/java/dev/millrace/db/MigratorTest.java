package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.db.MigrationException.Reason;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@MillraceDatabase
class MigratorTest {

    static final List<String> TABLES = List.of(
            "controls",
            "execution_job_log_entries",
            "execution_job_log_event_identities",
            "execution_job_log_streams",
            "execution_jobs",
            "leases",
            "millrace_schema_history",
            "result_packages");

    private final TestDatabase neighbour;
    private EmptyDatabase database;

    MigratorTest(TestDatabase neighbour) {
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
    void migrate_ofEmptyDatabase_createsTheSchemaAndReportsIt() throws SQLException {
        MigrationReport report = Migrator.of(database.dataSource()).migrate();

        assertThat(report).isEqualTo(new MigrationReport("millrace", null, latestVersion(), latestCount()));
        assertThat(tablesOf("millrace")).containsAll(TABLES);
        assertThat(database.objectsOutside("millrace")).containsExactly("public|schema|");
    }

    @Test
    void migrate_ofCurrentSchema_changesNothing() throws SQLException {
        Migrator migrator = Migrator.of(database.dataSource());
        migrator.migrate();
        List<String> historyBefore = database.query("SELECT * FROM millrace.millrace_schema_history");

        MigrationReport report = migrator.migrate();

        assertThat(report).isEqualTo(new MigrationReport("millrace", latestVersion(), latestVersion(), 0));
        assertThat(database.query("SELECT * FROM millrace.millrace_schema_history"))
                .isEqualTo(historyBefore);
    }

    @Test
    void migrate_ofSchemaBehind_appliesWhatIsMissing() throws SQLException {
        olderLibrary("3").migrate();

        SchemaState state = Migrator.of(database.dataSource()).state();
        MigrationReport report = Migrator.of(database.dataSource()).migrate();

        assertThat(state)
                .isEqualTo(new SchemaState(
                        "millrace", SchemaState.Status.BEHIND, "3", latestVersion(), latestCount() - 3));
        assertThat(report).isEqualTo(new MigrationReport("millrace", "3", latestVersion(), latestCount() - 3));
        assertThat(tablesOf("millrace")).containsAll(TABLES);
    }

    @Test
    void state_ofEmptyDatabase_isMissingAndNothingIsWritten() throws SQLException {
        SchemaState state = Migrator.of(database.dataSource()).state();

        assertThat(state)
                .isEqualTo(
                        new SchemaState("millrace", SchemaState.Status.MISSING, null, latestVersion(), latestCount()));
        assertThat(database.objectsOutside("nothing")).containsExactly("public|schema|");
    }

    @Test
    void state_ofMigratedSchema_isCurrent() {
        Migrator.of(database.dataSource()).migrate();

        assertThat(Migrator.of(database.dataSource()).state())
                .isEqualTo(
                        new SchemaState("millrace", SchemaState.Status.CURRENT, latestVersion(), latestVersion(), 0));
    }

    @Test
    void migrate_ofNewerSchemaThatItMayWriteTo_leavesItAsItIs() throws SQLException {
        newerRelease("later", "0.2.0").migrate();
        List<String> before = everythingOf("millrace");
        Migrator older = Migrator.of(database.dataSource());

        SchemaState state = older.state();
        MigrationReport report = older.migrate();

        assertThat(state).isEqualTo(new SchemaState("millrace", SchemaState.Status.NEWER, "901", latestVersion(), 0));
        assertThat(report).isEqualTo(new MigrationReport("millrace", "901", "901", 0));
        assertThat(everythingOf("millrace")).isEqualTo(before);
    }

    @Test
    void migrate_ofNewerSchemaThatItMayNotWriteTo_refusesAndWritesNothing() throws SQLException {
        newerRelease("contract", "99.0.0").migrate();
        List<String> before = everythingOf("millrace");
        Migrator older = Migrator.of(database.dataSource());

        SchemaState state = older.state();
        MigrationException refusal = catchThrowableOfType(MigrationException.class, older::migrate);

        assertThat(state.status()).isEqualTo(SchemaState.Status.TOO_NEW);
        assertThat(state.version()).isEqualTo("950");
        assertThat(refusal.reason()).isEqualTo(Reason.SCHEMA_TOO_NEW);
        assertThat(refusal)
                .hasMessageContaining("\"millrace\" has version 950")
                .hasMessageContaining("written by library version 99.0.0 and newer")
                .hasMessageContaining("this is " + Release.current().version())
                .hasMessageContaining("up to " + latestVersion())
                .hasMessageContaining("Nothing more is written. Upgrade the library of this process to 99.0.0");
        assertThat(everythingOf("millrace")).isEqualTo(before);
    }

    /** What a release may do can be taken from it without a migration, and before it has applied its own. */
    @Test
    void migrate_ofSchemaBehindThatItMayNotWriteTo_refusesAndWritesNothing() throws SQLException {
        Migrator.of(database.dataSource()).migrate();
        setOldestWriter("'99'");
        List<String> before = everythingOf("millrace");

        MigrationException refusal =
                catchThrowableOfType(MigrationException.class, newerRelease("later", "0.2.0")::migrate);

        assertThat(refusal.reason()).isEqualTo(Reason.SCHEMA_TOO_NEW);
        assertThat(everythingOf("millrace")).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"''", "'soon'", "'1.0-SNAPSHOT'"})
    void migrate_ofSchemaThatDoesNotSayWhoMayWrite_refusesAndSaysWhere(String value) throws SQLException {
        Migrator.of(database.dataSource()).migrate();
        setOldestWriter(value);

        MigrationException refusal =
                catchThrowableOfType(MigrationException.class, Migrator.of(database.dataSource())::migrate);

        assertThat(refusal.reason()).isEqualTo(Reason.FAILED);
        assertThat(refusal)
                .hasMessageContaining("\"millrace\" doesn't say which releases may write to it")
                .hasMessageContaining("table controls, row \"schema.oldest-writer\"")
                .hasMessageContaining("is no version");
    }

    /** The store goes by the table: to call that migrated which every node refuses would lead nowhere. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    UPDATE millrace.controls SET value = NULL WHERE name = 'schema.oldest-writer' | has no value for "schema.oldest-writer"
                    DELETE FROM millrace.controls WHERE name = 'schema.version' | has no value for "schema.version"
                    UPDATE millrace.controls SET value = 4 WHERE name = 'schema.version' | its history says version 5, but its table controls, row "schema.version", says 4
                    DROP TABLE millrace.controls | its history says version 5, but its table controls is not there
                    """)
    void migrate_ofSchemaThatTheStoreWouldRefuse_refusesAndSaysWhy(String mishap, String why) throws SQLException {
        Migrator.of(database.dataSource()).migrate();
        database.execute(mishap);

        MigrationException refusal =
                catchThrowableOfType(MigrationException.class, Migrator.of(database.dataSource())::migrate);

        assertThat(refusal.reason()).isEqualTo(Reason.FAILED);
        assertThat(refusal).hasMessageContaining(why).hasMessageContaining("docs/upgrades.md");
    }

    @Test
    void migrate_ofSchemaWithAnotherChecksum_refusesAndNamesIt() throws SQLException {
        Migrator.of(database.dataSource()).migrate();
        database.execute("UPDATE millrace.millrace_schema_history SET checksum = 4711 WHERE version = '2'");

        MigrationException refusal =
                catchThrowableOfType(MigrationException.class, Migrator.of(database.dataSource())::migrate);

        assertThat(refusal.reason()).isEqualTo(Reason.HISTORY_DIFFERS);
        assertThat(refusal).hasMessageContaining("version 2 was applied with another checksum, 4711");
        assertThat(catchThrowableOfType(MigrationException.class, Migrator.of(database.dataSource())::state)
                        .reason())
                .isEqualTo(Reason.HISTORY_DIFFERS);
    }

    @Test
    void migrate_ofSchemaWithAGapInItsHistory_refuses() throws SQLException {
        Migrator.of(database.dataSource()).migrate();
        database.execute("DELETE FROM millrace.millrace_schema_history WHERE version = '2'");

        MigrationException refusal =
                catchThrowableOfType(MigrationException.class, Migrator.of(database.dataSource())::migrate);

        assertThat(refusal.reason()).isEqualTo(Reason.HISTORY_DIFFERS);
        assertThat(refusal).hasMessageContaining("version 2");
    }

    @Test
    void migrate_intoASchemaWithTablesOfOthers_leavesThemAlone() throws SQLException {
        database.execute("CREATE TABLE public.orders (id integer)", "INSERT INTO public.orders VALUES (7)");

        MigrationReport report = Migrator.of(database.dataSource(), "public").migrate();

        assertThat(report.versionBefore()).isNull();
        assertThat(report.versionAfter()).isEqualTo(latestVersion());
        assertThat(database.query("SELECT * FROM public.orders")).containsExactly("7");
        assertThat(Migrator.of(database.dataSource(), "public").state().status())
                .isEqualTo(SchemaState.Status.CURRENT);
    }

    @Test
    void migrate_intoTwoSchemasOfOneDatabase_keepsThemApart() throws SQLException {
        Migrator.of(database.dataSource(), "jobs").migrate();
        Migrator.of(database.dataSource(), "Jobs").migrate();

        assertThat(tablesOf("jobs")).containsAll(TABLES).isEqualTo(tablesOf("Jobs"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"My-Jobs", "Odd Schema", "it's; -- $$ {x} \\ %s", "naïve 漢字 🚚", "select", "a,b"})
    void migrate_intoASchemaWithAnOddName_takesItAsItIs(String schema) throws SQLException {
        MigrationReport report = Migrator.of(database.dataSource(), schema).migrate();

        assertThat(report.schema()).isEqualTo(schema);
        assertThat(tablesOf(schema)).containsAll(TABLES);
        assertThat(Migrator.of(database.dataSource(), schema).migrate().appliedCount())
                .isZero();
    }

    private Migrator olderLibrary(String lastVersion) {
        return Migrator.of(database.dataSource(), "millrace", List.of(Migrations.LOCATION), lastVersion);
    }

    /** A release that has these migrations as well, of the tests' resources. */
    private Migrator newerRelease(String folder, String version) {
        return Migrator.of(
                database.dataSource(),
                "millrace",
                List.of(Migrations.LOCATION, "classpath:dev/millrace/db/" + folder),
                null,
                new Release(Version.of(version), Version.of("5")));
    }

    private void setOldestWriter(String value) throws SQLException {
        database.execute("UPDATE millrace.controls SET value = " + value + " WHERE name = 'schema.oldest-writer'");
    }

    /** Its columns, its history, and what it says of itself. */
    private List<String> everythingOf(String schema) throws SQLException {
        List<String> all = database.query("SELECT table_name, column_name, data_type FROM information_schema.columns"
                + " WHERE table_schema = '" + schema + "' ORDER BY 1, 2");
        all.addAll(database.query("SELECT * FROM " + schema + ".millrace_schema_history ORDER BY installed_rank"));
        all.addAll(database.query("SELECT * FROM " + schema + ".controls ORDER BY name"));
        return all;
    }

    private List<String> tablesOf(String schema) throws SQLException {
        return database.query("SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
                + " WHERE c.relkind = 'r' AND n.nspname = $name$" + schema + "$name$ ORDER BY 1");
    }

    private String latestVersion() {
        return Migrator.of(neighbour.unpooledDataSource(), neighbour.schema())
                .state()
                .libraryVersion();
    }

    private int latestCount() {
        return Migrator.of(neighbour.unpooledDataSource(), "absent").state().pendingCount();
    }
}
