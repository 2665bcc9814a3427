package dev.millrace.roles;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.Millrace;
import dev.millrace.db.MigrationException;
import dev.millrace.db.Migrator;
import dev.millrace.db.OlderLibrary;
import dev.millrace.db.SchemaState;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.recovery.RetentionReport;
import dev.millrace.recovery.RetentionSettings;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Controls;
import dev.millrace.store.LogEntry;
import dev.millrace.store.MissingPrivilegeException;
import dev.millrace.store.Retention;
import dev.millrace.store.postgres.Calls;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;

/** The roles of {@code docs/roles.md}, made by its statements: each can do its whole work, and nothing else. */
@Timeout(120)
@TestInstance(Lifecycle.PER_CLASS)
abstract class RolesCases {
    private static final String HISTORY = "millrace_schema_history";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final JobType<Task> TASK = JobType.of("task", Task.class);

    private static final JobType<Task> ABANDONED = JobType.of("abandoned", Task.class);

    private record Task(String name) {}

    private final String schema;
    private final String quoted;
    private final TestDatabase neighbour;
    private final Site site;

    RolesCases(String schema, TestDatabase neighbour) {
        this.schema = schema;
        this.quoted = RoleDatabase.quoted(schema);
        this.neighbour = neighbour;
        this.site = Site.complete(neighbour, schema);
    }

    @AfterAll
    void drop() {
        site.close();
    }

    @Test
    void document_hasNoStatementsBesideThoseThatAreRunHere() {
        assertThat(site.document.blocks()).isEqualTo(6);
    }

    @Test
    void everyRole_canReadAndWriteWhatItMay_andNothingElse() {
        Set<String> tables = Set.copyOf(RoleDatabase.query(
                site.database.admin(), "SELECT tablename FROM pg_tables WHERE schemaname = '" + schema + "'"));
        assertThat(tables).contains(HISTORY, "execution_jobs", "controls").hasSizeGreaterThanOrEqualTo(8);
        for (String table : tables) {
            boolean history = table.equals(HISTORY);
            assertThat(deeds(site.worker, table))
                    .as("worker on %s", table)
                    .isEqualTo(history ? "SELECT" : "SELECT INSERT UPDATE DELETE");
            assertThat(deeds(site.submitter, table))
                    .as("submitter on %s", table)
                    .isEqualTo(
                            switch (table) {
                                case "execution_jobs" -> "SELECT INSERT";
                                case "controls" -> "SELECT";
                                default -> "";
                            });
            assertThat(deeds(site.reader, table)).as("reader on %s", table).isEqualTo("SELECT");
            assertThat(deeds(site.nobody, table)).as("nobody on %s", table).isEmpty();
            assertThat(deeds(site.migrator, table))
                    .as("migrator on %s", table)
                    .isEqualTo("SELECT INSERT UPDATE DELETE TRUNCATE ALTER INDEX COMMENT DROP");
        }
    }

    /** Those that are not refused for want of a privilege; whatever they do is undone. */
    private String deeds(DataSource role, String table) {
        String name = quoted + "." + table;
        Map<String, String> deeds = new LinkedHashMap<>();
        String column = RoleDatabase.query(
                        role,
                        "SELECT attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid"
                                + " JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE a.attnum = 1"
                                + " AND n.nspname = '" + schema + "' AND c.relname = '" + table + "'")
                .get(0);
        deeds.put("SELECT", "SELECT FROM " + name);
        deeds.put("INSERT", "INSERT INTO " + name + " DEFAULT VALUES");
        deeds.put("UPDATE", "UPDATE " + name + " SET " + column + " = " + column);
        deeds.put("DELETE", "DELETE FROM " + name);
        deeds.put("TRUNCATE", "TRUNCATE " + name + " CASCADE");
        deeds.put("ALTER", "ALTER TABLE " + name + " ADD mine int");
        deeds.put("INDEX", "CREATE INDEX ON " + name + " ((1))");
        deeds.put("COMMENT", "COMMENT ON TABLE " + name + " IS 'mine'");
        deeds.put("DROP", "DROP TABLE " + name + " CASCADE");
        deeds.values().removeIf(sql -> RoleDatabase.refusal(role, sql).equals("42501"));
        return String.join(" ", deeds.keySet());
    }

    @Test
    void noRole_canMakeAnything_butTheMigratorInItsSchema() {
        for (DataSource role : List.of(site.worker, site.submitter, site.reader, site.nobody, site.migrator)) {
            for (String inTheSchema : List.of(
                    "CREATE TABLE " + quoted + ".mine (id int)",
                    "CREATE VIEW " + quoted + ".mine AS SELECT 1",
                    "CREATE SEQUENCE " + quoted + ".mine",
                    "CREATE TYPE " + quoted + ".mine AS ENUM ()",
                    "CREATE FUNCTION " + quoted + ".mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                    "DROP SCHEMA " + quoted + " CASCADE")) {
                assertThat(RoleDatabase.refusal(role, inTheSchema))
                        .as(inTheSchema)
                        .isEqualTo(role == site.migrator ? "" : "42501");
            }
            for (String elsewhere : List.of(
                    "CREATE SCHEMA mine",
                    "CREATE TABLE public.mine (id int)",
                    "CREATE TEMPORARY TABLE mine (id int)",
                    "CREATE ROLE mine",
                    "CREATE DATABASE mine")) {
                assertThat(RoleDatabase.refusal(role, elsewhere)).as(elsewhere).isNotEmpty();
            }
        }
    }

    /** PostgreSQL only warns who grants what it may not. */
    @Test
    void noRole_butTheMigrator_canGrantWhatItHas() {
        for (DataSource role : List.of(site.worker, site.submitter, site.reader)) {
            RoleDatabase.execute(
                    role,
                    "GRANT USAGE ON SCHEMA " + quoted + " TO PUBLIC",
                    "GRANT SELECT ON " + quoted + ".execution_jobs TO PUBLIC");
        }
        assertThat(RoleDatabase.refusal(site.nobody, "SELECT FROM " + quoted + ".execution_jobs"))
                .isEqualTo("42501");
    }

    @Test
    void migrator_upgradesWhatItHasInstalled() {
        try (Site empty = Site.empty(neighbour, schema)) {
            OlderLibrary.oneVersionBehind(empty.migrator, schema).migrate();
            assertThat(Migrator.of(empty.migrator, schema).state().status()).isEqualTo(SchemaState.Status.BEHIND);

            assertThat(Migrator.of(empty.migrator, schema).migrate().appliedCount())
                    .isEqualTo(1);

            empty.grant();
            assertThat(PostgresStore.on(empty.worker, schema).jobs().get("x")).isEmpty();
        }
    }

    @Test
    void tableOfALaterMigration_isTheWorkersToWriteAndTheReadersToRead() {
        try (Site other = Site.complete(neighbour, schema)) {
            RoleDatabase.execute(other.migrator, "CREATE TABLE " + quoted + ".later (id int)");

            assertThat(deeds(other.worker, "later")).isEqualTo("SELECT INSERT UPDATE DELETE");
            assertThat(deeds(other.reader, "later")).isEqualTo("SELECT");
            assertThat(deeds(other.submitter, "later")).isEmpty();
            assertThat(deeds(other.nobody, "later")).isEmpty();
        }
    }

    @Test
    void worker_canMakeEveryCall() {
        PostgresStore store = PostgresStore.on(site.worker, schema);

        Calls.of(store).values().forEach(call -> call.accept(store));
    }

    @Test
    void worker_runsWhatASubmitterSubmits_andRecoversWhatIsAbandoned() throws InterruptedException {
        Millrace submitting = Millrace.on(site.submitter).withSchema(schema);
        HeartbeatPolicy brisk = new HeartbeatPolicy(Duration.ofMillis(200), Duration.ofSeconds(1));
        Job abandoned = submitting.submit(ABANDONED, new Task("abandoned"), heartbeat(brisk));
        ClaimRequest.Source source = new ClaimRequest.Source("managed", "default");
        assertThat(PostgresStore.on(site.worker, schema)
                        .work()
                        .claim(ClaimRequest.of("dead", List.of(source), List.of("abandoned"), 1)))
                .hasSize(1);
        Job job = submitting.submit(TASK, new Task("usual"));

        try (var running = Millrace.on(site.worker)
                .withSchema(schema)
                .worker()
                .handle(TASK, (task, context) -> context.progress(50.0, task.name()))
                .pollInterval(Duration.ofMillis(50))
                .recovery(RecoverySettings.DEFAULT.withJobSweepInterval(Duration.ofMillis(100)))
                .start()) {
            assertThat(submitting.await(job, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            PostgresStore store = PostgresStore.on(site.database.admin(), schema);
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (store.jobs()
                    .get(abandoned.id())
                    .orElseThrow()
                    .outcome()
                    .history()
                    .isEmpty()) {
                assertThat(System.nanoTime()).as("recovered in time").isLessThan(deadline);
                Thread.sleep(20);
            }
        }
    }

    @Test
    void worker_deletesWhatHasOutlivedItsRetention() {
        PostgresStore store = PostgresStore.on(site.worker, schema);
        store.logs()
                .append("gone", List.of(LogEntry.of(1, LogEntry.Level.INFO, "x").withEventId("e")));
        store.logs().setRetention("gone", Duration.ZERO);
        store.results().put("gone", JsonText.of("1"), Duration.ZERO);

        RetentionReport report = Millrace.on(site.worker)
                .withSchema(schema)
                .retentionSweeper(RetentionSettings.DEFAULT)
                .tick();

        assertThat(report.failure()).isNull();
        assertThat(report.logs()).isPositive();
        assertThat(report.results()).isPositive();
    }

    @Test
    void worker_callingMigrate_comparesOnly() {
        try (Site other = Site.complete(neighbour, schema)) {
            assertThat(Migrator.of(other.worker, schema).migrate().appliedCount())
                    .isZero();

            RoleDatabase.execute(
                    other.migrator,
                    "DELETE FROM " + quoted + "." + HISTORY + " WHERE installed_rank ="
                            + " (SELECT max(installed_rank) FROM " + quoted + "." + HISTORY + ")");
            List<String> history = RoleDatabase.query(other.migrator, "SELECT version FROM " + quoted + "." + HISTORY);

            assertThat(catchThrowableOfType(MigrationException.class, Migrator.of(other.worker, schema)::migrate))
                    .hasMessageContaining("docs/roles.md")
                    .extracting(MigrationException::reason)
                    .isEqualTo(MigrationException.Reason.MISSING_PRIVILEGE);
            assertThat(RoleDatabase.query(other.migrator, "SELECT version FROM " + quoted + "." + HISTORY))
                    .isEqualTo(history);
        }
    }

    @Test
    void submitter_submitsReadsAndWaits_andCanNotCancel() {
        Millrace millrace = Millrace.on(site.submitter).withSchema(schema);
        Job job = millrace.submit(TASK, new Task("a"), id("a"));

        assertThat(millrace.submit(TASK, new Task("a"), id("a"))).isEqualTo(job);
        assertThat(millrace.get("a")).isPresent();
        assertThatThrownBy(() -> millrace.cancel("a", null, null)).isInstanceOf(MissingPrivilegeException.class);
    }

    @Test
    void onlyAWorker_stopsClaimsAndLetsThemGoOn_andTheOthersSeeIt() {
        try (Site other = Site.complete(neighbour, schema)) {
            Controls worker = PostgresStore.on(other.worker, schema).controls();
            for (DataSource role : List.of(other.submitter, other.reader)) {
                Controls controls = PostgresStore.on(role, schema).controls();
                assertThatThrownBy(() -> controls.hold("ops", null)).isInstanceOf(MissingPrivilegeException.class);
                assertThat(controls.held()).isEmpty();
                worker.hold("ops", null);
                assertThat(controls.held()).isPresent();
                assertThatThrownBy(() -> controls.release("ops")).isInstanceOf(MissingPrivilegeException.class);
                assertThat(worker.release("ops")).isPresent();
            }
        }
    }

    @Test
    void application_submitsInItsOwnTransaction_asAMemberOfTheSubmitters() throws SQLException {
        String shop = site.database.createRole("shop");
        Millrace millrace = Millrace.on(site.database.as(shop)).withSchema(schema);
        assertThatThrownBy(() -> millrace.submit(TASK, new Task("a"))).isInstanceOf(MissingPrivilegeException.class);

        site.database.execute(site.document.application());

        try (Connection connection = site.database.as(shop).getConnection()) {
            connection.setAutoCommit(false);
            Job job = millrace.in(connection).submit(TASK, new Task("a"));
            connection.commit();
            assertThat(millrace.get(job.id())).isPresent();
        }
    }

    @Test
    void reader_readsJobs_andCanNotChangeThem() {
        Job job = Millrace.on(site.submitter).withSchema(schema).submit(TASK, new Task("a"));
        PostgresStore store = PostgresStore.on(site.reader, schema);

        assertThat(store.jobs().get(job.id())).isPresent();
        assertThat(store.queue().depth("managed", "default")).isPositive();
        assertThat(Migrator.of(site.reader, schema).state().status()).isEqualTo(SchemaState.Status.CURRENT);
        assertThatThrownBy(() -> store.jobs().cancel(job.id(), null, null))
                .isInstanceOf(MissingPrivilegeException.class);
        assertThat(store.logs().tail(job.id(), 10).lines()).isEmpty();
        assertThat(store.results().get(job.id())).isEmpty();
        for (Retention.Subject subject : Retention.Subject.values()) {
            assertThatThrownBy(() -> store.retention().sweep(subject, 10))
                    .as("%s", subject)
                    .isInstanceOf(MissingPrivilegeException.class)
                    .hasMessageContaining("DELETE");
        }
        assertThat(RoleDatabase.refusal(site.reader, "SELECT FROM " + quoted + ".execution_jobs FOR UPDATE"))
                .isEqualTo("42501");
    }

    @Test
    void readerOfColumns_seesWhereJobsStand_andNotWhatIsInThem() {
        try (Site other = Site.complete(neighbour, schema)) {
            RoleDatabase.execute(other.migrator, other.document.columnsForReaders());
            RoleDatabase.execute(other.migrator, "CREATE TABLE " + quoted + ".later (id int)");
            Millrace.on(other.submitter).withSchema(schema).submit(TASK, new Task("a"));

            assertThat(RoleDatabase.query(
                            other.reader,
                            "SELECT status FROM " + quoted + ".execution_jobs ORDER BY created_at, operation_id"))
                    .containsExactly("Queued");
            assertThat(RoleDatabase.query(other.reader, "SELECT count(*) FROM " + quoted + ".execution_jobs"))
                    .containsExactly("1");
            Set<String> hidden = new TreeSet<>(RoleDatabase.query(
                    other.database.admin(),
                    "SELECT attname FROM pg_attribute WHERE attrelid = '" + quoted + ".execution_jobs'::regclass"
                            + " AND attnum > 0 AND NOT has_column_privilege('millrace_reader" + other.database.suffix()
                            + "', attrelid, attnum, 'SELECT')"));
            assertThat(hidden).containsExactly("claim_token", "lookup_keys", "record");
            for (String secret : List.of("execution_job_log_entries", "result_packages", "later")) {
                assertThat(deeds(other.reader, secret)).as(secret).isEmpty();
            }
        }
    }

    @Test
    void administratorWhoIsNoSuperuser_givesTheSchemaOnceAMember() {
        try (RoleDatabase managed = RoleDatabase.on(neighbour)) {
            RolesDocument text = new RolesDocument(schema, managed.suffix(), managed.name());
            String name = managed.createRole("administrator");
            managed.execute(
                    "ALTER ROLE " + name + " CREATEROLE",
                    "GRANT CREATE ON DATABASE " + managed.name() + " TO " + name + " WITH GRANT OPTION",
                    "GRANT CONNECT ON DATABASE " + managed.name() + " TO " + name + " WITH GRANT OPTION");
            DataSource administrator = managed.as(name);
            String rolesAndSchema = text.rolesAndSchema();
            int between = rolesAndSchema.indexOf("CREATE SCHEMA");
            String createSchema = rolesAndSchema.substring(between);
            RoleDatabase.execute(administrator, rolesAndSchema.substring(0, between));
            for (String role : List.of("migrator", "worker", "submitter", "reader")) {
                managed.adopt("millrace_" + role + managed.suffix());
            }
            assertThat(RoleDatabase.refusal(administrator, createSchema)).isEqualTo("42501");

            RoleDatabase.execute(administrator, text.membership(), createSchema, text.connect());

            DataSource owner = managed.as("millrace_migrator" + managed.suffix());
            Migrator.of(owner, schema).migrate();
            RoleDatabase.execute(owner, text.grants());
            assertThat(PostgresStore.on(managed.as("millrace_worker" + managed.suffix()), schema)
                            .jobs()
                            .get("x"))
                    .isEmpty();
        }
    }
}
