package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.db.Migrator;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.NewJob;
import dev.millrace.roles.RoleDatabase;
import dev.millrace.store.ClaimRequest;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Field case A17: a schema of any name, for a role that owns it and may do nothing else, whose search path has neither
 * it nor {@code public}, in a database without {@code public}. {@code .ci/legs/other-schema} runs all tests that way.
 */
@MillraceDatabase
class OtherSchemaTest {
    private static final String SCHEMA = "My-Jobs";

    private final TestDatabase neighbour;
    private RoleDatabase database;
    private DataSource owner;

    OtherSchemaTest(TestDatabase neighbour) {
        this.neighbour = neighbour;
    }

    @BeforeEach
    void schemaOfItsOwner() {
        database = RoleDatabase.on(neighbour);
        String role = database.createRole("owner");
        database.execute(
                "DROP SCHEMA public",
                "ALTER ROLE " + RoleDatabase.quoted(role) + " SET search_path = absent",
                "CREATE SCHEMA \"" + SCHEMA + "\" AUTHORIZATION " + RoleDatabase.quoted(role));
        owner = database.as(role);
        Migrator.of(owner, SCHEMA).migrate();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void everyCall_resolvesInItsSchemaAndCreatesNothingElsewhere() {
        List<String> before = objectsOutside();
        PostgresStore store = PostgresStore.on(owner, SCHEMA);

        Calls.of(store).values().forEach(call -> call.accept(store));

        assertThat(objectsOutside()).isEqualTo(before).isNotEmpty();
    }

    @Test
    void twoSchemasInOneDatabase_doNotSeeEachOther() {
        Migrator.of(database.admin(), "My-Jobs 2").migrate();
        PostgresStore one = PostgresStore.on(owner, SCHEMA);
        PostgresStore other = PostgresStore.on(database.admin(), "My-Jobs 2");
        NewJob job = StoreFixture.newJob("k");

        one.jobs().submit(job);

        assertThat(other.jobs().get(job.id())).isEmpty();
        assertThat(other.queue().depth("managed", "default")).isZero();
        assertThat(other.jobs().submit(job).created()).isTrue();
        assertThat(other.work().claim(ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of(), 5)))
                .hasSize(1);
        assertThat(one.queue().depth("managed", "default")).isEqualTo(1);
    }

    private List<String> objectsOutside() {
        return database.query("""
                SELECT n.nspname || '.' || o.name
                  FROM (SELECT relnamespace AS namespace, relname AS name FROM pg_class
                        UNION ALL SELECT typnamespace, typname FROM pg_type
                        UNION ALL SELECT pronamespace, proname FROM pg_proc) AS o
                  JOIN pg_namespace AS n ON n.oid = o.namespace
                 WHERE n.nspname <> '%1$s' AND n.nspname !~ '^pg_toast'
                UNION ALL
                SELECT nspname FROM pg_namespace WHERE nspname <> '%1$s'
                 ORDER BY 1
                """.formatted(SCHEMA));
    }
}
