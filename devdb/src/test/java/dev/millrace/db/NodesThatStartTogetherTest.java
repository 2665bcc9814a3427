package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Field case A16 with processes: eight nodes migrate at once, beside an application with a Flyway history of its own, one
 * of whose sessions sits in a transaction all the while. {@link MigratorConcurrencyTest} does the same with threads.
 */
@MillraceDatabase
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NodesThatStartTogetherTest {
    private static final int NODES = 8;
    private static final String NEWEST = Release.current().schema().toString();
    private static final String BEFORE = "4";
    private static final String NEXT = "900";
    private static final String APPLICATIONS_HISTORY =
            "SELECT * FROM public.flyway_schema_history ORDER BY installed_rank";

    private static final List<Process> nodes = new ArrayList<>();

    private final TestDatabase neighbour;
    private EmptyDatabase database;
    private Connection idle;
    private List<String> applicationsHistory;

    NodesThatStartTogetherTest(TestDatabase neighbour) {
        this.neighbour = neighbour;
    }

    @BeforeAll
    static void startNodes() throws IOException {
        for (int i = 0; i < NODES; i++) {
            nodes.add(new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx96m",
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            MigratingProcess.class.getName())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
        }
        for (Process node : nodes) {
            assertThat(node.inputReader().readLine()).isEqualTo(MigratingProcess.READY);
        }
    }

    @AfterAll
    static void endNodes() {
        nodes.forEach(Process::destroyForcibly);
        nodes.clear();
    }

    @BeforeEach
    void createDatabaseOfAnApplication() throws SQLException {
        database = EmptyDatabase.on(neighbour);
        Flyway.configure(getClass().getClassLoader())
                .dataSource(database.dataSource())
                .defaultSchema("public")
                .locations("classpath:application/migration")
                .load()
                .migrate();
        applicationsHistory = database.query(APPLICATIONS_HISTORY);
        idle = database.dataSource().getConnection();
        idle.setAutoCommit(false);
    }

    @AfterEach
    void applicationIsUntouched() throws SQLException {
        idle.close();
        assertThat(database.query(APPLICATIONS_HISTORY)).isNotEmpty().isEqualTo(applicationsHistory);
        database.close();
    }

    @Test
    void eightProcesses_onAnEmptyDatabase_migrateItOnce() throws Exception {
        idleRuns("LOCK TABLE public.customers IN ACCESS EXCLUSIVE MODE");

        order(NEWEST);

        assertAppliedOnce(null, NEWEST, Integer.parseInt(NEWEST));
        assertStillIdle();
    }

    /** A migration that adds a table needs no lock on one that others read. */
    @Test
    void eightProcesses_onASchemaBehind_migrateItOnce_whileOthersReadIt() throws Exception {
        migrateTo(BEFORE);
        idleRuns("SELECT count(*) FROM millrace.execution_jobs");

        order(NEWEST);

        assertAppliedOnce(BEFORE, NEWEST, 1);
        assertStillIdle();
    }

    /** One that changes such a table does: nodes ask for it, never for long, and go on when they get it. */
    @Test
    void eightProcesses_onASchemaBehind_migrateItOnce_afterAReaderHasEnded() throws Exception {
        migrateTo(NEWEST);
        idleRuns("SELECT count(*) FROM millrace.execution_jobs");

        order(NEXT);

        Awaitility.await().until(() -> !waiting().isEmpty());
        List<String> first = waiting();
        // One gives up waiting, and it or another one starts to wait.
        Awaitility.await().until(() -> !waiting().isEmpty() && !waiting().equals(first));
        assertThat(history()).doesNotContain(NEXT);
        idle.commit();
        assertAppliedOnce(NEWEST, NEXT, 1);
    }

    private void migrateTo(String version) {
        Migrator.of(database.dataSource(), "millrace", List.of(Migrations.LOCATION), version)
                .migrate();
    }

    private void idleRuns(String sql) throws SQLException {
        try (Statement statement = idle.createStatement()) {
            statement.execute(sql);
        }
    }

    private void order(String lastVersion) throws IOException {
        byte[] order = (MigratingProcess.order((PGSimpleDataSource) database.dataSource(), lastVersion) + "\n")
                .getBytes(StandardCharsets.UTF_8);
        for (Process node : nodes) {
            node.getOutputStream().write(order);
            node.getOutputStream().flush();
        }
    }

    private void assertAppliedOnce(String before, String after, int migrations) throws Exception {
        int applied = 0;
        for (Process node : nodes) {
            String answer = node.inputReader().readLine();
            assertThat(answer).matches("(" + before + "|[0-9]+) " + after + " [0-9]+");
            applied += Integer.parseInt(answer.substring(answer.lastIndexOf(' ') + 1));
        }
        assertThat(applied).isEqualTo(migrations);
        assertThat(history()).doesNotHaveDuplicates().last().isEqualTo(after);
    }

    private List<String> history() throws SQLException {
        return database.query(
                "SELECT version FROM millrace.millrace_schema_history WHERE type = 'SQL' ORDER BY installed_rank");
    }

    private void assertStillIdle() throws SQLException {
        assertThat(database.query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND state = 'idle in transaction'"))
                .containsExactly("1");
    }

    /** Which sessions wait for a lock, and since when. */
    private List<String> waiting() throws SQLException {
        return database.query("SELECT a.pid, a.query_start FROM pg_locks AS l JOIN pg_stat_activity AS a"
                + " ON a.pid = l.pid WHERE NOT l.granted AND a.datname = current_database()");
    }
}
