package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.db.MigrationException.Reason;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Another session holds what a migration needs: no hang, a bounded error, and success after its release. */
@MillraceDatabase
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MigratorLocksTest {

    static final List<String> WITH_LATER = List.of(Migrations.LOCATION, "classpath:dev/millrace/db/later");

    private final TestDatabase neighbour;
    private EmptyDatabase database;
    private Connection other;

    MigratorLocksTest(TestDatabase neighbour) {
        this.neighbour = neighbour;
    }

    @BeforeEach
    void createDatabase() throws SQLException {
        database = EmptyDatabase.on(neighbour);
        other = database.dataSource().getConnection();
        other.setAutoCommit(false);
    }

    @AfterEach
    void dropDatabase() throws SQLException {
        other.close();
        database.close();
    }

    @Test
    void migrate_ofTableThatAnIdleTransactionHasRead_failsInTimeAndSucceedsAfterItsEnd() throws SQLException {
        Migrator.of(database.dataSource()).migrate();
        otherRuns("SELECT count(*) FROM millrace.execution_jobs");
        Migrator migrator = laterLibrary().lockTimeout(Duration.ofMillis(200)).lockAttempts(2);

        MigrationException failure = catchThrowableOfType(MigrationException.class, migrator::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.LOCK_NOT_OBTAINED);
        assertThat(failure.sqlState()).isEqualTo("55P03");
        assertThat(failure)
                .hasMessageContaining("V900__add_column.sql")
                .hasMessageContaining("Attempts: 2, each with a lock_timeout of PT0.2S")
                .hasMessageContaining("idle in transaction")
                .hasMessageContaining("AccessShareLock on execution_jobs");
        assertThat(migrator.state().status()).isEqualTo(SchemaState.Status.BEHIND);

        other.rollback();

        assertThat(migrator.migrate().appliedCount()).isEqualTo(2);
    }

    @Test
    void migrate_ofHistoryThatAnotherSessionHasLocked_failsInTimeAndSucceedsAfterItsEnd() throws SQLException {
        Migrator.of(database.dataSource(), "millrace", List.of(Migrations.LOCATION), "2")
                .migrate();
        otherRuns("LOCK TABLE millrace.millrace_schema_history IN ACCESS EXCLUSIVE MODE");
        Migrator migrator = Migrator.of(database.dataSource())
                .lockTimeout(Duration.ofMillis(200))
                .lockAttempts(1);

        MigrationException failure = catchThrowableOfType(MigrationException.class, migrator::migrate);
        MigrationException unread = catchThrowableOfType(MigrationException.class, migrator::state);

        assertThat(failure.reason()).isEqualTo(Reason.LOCK_NOT_OBTAINED);
        assertThat(failure).hasMessageContaining("AccessExclusiveLock on millrace_schema_history");
        assertThat(unread.reason()).isEqualTo(Reason.LOCK_NOT_OBTAINED);

        other.rollback();

        assertThat(migrator.migrate().versionBefore()).isEqualTo("2");
    }

    @Test
    void migrate_ofHistoryThatMayOnlyBeRead_failsInTime() throws SQLException {
        Migrator.of(database.dataSource(), "millrace", List.of(Migrations.LOCATION), "2")
                .migrate();
        otherRuns("LOCK TABLE millrace.millrace_schema_history IN SHARE MODE");

        MigrationException failure = catchThrowableOfType(
                MigrationException.class,
                Migrator.of(database.dataSource())
                        .lockTimeout(Duration.ofMillis(200))
                        .lockAttempts(1)::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.LOCK_NOT_OBTAINED);
    }

    @Test
    void migrate_whileAnotherSessionCreatesTheSchema_failsInTimeAndSucceedsAfterItsEnd() throws SQLException {
        otherRuns("CREATE SCHEMA millrace");
        Migrator migrator = Migrator.of(database.dataSource())
                .lockTimeout(Duration.ofMillis(200))
                .lockAttempts(1);

        MigrationException failure = catchThrowableOfType(MigrationException.class, migrator::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.LOCK_NOT_OBTAINED);

        other.commit();

        assertThat(migrator.migrate().versionBefore()).isNull();
    }

    @Test
    void migrate_whileAnotherSessionCreatesTheSchemaAndCommits_succeedsByItself() throws Exception {
        otherRuns("CREATE SCHEMA millrace");
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<MigrationReport> report =
                    thread.submit(() -> Migrator.of(database.dataSource()).migrate());
            awaitSomebodyWaitingForALock();
            other.commit();

            assertThat(report.get(30, TimeUnit.SECONDS).versionBefore()).isNull();
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void migrate_whoseLockIsReleasedBetweenAttempts_succeedsByItself() throws Exception {
        Migrator.of(database.dataSource()).migrate();
        otherRuns("SELECT count(*) FROM millrace.execution_jobs");
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<MigrationReport> report = thread.submit(() -> laterLibrary()
                    .lockTimeout(Duration.ofMillis(300))
                    .lockAttempts(100)
                    .migrate());
            awaitSomebodyWaitingForALock();
            other.rollback();

            assertThat(report.get(30, TimeUnit.SECONDS).appliedCount()).isEqualTo(2);
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void migrate_whileAnotherNodeHasTheTurn_waitsNoLongerThanAsked() throws SQLException {
        otherRuns("SELECT pg_advisory_xact_lock(" + LockHolders.TURN_KEY.replace("?", "'millrace'") + ")");
        Migrator migrator = Migrator.of(database.dataSource()).waitForOthers(Duration.ofMillis(300));

        MigrationException failure = catchThrowableOfType(MigrationException.class, migrator::migrate);

        assertThat(failure.reason()).isEqualTo(Reason.LOCK_NOT_OBTAINED);
        assertThat(failure)
                .hasMessageContaining("Another node was migrating schema \"millrace\"")
                .hasMessageContaining("the turn to migrate");
        assertThat(Migrator.of(database.dataSource(), "another").migrate().versionBefore())
                .as("a node of another schema has its own turn")
                .isNull();
    }

    private Migrator laterLibrary() {
        return Migrator.of(database.dataSource(), "millrace", WITH_LATER, null);
    }

    private void otherRuns(String sql) throws SQLException {
        try (Statement statement = other.createStatement()) {
            statement.execute(sql);
        }
    }

    private void awaitSomebodyWaitingForALock() {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> !database.query("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                                + " AND datname = current_database()")
                        .isEmpty());
    }
}
