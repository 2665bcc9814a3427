package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.db.Migrator;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.types.JobStatus;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Field case A17: a schema of any name, for a role whose search_path has neither it nor {@code public}, in a database
 * without {@code public}.
 */
@MillraceDatabase
class OtherSchemaTest {
    private static final String SCHEMA = "Other-Jobs";
    private static final String ROLE = "millrace_other_schema";

    private final TestDatabase database;
    private final DataSource asRole;

    OtherSchemaTest(TestDatabase database) {
        this.database = database;
        this.asRole = database.unpooledDataSource(ROLE, "secret");
    }

    @BeforeEach
    void schemaThatTheRoleOwns() throws SQLException {
        execute(
                "DROP SCHEMA IF EXISTS public CASCADE",
                "CREATE ROLE " + ROLE + " LOGIN PASSWORD 'secret'",
                "ALTER ROLE " + ROLE + " SET search_path = pg_catalog",
                "CREATE SCHEMA \"" + SCHEMA + "\" AUTHORIZATION " + ROLE);
        Migrator.of(asRole, SCHEMA).migrate();
    }

    @AfterEach
    void drop() throws SQLException {
        execute("DROP SCHEMA \"" + SCHEMA + "\" CASCADE", "DROP OWNED BY " + ROLE, "DROP ROLE " + ROLE);
    }

    @Test
    void everyStatement_resolvesInItsSchemaAndCreatesNothingElsewhere() throws SQLException {
        List<String> before = objectsOutside();
        PostgresStore store = PostgresStore.on(asRole, SCHEMA);
        NewJob job = StoreFixture.newJob("k");
        assertThat(store.jobs().submit(job).created()).isTrue();
        assertThat(store.jobs().submit(job).created()).isFalse();
        Job read = store.jobs().get(job.id()).orElseThrow();
        assertThat(store.jobs().compareAndSet(read, read.withAudit(read.audit().withCorrelationId("c"))))
                .isTrue();
        assertThat(store.queue().depth("managed", "default")).isEqualTo(1);
        assertThat(store.queue().remove(job.id())).isTrue();
        assertThat(store.queue().enqueue(job.id())).isTrue();
        assertThat(store.queue().requeue(job.id(), Duration.ZERO)).isTrue();
        assertThat(store.queue().repair(Duration.ZERO, 10)).isZero();
        for (List<String> kinds : List.of(List.<String>of(), List.of("k"), List.of("k", "other"))) {
            Claim claim = store.work()
                    .claim(ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, kinds, 3))
                    .get(0);
            assertThat(store.work().recover(List.of(claim.token()))).hasSize(1);
            store.work().start(claim.attempt());
            store.work().progress(claim.attempt(), 1.0, "p");
            store.work().beat(List.of(claim.attempt()));
            assertThat(store.work().finish(claim, new Finish.HandBack(Duration.ZERO, null)))
                    .isTrue();
        }
        assertThat(store.reconcilable().suspects("", 5)).isEmpty();
        assertThat(store.reconcilable().shortestHeartbeatTimeout()).isEmpty();
        store.reconcilable().probe();
        store.clock().now();
        store.jobs().cancel(job.id(), null, null);
        assertThat(store.jobs().get(job.id()).orElseThrow().status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(objectsOutside()).isEqualTo(before);
    }

    @Test
    void twoSchemasInOneDatabase_doNotSeeEachOther() {
        PostgresStore one = PostgresStore.on(asRole, SCHEMA);
        PostgresStore other = PostgresStore.on(database.dataSource(), database.schema());
        NewJob job = StoreFixture.newJob("k");
        one.jobs().submit(job);
        assertThat(other.jobs().get(job.id())).isEmpty();
        assertThat(other.work().claim(ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of(), 1)))
                .isEmpty();
        assertThat(one.jobs().get(job.id())).isPresent();
    }

    private List<String> objectsOutside() throws SQLException {
        try (Connection connection = database.adminDataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT n.nspname || '.' || c.relname FROM pg_class c"
                        + " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname <> '" + SCHEMA
                        + "' AND n.nspname NOT LIKE 'pg_toast%' ORDER BY 1")) {
            List<String> names = new ArrayList<>();
            while (rows.next()) {
                names.add(rows.getString(1));
            }
            return names;
        }
    }

    private void execute(String... statements) throws SQLException {
        try (Connection connection = database.adminDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }
}
