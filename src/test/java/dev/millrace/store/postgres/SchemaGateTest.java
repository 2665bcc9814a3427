package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.CONTROLS;
import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.db.Release;
import dev.millrace.db.Version;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.store.ReconcilableJobs.Cause;
import dev.millrace.store.ReconcilableJobs.Suspect;
import dev.millrace.store.SchemaNotReadyException;
import dev.millrace.store.SchemaNotReadyException.Reason;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.types.Priority;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jooq.Configuration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Which schemas this release may use, and that it finds out before it does, and again while it runs. */
@MillraceDatabase
class SchemaGateTest {
    private static final Release THIS = Release.current();
    private static final Release OLDER = new Release(Version.of("0.0.9"), THIS.schema());
    private static final String NEXT_SCHEMA = "6";
    private static final String NEXT_RELEASE = "99.0.0";

    private final StoreFixture db;
    private final AtomicLong clock = new AtomicLong();

    SchemaGateTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @AfterEach
    void restore() {
        say(Release.SCHEMA_VERSION, THIS.schema().toString());
        say(Release.OLDEST_WRITER, "0.1.0");
    }

    private void say(String name, @Nullable String value) {
        db.dsl
                .insertInto(CONTROLS)
                .set(CONTROLS.NAME, name)
                .set(CONTROLS.VALUE, value)
                .set(CONTROLS.SET_BY, "test")
                .set(CONTROLS.SET_AT, DbTime.STATEMENT)
                .onConflict(CONTROLS.NAME)
                .doUpdate()
                .set(CONTROLS.VALUE, value)
                .execute();
    }

    private PostgresStore store(Release release) {
        return PostgresStore.on(
                db.database.dataSource(),
                db.database.schema(),
                new SchemaGate(db.database.schema(), release, clock::get));
    }

    private static SchemaNotReadyException refusal(Runnable call) {
        return catchThrowableOfType(SchemaNotReadyException.class, call::run);
    }

    @Test
    void schemaThatThisReleaseIsTooOldFor_isNamedWithWhatToDo() {
        say(Release.SCHEMA_VERSION, NEXT_SCHEMA);
        say(Release.OLDEST_WRITER, NEXT_RELEASE);
        SchemaNotReadyException e = refusal(() -> store(THIS).jobs().submit(StoreFixture.newJob("k")));
        assertThat(e.reason()).isEqualTo(Reason.TOO_NEW);
        assertThat(e.schema()).isEqualTo(db.database.schema());
        assertThat(e)
                .hasMessageContaining("Can't submit job")
                .hasMessageContaining("schema \"" + db.database.schema() + "\" has version 6")
                .hasMessageContaining("written by library version 99.0.0 and newer, but this is " + THIS.version())
                .hasMessageContaining("Upgrade the library of this process to 99.0.0 or newer. Nothing was written.");
    }

    @Test
    void schemaThatIsBehindThisRelease_isNamedWithWhatToDo() {
        say(Release.SCHEMA_VERSION, "4");
        SchemaNotReadyException e = refusal(() -> store(THIS).jobs().get("some job"));
        assertThat(e.reason()).isEqualTo(Reason.BEHIND);
        assertThat(e)
                .hasMessageContaining("has version 4, but this release of the library, " + THIS.version() + ", needs "
                        + THIS.schema() + ".")
                .hasMessageContaining("Call Millrace.migrate()");
    }

    @Test
    void newerSchemaThatThisReleaseMayWriteTo_isUsed() {
        say(Release.SCHEMA_VERSION, "10");
        assertThat(store(THIS).jobs().submit(StoreFixture.newJob("newer")).created())
                .isTrue();
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "soon", "5-SNAPSHOT"})
    void schemaThatDoesNotSayWhatItIs_isRefusedAndSaysWhere(@Nullable String value) {
        for (String name : List.of(Release.SCHEMA_VERSION, Release.OLDEST_WRITER)) {
            say(name, value);
            SchemaNotReadyException e = refusal(() -> store(THIS).jobs().get("some job"));
            assertThat(e.reason()).isEqualTo(Reason.UNCLEAR);
            String where = value == null ? "its table controls has no value for" : "in its table controls, row";
            assertThat(e).hasMessageContaining(where + " \"" + name + "\"").hasMessageContaining("docs/upgrades.md");
            restore();
        }
    }

    @Test
    void schemaWhoseStatementIsMissing_isRefused() {
        db.dsl
                .deleteFrom(CONTROLS)
                .where(CONTROLS.NAME.eq(Release.OLDEST_WRITER))
                .execute();
        assertThat(refusal(() -> store(THIS).jobs().get("some job")).reason()).isEqualTo(Reason.UNCLEAR);
    }

    /** Each way in, so that none goes past the gate. */
    @Test
    void releaseThatIsTooOld_isRefusedWhateverItDoes_andWritesNothing() {
        Job queued = db.submit("queued");
        Claim claim = db.running("running");
        Suspect suspect = Suspect.of(claim, Cause.HEARTBEAT);
        Finish retry = new Finish.Retry(Duration.ZERO, "again");
        var before = db.dsl
                .selectFrom(EXECUTION_JOBS)
                .orderBy(EXECUTION_JOBS.OPERATION_ID)
                .fetch();
        PostgresStore older = store(OLDER);
        List<Runnable> calls = List.of(
                () -> older.jobs().submit(StoreFixture.newJob("new")),
                () -> older.jobs().create(Job.of("new", queued.spec(), queued.createdAt())),
                () -> older.jobs().get(queued.id()),
                () -> older.jobs().compareAndSet(queued, queued.withPriority(Priority.LOW)),
                () -> older.jobs().cancel(queued.id(), null, null),
                () -> older.queue().enqueue(queued.id()),
                () -> older.queue().requeue(queued.id(), Duration.ZERO),
                () -> older.queue().requeue(claim.attempt(), Duration.ZERO),
                () -> older.queue().remove(queued.id()),
                () -> older.queue().depth("managed", "default"),
                () -> older.queue().repair(Duration.ZERO, 10),
                () -> older.queue().claim(ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of("queued"), 1)),
                () -> older.work().recover(List.of(claim.token())),
                () -> older.work().beat(List.of(claim.attempt())),
                () -> older.work().start(claim.attempt()),
                () -> older.work().progress(claim.attempt(), 50.0, null),
                () -> older.work().finish(claim, new Finish.Succeed()),
                () -> older.reconcilable().probe(),
                () -> older.reconcilable().suspects("", 10),
                () -> older.reconcilable().expire(suspect, retry),
                () -> older.reconcilable().isLocked(suspect),
                () -> older.reconcilable().shortestHeartbeatTimeout(),
                () -> older.clock().now());
        assertThat(calls).allSatisfy(call -> assertThat(refusal(call).reason()).isEqualTo(Reason.TOO_NEW));
        assertThat(db.dsl
                        .selectFrom(EXECUTION_JOBS)
                        .orderBy(EXECUTION_JOBS.OPERATION_ID)
                        .fetch())
                .isEqualTo(before);
    }

    @Test
    void processThatLivesThroughAnUpgrade_stopsWithinAMinute_andGoesOnAtOnceWhenItMay() {
        PostgresStore store = store(THIS);
        store.jobs().submit(StoreFixture.newJob("before"));
        say(Release.OLDEST_WRITER, NEXT_RELEASE);
        clock.addAndGet(SchemaGate.VALID.toNanos() - 1);
        store.jobs().submit(StoreFixture.newJob("within the minute"));
        clock.addAndGet(1);
        assertThat(refusal(() -> store.jobs().submit(StoreFixture.newJob("after")))
                        .reason())
                .isEqualTo(Reason.TOO_NEW);
        assertThat(refusal(() -> store.clock().now())).isNotNull(); // no verdict is kept that was a refusal
        say(Release.OLDEST_WRITER, "0.1.0");
        store.jobs().submit(StoreFixture.newJob("allowed again"));
    }

    @Test
    void processThatMeetsAContractedSchemaWithinThatMinute_isToldTheTruth() {
        PostgresStore store = store(THIS);
        store.jobs().get("some job");
        say(Release.OLDEST_WRITER, NEXT_RELEASE);
        db.dsl
                .alterTable(EXECUTION_JOBS)
                .renameColumn(EXECUTION_JOBS.PERCENT_COMPLETE)
                .to("contracted")
                .execute();
        try {
            assertThat(refusal(() -> store.jobs().get("some job")).reason()).isEqualTo(Reason.TOO_NEW);
            say(Release.OLDEST_WRITER, "0.1.0");
            assertThat(refusal(() -> store.jobs().get("some job")))
                    .hasMessageContaining("was changed under this process")
                    .hasMessageContaining("upgrade the library");
        } finally {
            db.dsl
                    .alterTable(EXECUTION_JOBS)
                    .renameColumn("contracted")
                    .to(EXECUTION_JOBS.PERCENT_COMPLETE)
                    .execute();
        }
    }

    @Test
    void schemaThatIsMigratedLater_isUsedAtOnce() {
        say(Release.SCHEMA_VERSION, "4");
        PostgresStore store = store(THIS);
        assertThat(refusal(() -> store.clock().now()).reason()).isEqualTo(Reason.BEHIND);
        say(Release.SCHEMA_VERSION, THIS.schema().toString());
        assertThat(store.clock().now()).isNotNull();
    }

    @Test
    void gate_costsTwoRoundTripsAMinute_andNoneBetween() {
        AtomicInteger statements = new AtomicInteger();
        PGSimpleDataSource counting = new PGSimpleDataSource() {
            private static final long serialVersionUID = 1L;

            @Override
            public Connection getConnection() throws SQLException {
                Connection real = db.database.dataSource().getConnection();
                return (Connection) Proxy.newProxyInstance(
                        SchemaGateTest.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, args) -> {
                            statements.addAndGet(method.getName().equals("prepareStatement") ? 1 : 0);
                            return method.invoke(real, args);
                        });
            }
        };
        PostgresStore store = PostgresStore.on(
                counting, db.database.schema(), new SchemaGate(db.database.schema(), THIS, clock::get));
        store.clock().now();
        assertThat(statements).hasValue(3);
        for (int i = 0; i < 10; i++) {
            store.clock().now();
            db.dsl.transaction(tx -> store.in(tx).jobs().get("some job"));
        }
        assertThat(statements).hasValue(13);
        clock.addAndGet(SchemaGate.VALID.toNanos());
        store.clock().now();
        assertThat(statements).hasValue(16);
    }

    /** In a caller's transaction nothing is an SQL error, which would end it, and no other connection is taken. */
    @Test
    void refusalInACallersTransaction_leavesItUsable() throws SQLException {
        for (String schema : List.of(db.database.schema(), "nowhere", "odd \" name")) {
            say(Release.SCHEMA_VERSION, "4");
            PostgresStore store = PostgresStore.on(noPool(), schema, new SchemaGate(schema, THIS, clock::get));
            db.dsl.transaction(tx -> {
                insertBusinessRow(tx, "before " + schema);
                assertThat(refusal(() -> store.in(tx).jobs().submit(StoreFixture.newJob("k")))
                                .reason())
                        .isEqualTo(schema.equals(db.database.schema()) ? Reason.BEHIND : Reason.MISSING);
                insertBusinessRow(tx, "after " + schema);
            });
            assertThat(db.dsl.fetchCount(CONTROLS, CONTROLS.NAME.in("before " + schema, "after " + schema)))
                    .isEqualTo(2);
        }
    }

    @Test
    void callersTransaction_asksOnItsOwnConnection_andItsAnswerServesTheStore() {
        PostgresStore store = PostgresStore.on(
                noPool(), db.database.schema(), new SchemaGate(db.database.schema(), THIS, clock::get));
        db.dsl.transaction(tx -> store.in(tx).jobs().submit(StoreFixture.newJob("k")));
        say(Release.OLDEST_WRITER, NEXT_RELEASE);
        db.dsl.transaction(tx -> store.in(tx).jobs().submit(StoreFixture.newJob("not asked again")));
        clock.addAndGet(SchemaGate.VALID.toNanos());
        db.dsl.transaction(tx -> assertThat(refusal(() -> store.in(tx).jobs().submit(StoreFixture.newJob("k"))))
                .isNotNull());
    }

    @Test
    void outageWhileAsking_isAnOutageAndNoVerdict() {
        AtomicInteger failures = new AtomicInteger(1);
        PGSimpleDataSource failing = new PGSimpleDataSource() {
            private static final long serialVersionUID = 1L;

            @Override
            public Connection getConnection() throws SQLException {
                if (failures.getAndDecrement() > 0) {
                    throw new SQLException("pool exhausted");
                }
                return db.database.dataSource().getConnection();
            }
        };
        PostgresStore store = PostgresStore.on(
                        failing, db.database.schema(), new SchemaGate(db.database.schema(), OLDER, clock::get))
                .forLoops();
        assertThatThrownBy(() -> store.clock().now()).isInstanceOf(StoreUnavailableException.class);
        assertThat(refusal(() -> store.clock().now()).reason()).isEqualTo(Reason.TOO_NEW);
    }

    private static void insertBusinessRow(Configuration tx, String name) {
        tx.dsl()
                .insertInto(CONTROLS)
                .set(CONTROLS.NAME, name)
                .set(CONTROLS.SET_BY, "test")
                .set(CONTROLS.SET_AT, DbTime.STATEMENT)
                .execute();
    }

    private static PGSimpleDataSource noPool() {
        return new PGSimpleDataSource() {
            private static final long serialVersionUID = 1L;

            @Override
            public Connection getConnection() {
                throw new AssertionError("another connection was taken");
            }
        };
    }
}
