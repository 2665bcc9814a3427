package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the migrator takes from a pool, and how it gives it back. */
@MillraceDatabase
@DisabledIfEnvironmentVariable(
        named = "MILLRACE_DEVDB_POOLER",
        matches = "pgbouncer",
        disabledReason = "behind a pooler a connection has no session of its own to be compared; see PoolerTest")
class MigratorPoolTest {

    private final TestDatabase neighbour;
    private EmptyDatabase database;

    MigratorPoolTest(TestDatabase neighbour) {
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

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void migrate_overASmallPool_worksAndLeavesNoSettingBehind(int size) throws SQLException {
        try (HikariDataSource pool = database.pool(size)) {
            List<String> before = sessionsOf(pool, size);

            MigrationReport report = Migrator.of(pool, "My-Jobs").migrate();
            Migrator.of(pool, "My-Jobs").state();

            assertThat(report.appliedCount()).isPositive();
            assertThat(sessionsOf(pool, size)).isEqualTo(before);
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void migrate_thatFails_leavesNoSettingBehind(int size) throws SQLException {
        try (HikariDataSource pool = database.pool(size)) {
            Migrator.of(pool).migrate();
            List<String> before = sessionsOf(pool, size);

            Migrator broken = Migrator.of(
                    pool, "millrace", List.of(Migrations.LOCATION, "classpath:dev/millrace/db/broken"), null);
            assertThatThrownBy(broken::migrate).isInstanceOf(MigrationException.class);

            assertThat(sessionsOf(pool, size)).isEqualTo(before);
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        }
    }

    @Test
    void migrate_overSessionsWithSettingsOfTheirOwn_keepsThem() throws SQLException {
        String role = database.createRole();
        database.execute("CREATE SCHEMA app", "CREATE SCHEMA millrace AUTHORIZATION " + role);
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource());
        config.setMaximumPoolSize(1);
        config.setAutoCommit(false);
        config.setIsolateInternalQueries(true);
        config.setConnectionInitSql(
                "SET SESSION search_path = app, public; SET SESSION lock_timeout = '77s'; SET SESSION ROLE " + role);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            List<String> before = sessionsOf(pool, 1);
            assertThat(before.get(0)).contains("search_path=app, public").contains("lock_timeout=77000");

            Migrator.of(pool).migrate();

            assertThat(sessionsOf(pool, 1)).isEqualTo(before);
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isFalse();
            }
        }
        assertThat(database.query("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'millrace'"))
                .as("the role that the session had set")
                .containsExactly(role);
    }

    /** Every setting of every session of the pool, and where it comes from. */
    private static List<String> sessionsOf(HikariDataSource pool, int size) throws SQLException {
        List<Connection> connections = new ArrayList<>();
        List<String> sessions = new ArrayList<>();
        try {
            for (int i = 0; i < size; i++) {
                connections.add(pool.getConnection());
            }
            for (Connection connection : connections) {
                sessions.add(EmptyDatabase.query(
                                connection, "SELECT pg_backend_pid(), current_user, current_setting('role')")
                        + " "
                        + EmptyDatabase.query(
                                connection,
                                // What describes the current transaction is new with each; its source is of the last
                                // one.
                                "SELECT name || '=' || setting || CASE WHEN name = 'transaction_isolation' THEN ''"
                                        + " ELSE ' (' || source || ')' END FROM pg_settings ORDER BY name")
                        + " advisory locks: "
                        + EmptyDatabase.query(
                                connection,
                                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
                                        + " AND pid = pg_backend_pid()"));
            }
        } finally {
            for (Connection connection : connections) {
                if (!connection.getAutoCommit()) {
                    connection.rollback();
                }
                connection.close();
            }
        }
        sessions.sort(null);
        return sessions;
    }
}
