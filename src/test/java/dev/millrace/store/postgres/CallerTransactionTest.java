package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.CONTROLS;
import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.store.Claim;
import dev.millrace.store.Creation;
import dev.millrace.store.JobConflictException;
import dev.millrace.store.Pulse;
import dev.millrace.store.StoreException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jooq.Condition;
import org.jooq.Configuration;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** In the caller's transaction: commit = visible, rollback = gone, and the transaction stays usable. */
@MillraceDatabase
class CallerTransactionTest {
    private final StoreFixture db;

    CallerTransactionTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    /** Any row of the caller's own; this table stands for the business's. */
    private static void insertBusinessRow(Configuration tx, String name) {
        tx.dsl()
                .insertInto(CONTROLS)
                .set(CONTROLS.NAME, name)
                .set(CONTROLS.SET_BY, "test")
                .set(CONTROLS.SET_AT, DbTime.STATEMENT)
                .execute();
    }

    private boolean businessRow(String name) {
        return db.dsl.fetchExists(CONTROLS, CONTROLS.NAME.eq(name));
    }

    @Test
    void submit_inCommittedTransaction_isVisibleAfterwardsOnly() {
        NewJob job = StoreFixture.newJob("commit");
        db.dsl.transaction(tx -> {
            insertBusinessRow(tx, "commit");
            db.store.in(tx).jobs().submit(job);
            assertThat(db.jobs.get(job.id())).isEmpty();
            assertThat(db.claim(1, "commit")).isEmpty();
        });
        assertThat(businessRow("commit")).isTrue();
        assertThat(db.claim(1, "commit")).hasSize(1);
    }

    @Test
    void submit_inTransactionThatRollsBack_neverWas() {
        NewJob job = StoreFixture.newJob("rollback");
        assertThatThrownBy(() -> db.dsl.transaction(tx -> {
                    insertBusinessRow(tx, "rollback");
                    assertThat(db.store.in(tx).jobs().submit(job).created()).isTrue();
                    assertThat(db.store.in(tx).jobs().get(job.id())).isPresent();
                    throw new IllegalStateException("changed my mind");
                }))
                .hasMessage("changed my mind");
        assertThat(businessRow("rollback")).isFalse();
        assertThat(db.jobs.get(job.id())).isEmpty();
    }

    /** Field case A20: what is refused raises no SQL error, so nothing rolls back behind the caller's back. */
    @Test
    void submit_ofDuplicateOrInvalidJob_leavesTheTransactionUsable() {
        NewJob job = StoreFixture.newJob("duplicate");
        db.submit(job);
        db.dsl.transaction(tx -> {
            insertBusinessRow(tx, "duplicate");
            PostgresStore inside = db.store.in(tx);
            assertThat(inside.jobs().submit(job).created()).isFalse();
            assertThatThrownBy(() -> inside.jobs().submit(job.withPriority(Priority.LOW)))
                    .isInstanceOf(JobConflictException.class);
            assertThatThrownBy(() -> NewJob.of("nul\u0000", "k", job.spec().parameters()))
                    .isInstanceOf(InvalidJobException.class);
            insertBusinessRow(tx, "duplicate-too");
        });
        assertThat(businessRow("duplicate")).isTrue();
        assertThat(businessRow("duplicate-too")).isTrue();
    }

    @Test
    void submit_ofTheSameIdByTwoOpenTransactions_isOneJob() throws Exception {
        NewJob job = StoreFixture.newJob("twice");
        AtomicReference<CompletableFuture<Creation>> other = new AtomicReference<>();
        db.dsl.transaction(tx -> {
            assertThat(db.store.in(tx).jobs().submit(job).created()).isTrue();
            other.set(OwnThread.supply(() -> db.jobs.submit(job)));
            db.awaitLockWaiter();
        });
        Creation second = other.get().get(30, TimeUnit.SECONDS);
        assertThat(second.created()).isFalse();
        assertThat(second.job().id()).isEqualTo(job.id());
    }

    @Test
    void times_areTheStatementsNotTheTransactions() {
        NewJob job = StoreFixture.newJob("times");
        db.dsl.transaction(tx -> {
            var began = tx.dsl()
                    .select(DSL.function(DSL.name("pg_catalog", "now"), DbTime.INSTANT))
                    .fetchSingle()
                    .value1();
            tx.dsl()
                    .select(DSL.function(DSL.name("pg_catalog", "pg_sleep"), SQLDataType.OTHER, DSL.inline(0.05)))
                    .fetch();
            Job created = db.store.in(tx).jobs().submit(job).job();
            assertThat(created.createdAt()).isAfter(began.plusMillis(49));
        });
    }

    @Test
    void callersSettings_changeNothing() {
        NewJob job = StoreFixture.newJob("settings");
        var odd = new org.jooq.conf.Settings()
                .withRenderSchema(false)
                .withRenderQuotedNames(org.jooq.conf.RenderQuotedNames.NEVER)
                .withStatementType(org.jooq.conf.StatementType.STATIC_STATEMENT);
        DSL.using(db.database.dataSource(), org.jooq.SQLDialect.POSTGRES, odd)
                .transaction(tx -> db.store.in(tx).jobs().submit(job));
        assertThat(db.get(job.id()).kind()).isEqualTo("settings");
    }

    @Test
    void connection_isTheCallersToCommit() throws Exception {
        NewJob job = StoreFixture.newJob("connection");
        try (Connection connection = db.database.unpooledDataSource().getConnection()) {
            connection.setAutoCommit(false);
            db.store.in(connection).jobs().submit(job);
            assertThat(db.jobs.get(job.id())).isEmpty();
            assertThat(connection.getAutoCommit()).isFalse();
            connection.rollback();
            assertThat(db.jobs.get(job.id())).isEmpty();
            db.store.in(connection).jobs().submit(job);
            connection.commit();
            assertThat(connection.isClosed()).isFalse();
        }
        assertThat(db.jobs.get(job.id())).isPresent();
    }

    @Test
    void connectionInNoTransaction_isRefused() throws Exception {
        NewJob job = StoreFixture.newJob("no-transaction");
        try (Connection connection = db.database.unpooledDataSource().getConnection()) {
            assertThatThrownBy(() -> db.store.in(connection).jobs().submit(job))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("setAutoCommit(false)");
        }
        assertThatThrownBy(() -> db.store.in(db.dsl.configuration()).jobs().submit(job))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no transaction");
        assertThat(db.jobs.get(job.id())).isEmpty();
    }

    /** A data source that hands out the caller's own connection must not make us commit the caller's transaction. */
    @Test
    void dataSourceThatTakesPartInTheCallersTransaction_isRefusedAndNothingIsCommitted() throws Exception {
        try (Connection connection = db.database.unpooledDataSource().getConnection()) {
            connection.setAutoCommit(false);
            PostgresStore store = PostgresStore.on(new SharedConnectionSource(connection), db.database.schema());
            insertBusinessRow(DSL.using(connection, db.dsl.settings()).configuration(), "shared");
            assertThatThrownBy(() -> store.jobs().get("some job"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Millrace.in(..)");
            connection.rollback();
        }
        assertThat(businessRow("shared")).isFalse();
    }

    /** Hands out one connection that nobody closes, as frameworks do for the length of a transaction. */
    private static final class SharedConnectionSource extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;
        private final transient Connection connection;

        SharedConnectionSource(Connection connection) {
            this.connection = connection;
        }

        @Override
        public Connection getConnection() {
            InvocationHandler unclosed = (proxy, method, args) -> {
                if (method.getName().equals("close")) {
                    return null;
                }
                try {
                    return method.invoke(connection, args);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            };
            return (Connection)
                    Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Connection.class}, unclosed);
        }
    }

    /** Serialization failures of our own transactions are ours to repeat. */
    @Test
    void poolOfAStricterIsolation_costsNoOperation() throws Exception {
        try (var pool = new HikariDataSource()) {
            pool.setDataSource(db.database.unpooledDataSource());
            pool.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
            PostgresStore store = PostgresStore.on(pool, db.database.schema());
            Claim claim = db.running("isolation");
            AtomicReference<CompletableFuture<Pulse>> progress = new AtomicReference<>();
            db.dsl.transaction(tx -> {
                tx.dsl()
                        .update(EXECUTION_JOBS)
                        .set(EXECUTION_JOBS.CURRENT_PHASE, "mine for now")
                        .where(EXECUTION_JOBS.OPERATION_ID.eq(claim.job().id()))
                        .execute();
                progress.set(OwnThread.supply(() -> store.work().progress(claim.attempt(), 50.0, null)));
                db.awaitLockWaiter();
            });
            assertThat(progress.get().get(30, TimeUnit.SECONDS)).isEqualTo(Pulse.HELD);
        }
    }

    @Test
    void poolWithoutAutoCommit_stillCommitsEachOperationAndGetsItsConnectionsBackAsTheyWere() throws Exception {
        try (var pool = new HikariDataSource()) {
            pool.setDataSource(db.database.unpooledDataSource());
            pool.setAutoCommit(false);
            pool.setMaximumPoolSize(1);
            NewJob job = StoreFixture.newJob("no-auto-commit");
            PostgresStore.on(pool, db.database.schema()).jobs().submit(job);
            assertThat(db.jobs.get(job.id())).isPresent();
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isFalse();
            }
        }
    }

    /** Elsewhere the other claims are worth more than that one; here they are gone with the transaction. */
    @Test
    void claim_ofOneThatCanNeitherBeReadNorEnded_tellsTheCaller() {
        String id = db.submit("broken").id();
        db.breakRecord(id, JsonText.of("null"));
        Condition failed = EXECUTION_JOBS.OPERATION_ID.eq(id).and(EXECUTION_JOBS.STATUS.eq(JobStatus.FAILED));
        db.whileRefused(failed, () -> {
            assertThatThrownBy(() ->
                            db.dsl.transaction(tx -> db.store.in(tx).work().claim(StoreFixture.request(1, "broken"))))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("refused_by_the_test");
        });
    }
}
