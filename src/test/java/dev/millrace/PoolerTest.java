package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.devdb.Database;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.Worker;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Where all tests run behind a transaction pooler: that they really do, and that it finds nothing left behind. */
@MillraceDatabase
@EnabledIfEnvironmentVariable(named = "MILLRACE_DEVDB_POOLER", matches = "pgbouncer")
@Timeout(120)
class PoolerTest {
    private static final JobType<Map<?, ?>> WORK = new JobType<>("work", Map.class);

    private final TestDatabase database;

    PoolerTest(TestDatabase database) {
        this.database = database;
    }

    @Test
    void suite_isBehindThePooler_andSharesSessions() throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            Set<String> sessions = new HashSet<>();
            await().until(() ->
                    sessions.add(query(connection, "SELECT pg_backend_pid()").get(0)) && sessions.size() > 1);
        }
    }

    @Test
    void migrationAndWork_leaveNoSettingAndNoLockInAnySession() throws Exception {
        Database own = database.server().createDatabase("pooler_" + UUID.randomUUID());
        HikariConfig config = new HikariConfig();
        config.setDataSource(own.dataSource());
        try (HikariDataSource pool = new HikariDataSource(config)) {
            migrateAndWork(Millrace.on(pool));

            assertThat(leftInSessions(own)).isEmpty();
        } finally {
            own.drop();
        }
    }

    private static void migrateAndWork(Millrace millrace) throws InterruptedException {
        millrace.migrate();
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            jobs.add(millrace.submit(WORK, Map.of()));
        }
        try (Worker worker =
                millrace.worker().handle(WORK, (payload, attempt) -> {}).start()) {
            for (Job job : jobs) {
                assertThat(millrace.await(job, Duration.ofSeconds(60)).status()).isEqualTo(JobStatus.SUCCEEDED);
            }
            assertThat(worker.status().healthy()).isTrue();
        }
    }

    /** LISTEN is heard by a session of the pooler's that nobody else may ever get again. */
    @Test
    void wakeUps_areOffByThemselves_andWorkersPoll() throws InterruptedException {
        Millrace millrace =
                Millrace.on(database.dataSource()).withSchema(database.schema()).withWakeUps();
        try (Worker worker = millrace.worker()
                .handle(WORK, (payload, attempt) -> {})
                .pollInterval(Duration.ofMillis(100))
                .start()) {
            await().atMost(Duration.ofSeconds(90))
                    .until(() -> millrace.wakeUps().off());
            Job job = millrace.submit(WORK, Map.of());
            assertThat(millrace.await(job, Duration.ofSeconds(60)).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(worker.status().healthy()).isTrue();
        }
    }

    /**
     * What is set in any session of the pooler's, and what is kept there. All of them are held at once, so that none is
     * left out. What PgBouncer itself sets for each client does not count, nor does what describes the current
     * transaction.
     */
    private List<String> leftInSessions(Database own) throws SQLException {
        int sessions = Integer.parseInt(query(
                        own.dataSource(),
                        "SELECT count(*) FROM pg_stat_activity"
                                + " WHERE datname = current_database() AND backend_type = 'client backend'")
                .get(0));
        List<String> left = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        Deque<Connection> held = new ArrayDeque<>();
        try {
            for (int i = 0; i < sessions; i++) {
                Connection connection = own.dataSource().getConnection();
                held.push(connection);
                connection.setAutoCommit(false);
                seen.addAll(query(connection, "SELECT pg_backend_pid()"));
                left.addAll(query(
                        connection,
                        "SELECT name || '=' || setting FROM pg_settings WHERE source = 'session' AND name NOT IN"
                                + " ('client_encoding', 'DateStyle', 'TimeZone', 'application_name',"
                                + " 'standard_conforming_strings', 'transaction_isolation')"));
                left.addAll(query(connection, "SELECT 'prepared: ' || statement FROM pg_prepared_statements"));
                left.addAll(query(
                        connection,
                        "SELECT 'advisory lock ' || objid FROM pg_locks"
                                + " WHERE locktype = 'advisory' AND pid = pg_backend_pid()"));
            }
        } finally {
            while (!held.isEmpty()) {
                held.pop().close();
            }
        }
        assertThat(seen).hasSize(sessions).hasSizeGreaterThan(1);
        return left;
    }

    private static List<String> query(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return query(connection, sql);
        }
    }

    private static List<String> query(Connection connection, String sql) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            while (result.next()) {
                rows.add(result.getString(1));
            }
        }
        return rows;
    }
}
