package dev.millrace.db;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Timeout;

/** Nodes that start together: A16 of the field cases. */
@MillraceDatabase
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MigratorConcurrencyTest {

    private static final int NODES = 8;

    private final TestDatabase neighbour;

    MigratorConcurrencyTest(TestDatabase neighbour) {
        this.neighbour = neighbour;
    }

    @RepeatedTest(3)
    void migrate_ofEightNodesAtOnceOnAnEmptyDatabase_appliesEachMigrationOnce() throws Exception {
        try (EmptyDatabase database = EmptyDatabase.on(neighbour)) {
            List<MigrationReport> reports = migrateAtOnce(() -> Migrator.of(database.dataSource()));

            assertAppliedOnce(database, reports);
        }
    }

    /** Under a stricter isolation a node that has waited for its turn would still see the schema from before. */
    @RepeatedTest(4)
    void migrate_ofEightNodesAtOnceUnderStrictIsolation_appliesEachMigrationOnce() throws Exception {
        try (EmptyDatabase database = EmptyDatabase.on(neighbour)) {
            database.setDefault("default_transaction_isolation", "serializable");

            List<MigrationReport> reports = migrateAtOnce(() -> Migrator.of(database.dataSource()));

            assertAppliedOnce(database, reports);
        }
    }

    @RepeatedTest(2)
    void migrate_ofEightNodesAtOnceOnASchemaBehind_appliesEachMigrationOnce() throws Exception {
        try (EmptyDatabase database = EmptyDatabase.on(neighbour)) {
            Migrator.of(database.dataSource(), "millrace", List.of(Migrations.LOCATION), "2")
                    .migrate();

            List<MigrationReport> reports = migrateAtOnce(() -> Migrator.of(database.dataSource()));

            assertThat(reports)
                    .extracting(MigrationReport::appliedCount)
                    .satisfies(counts -> assertThat(
                                    counts.stream().mapToInt(Integer::intValue).sum() + 2)
                            .isEqualTo(historyOf(database).size()));
            assertThat(historyOf(database)).doesNotHaveDuplicates();
        }
    }

    @RepeatedTest(2)
    void migrate_ofEightNodesAtOnceInASchemaWithOtherTables_appliesEachMigrationOnce() throws Exception {
        try (EmptyDatabase database = EmptyDatabase.on(neighbour)) {
            database.execute("CREATE SCHEMA millrace", "CREATE TABLE millrace.orders (id integer)");

            List<MigrationReport> reports = migrateAtOnce(() -> Migrator.of(database.dataSource()));

            assertAppliedOnce(database, reports);
        }
    }

    @RepeatedTest(2)
    void migrate_ofEightThreadsThatShareAPoolOfOne_finishes() throws Exception {
        try (EmptyDatabase database = EmptyDatabase.on(neighbour);
                HikariDataSource pool = database.pool(1)) {
            List<MigrationReport> reports = migrateAtOnce(() -> Migrator.of(pool));

            assertAppliedOnce(database, reports);
        }
    }

    private static List<MigrationReport> migrateAtOnce(Supplier<Migrator> node) throws Exception {
        CyclicBarrier start = new CyclicBarrier(NODES);
        ExecutorService threads = Executors.newFixedThreadPool(NODES);
        try {
            List<Future<MigrationReport>> futures = new ArrayList<>();
            for (int i = 0; i < NODES; i++) {
                futures.add(threads.submit(() -> {
                    Migrator migrator = node.get();
                    start.await();
                    return migrator.migrate();
                }));
            }
            List<MigrationReport> reports = new ArrayList<>();
            for (Future<MigrationReport> future : futures) {
                reports.add(future.get(60, SECONDS));
            }
            return reports;
        } finally {
            threads.shutdownNow();
        }
    }

    private static void assertAppliedOnce(EmptyDatabase database, List<MigrationReport> reports) throws Exception {
        List<String> history = historyOf(database);
        String latest = history.get(history.size() - 1);
        assertThat(history).doesNotHaveDuplicates();
        assertThat(reports).extracting(MigrationReport::versionAfter).containsOnly(latest);
        assertThat(reports.stream().mapToInt(MigrationReport::appliedCount).sum())
                .isEqualTo(history.size());
        DataSource dataSource = database.dataSource();
        assertThat(Migrator.of(dataSource).state().status()).isEqualTo(SchemaState.Status.CURRENT);
    }

    private static List<String> historyOf(EmptyDatabase database) throws Exception {
        return database.query(
                "SELECT version FROM millrace.millrace_schema_history WHERE type = 'SQL'" + " ORDER BY installed_rank");
    }
}
