package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.db.Migrator;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.roles.RoleDatabase;
import dev.millrace.store.MissingPrivilegeException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a role is told that lacks a privilege: who it is, what it was refused, and the statements that help. */
@MillraceDatabase
@TestInstance(Lifecycle.PER_CLASS)
class MissingPrivilegeTest {
    private static final String SCHEMA = "My-Jobs";
    private static final String JOBS = "\"My-Jobs\".\"execution_jobs\"";

    private final RoleDatabase database;
    private final String role;
    private final String quotedRole;
    private final Map<String, Consumer<PostgresStore>> calls;
    private PostgresStore store;

    MissingPrivilegeTest(TestDatabase neighbour) {
        database = RoleDatabase.on(neighbour);
        Migrator.of(database.admin(), SCHEMA).migrate();
        role = database.createRole("An \"odd\" role");
        quotedRole = RoleDatabase.quoted(role);
        calls = Calls.of(PostgresStore.on(database.admin(), SCHEMA));
    }

    @AfterAll
    void drop() {
        database.close();
    }

    /** Of a store that has looked at the controls already, so that it is the call itself which is refused. */
    @BeforeEach
    void revokeAll() {
        grantAll();
        store = PostgresStore.on(database.as(role), SCHEMA);
        store.clock().now();
        database.execute(
                "REVOKE ALL ON ALL TABLES IN SCHEMA \"My-Jobs\" FROM " + quotedRole,
                "REVOKE ALL ON SCHEMA \"My-Jobs\" FROM " + quotedRole);
    }

    @Test
    void everyCall_isRefusedWithStatementsThatMakeItWork() {
        calls.forEach((name, call) -> {
            revokeAll();
            int refusals = 0;
            MissingPrivilegeException refusal = refusal(() -> call.accept(store));
            while (refusal != null && refusals < 5) {
                refusals++;
                assertThat(refusal.role()).as(name).isEqualTo(role);
                assertThat(refusal)
                        .as(name)
                        .hasMessageContaining(role)
                        .hasMessageContaining("docs/roles.md")
                        .hasMessageContaining(String.join(" ", refusal.grants()));
                refusal.grants().forEach(database::execute);
                refusal = refusal(() -> call.accept(store));
            }
            assertThat(refusal).as(name).isNull();
            if (name.equals("StoreClock.now")) {
                assertThat(refusals).as(name).isZero();
            } else {
                assertThat(refusals).as(name).isPositive();
            }
        });
    }

    @Test
    void grants_areThoseThatTheStatementTakes_andNoMore() {
        assertThat(refusalOf("JobStore.get").grants()).containsExactlyElementsOf(grants("SELECT"));
        assertThat(refusalOf("JobStore.submit").grants()).containsExactlyElementsOf(grants("SELECT, INSERT"));
        assertThat(refusalOf("JobQueue.claim").grants()).containsExactlyElementsOf(grants("SELECT, UPDATE"));
        assertThat(refusalOf("ReconcilableJobs.isLocked").grants()).containsExactlyElementsOf(grants("SELECT, UPDATE"));
        assertThat(refusalOf("JobStore.get"))
                .hasMessageStartingWith("Can't read job ")
                .hasMessageContaining("permission denied for schema My-Jobs");
    }

    /** With what the look at the controls takes, which comes before any call. */
    private List<String> grants(String onJobs) {
        return List.of(
                "GRANT USAGE ON SCHEMA \"My-Jobs\" TO " + quotedRole + ";",
                "GRANT SELECT ON \"My-Jobs\".\"controls\" TO " + quotedRole + ";",
                "GRANT " + onJobs + " ON " + JOBS + " TO " + quotedRole + ";");
    }

    @ParameterizedTest
    @ValueSource(strings = {"SELECT", "INSERT", "UPDATE"})
    void everyCall_withoutOnePrivilegeOnTheTable_worksOrNamesTheTableAndThePrivilege(String lacking) {
        database.execute(
                "GRANT USAGE ON SCHEMA \"My-Jobs\" TO " + quotedRole,
                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \"My-Jobs\" TO " + quotedRole,
                "REVOKE " + lacking + " ON " + JOBS + " FROM " + quotedRole);
        int refusals = 0;
        for (Consumer<PostgresStore> call : calls.values()) {
            MissingPrivilegeException refusal = refusal(() -> call.accept(store));
            if (refusal != null) {
                refusals++;
                assertThat(refusal).hasMessageContaining("permission denied for table execution_jobs");
                assertThat(refusal.grants()).anyMatch(grant -> grant.contains(lacking) && grant.contains(JOBS));
            }
        }
        assertThat(refusals).isPositive();
    }

    @Test
    void everyCall_withoutUsageOfTheSchema_saysSo() {
        database.execute("GRANT ALL ON ALL TABLES IN SCHEMA \"My-Jobs\" TO " + quotedRole);
        calls.forEach((name, call) -> {
            MissingPrivilegeException refusal = refusal(() -> call.accept(store));
            if (!name.equals("StoreClock.now")) {
                assertThat(refusal)
                        .as(name)
                        .hasMessageContaining("permission denied for schema My-Jobs")
                        .hasMessageContaining("GRANT USAGE ON SCHEMA \"My-Jobs\" TO " + quotedRole + ";");
            }
        });
    }

    @Test
    void callerTransaction_thatIsRefused_isToldTheSame() throws SQLException {
        try (Connection connection = database.as(role).getConnection()) {
            connection.setAutoCommit(false);

            MissingPrivilegeException refusal =
                    refusal(() -> store.in(connection).jobs().submit(StoreFixture.newJob("k")));

            assertThat(refusal.role()).isEqualTo(role);
            assertThat(refusal.grants()).containsExactlyElementsOf(grants("SELECT, INSERT"));
        }
    }

    @Test
    @DisabledIfEnvironmentVariable(
            named = "MILLRACE_DEVDB_POOLER",
            matches = "pgbouncer",
            disabledReason = "PgBouncer passes on what the server said, but with its own SQLSTATE, 08P01")
    void roleThatMayNotConnect_isRefusedAsOne_alsoByAPool() {
        String stranger = database.createRole("stranger");
        database.execute("REVOKE CONNECT ON DATABASE " + database.name() + " FROM " + stranger);
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.unpooled(stranger));
        config.setInitializationFailTimeout(-1);
        config.setConnectionTimeout(2_000);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            for (DataSource one : List.of(database.unpooled(stranger), pool)) {
                PostgresStore refused = PostgresStore.on(one, SCHEMA);
                assertThat(refusal(() -> refused.clock().now()))
                        .hasMessageContaining("GRANT CONNECT ON DATABASE")
                        .satisfies(refusal -> assertThat(refusal.role()).isNull());
            }
        }
    }

    @Test
    void roleThatMaySeeSomeColumns_isToldWhatItTakes() {
        database.execute(
                "GRANT USAGE ON SCHEMA \"My-Jobs\" TO " + quotedRole,
                "GRANT SELECT (operation_id, status), INSERT, UPDATE ON " + JOBS + " TO " + quotedRole);

        assertThat(refusalOf("JobStore.get").grants()).contains("GRANT SELECT ON " + JOBS + " TO " + quotedRole + ";");
    }

    /** What then asks the schema may be refused in its turn, and is told as such. */
    @Test
    void refusalOfTheLookAtAChangedSchema_isNamedToo() {
        grantAll();
        database.execute(
                "REVOKE SELECT ON \"My-Jobs\".controls FROM " + quotedRole,
                "ALTER TABLE " + JOBS + " RENAME percent_complete TO changed");
        try {
            assertThat(refusalOf("JobStore.get")).hasMessageContaining("permission denied for table controls");
        } finally {
            database.execute("ALTER TABLE " + JOBS + " RENAME changed TO percent_complete");
        }
    }

    @Test
    void rowLevelSecurity_isNoMissingGrant() {
        grantAll();
        database.execute("ALTER TABLE " + JOBS + " ENABLE ROW LEVEL SECURITY");
        try {
            assertRefusedByTheTableItself("row-level security policy for table");
        } finally {
            database.execute("ALTER TABLE " + JOBS + " DISABLE ROW LEVEL SECURITY");
        }
    }

    @Test
    void triggerThatRefuses_isNoMissingGrant() {
        grantAll();
        database.execute(
                """
                CREATE FUNCTION "My-Jobs".refuse() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE 'not on a Sunday' USING ERRCODE = 'insufficient_privilege'; END $$
                """, "CREATE TRIGGER refuse BEFORE INSERT ON " + JOBS + " EXECUTE FUNCTION \"My-Jobs\".refuse()");

        try {
            assertRefusedByTheTableItself("not on a Sunday");
        } finally {
            database.execute("DROP FUNCTION \"My-Jobs\".refuse() CASCADE");
        }
    }

    private void assertRefusedByTheTableItself(String said) {
        MissingPrivilegeException refusal = refusal(() -> store.jobs().submit(StoreFixture.newJob("k")));
        assertThat(refusal)
                .hasMessageContaining(said)
                .hasMessageContaining("No grant would help")
                .hasMessageNotContaining("GRANT");
        assertThat(refusal.grants()).isEmpty();
    }

    private void grantAll() {
        database.execute(
                "GRANT USAGE ON SCHEMA \"My-Jobs\" TO " + quotedRole,
                "GRANT ALL ON ALL TABLES IN SCHEMA \"My-Jobs\" TO " + quotedRole);
    }

    private MissingPrivilegeException refusalOf(String call) {
        return refusal(() -> calls.get(call).accept(store));
    }

    /** Null if it was not refused. */
    private static MissingPrivilegeException refusal(ThrowingCallable call) {
        return catchThrowableOfType(MissingPrivilegeException.class, call);
    }
}
