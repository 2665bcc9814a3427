package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_ENTRIES;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_EVENT_IDENTITIES;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_STREAMS;
import static dev.millrace.jooq.Tables.LEASES;
import static dev.millrace.jooq.Tables.RESULT_PACKAGES;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.recovery.RetentionReport;
import dev.millrace.recovery.RetentionSettings;
import dev.millrace.recovery.RetentionSweeper;
import dev.millrace.store.Claim;
import dev.millrace.store.Retention;
import dev.millrace.store.Retention.Subject;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/** Field case A24, with {@code -Dretention.jobs=1000000} at its full size. */
@Tag("size")
@MillraceDatabase
@Timeout(1_800)
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RetentionAtSizeTest {
    private static final int JOBS = Integer.getInteger("millrace.retention.jobs", 30_000);
    private static final int LIVE = 300;
    private static final int LOGS = JOBS / 30;
    private static final Field<Integer> PG_BACKEND_PID =
            DSL.function(DSL.name("pg_catalog", "pg_backend_pid"), SQLDataType.INTEGER);
    private static final Field<Integer> NUMBER = DSL.field(DSL.name("s", "n"), SQLDataType.INTEGER);

    private final StoreFixture db;

    RetentionAtSizeTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    /** Terminal jobs, each with a result and every thirtieth with a log; and jobs that have not ended, in the midst. */
    @BeforeAll
    void fill() {
        for (int i = 0; i < LIVE; i++) {
            db.submit("live");
        }
        db.dsl.update(EXECUTION_JOBS).set(EXECUTION_JOBS.EXPIRES_AT, ago(1_000)).execute();
        String template = db.submit("ended").id();
        List<Field<?>> values = new ArrayList<>();
        List<Field<?>> columns = List.of(EXECUTION_JOBS.fields());
        for (Field<?> column : columns) {
            if (column.equals(EXECUTION_JOBS.OPERATION_ID)) {
                values.add(DSL.concat(DSL.inline("ended-"), NUMBER));
            } else if (column.equals(EXECUTION_JOBS.STATUS)) {
                values.add(JobRows.literal(JobStatus.SUCCEEDED));
            } else if (column.equals(EXECUTION_JOBS.EXPIRES_AT)) {
                values.add(agoByNumber());
            } else if (column.equals(EXECUTION_JOBS.QUEUE_PRIORITY) || column.equals(EXECUTION_JOBS.QUEUE_VISIBLE_AT)) {
                values.add(DSL.val((Object) null, column));
            } else {
                values.add(column);
            }
        }
        db.dsl
                .insertInto(EXECUTION_JOBS, columns)
                .select(DSL.select(values)
                        .from(EXECUTION_JOBS)
                        .crossJoin(DSL.generateSeries(1, JOBS).as("s", "n"))
                        .where(EXECUTION_JOBS.OPERATION_ID.eq(template)))
                .execute();
        db.dsl
                .deleteFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(template))
                .execute();
        insertDependents();
        analyze();
    }

    private void insertDependents() {
        Field<String> id = DSL.concat(DSL.inline("ended-"), NUMBER);
        db.dsl
                .insertInto(
                        RESULT_PACKAGES, RESULT_PACKAGES.JOB_ID, RESULT_PACKAGES.PACKAGE, RESULT_PACKAGES.EXPIRES_AT)
                .select(DSL.select(id, DSL.val(JsonText.of("{\"a\":1}"), RESULT_PACKAGES.PACKAGE), agoByNumber())
                        .from(DSL.generateSeries(1, JOBS).as("s", "n")))
                .execute();
        db.dsl
                .insertInto(
                        EXECUTION_JOB_LOG_STREAMS,
                        EXECUTION_JOB_LOG_STREAMS.OPERATION_ID,
                        EXECUTION_JOB_LOG_STREAMS.APPENDED_COUNT,
                        EXECUTION_JOB_LOG_STREAMS.EXPIRES_AT)
                .select(DSL.select(id, DSL.inline(20L), agoByNumber())
                        .from(DSL.generateSeries(1, LOGS).as("s", "n")))
                .execute();
        Field<Integer> line = DSL.field(DSL.name("l", "n"), SQLDataType.INTEGER);
        db.dsl
                .insertInto(
                        EXECUTION_JOB_LOG_ENTRIES,
                        EXECUTION_JOB_LOG_ENTRIES.OPERATION_ID,
                        EXECUTION_JOB_LOG_ENTRIES.SEQUENCE,
                        EXECUTION_JOB_LOG_ENTRIES.ENTRY)
                .select(DSL.select(
                                id,
                                line.cast(SQLDataType.BIGINT),
                                DSL.val(JsonText.of("{\"level\":\"INFO\"}"), EXECUTION_JOB_LOG_ENTRIES.ENTRY))
                        .from(DSL.generateSeries(1, LOGS).as("s", "n"))
                        .crossJoin(DSL.generateSeries(0, 19).as("l", "n")))
                .execute();
        db.dsl
                .insertInto(
                        EXECUTION_JOB_LOG_EVENT_IDENTITIES,
                        EXECUTION_JOB_LOG_EVENT_IDENTITIES.OPERATION_ID,
                        EXECUTION_JOB_LOG_EVENT_IDENTITIES.EVENT_ID)
                .select(DSL.select(id, DSL.concat(DSL.inline("e"), line))
                        .from(DSL.generateSeries(1, LOGS).as("s", "n"))
                        .crossJoin(DSL.generateSeries(0, 19).as("l", "n")))
                .execute();
        db.dsl
                .insertInto(LEASES, LEASES.LEASE_KEY, LEASES.OWNER_ID, LEASES.EXPIRES_AT)
                .select(DSL.select(id, DSL.inline("me"), agoByNumber())
                        .from(DSL.generateSeries(1, JOBS / 10).as("s", "n")))
                .execute();
    }

    private static Field<Instant> ago(int seconds) {
        return DbTime.minus(DbTime.STATEMENT, DSL.val(Duration.ofSeconds(seconds), DbTime.DURATION));
    }

    private static Field<Instant> agoByNumber() {
        return DbTime.STATEMENT.sub(
                DSL.val(Duration.ofMillis(1), DbTime.DURATION).mul(NUMBER));
    }

    private void analyze() {
        try (Connection connection = db.database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String table : List.of("execution_jobs", "execution_job_log_streams", "result_packages", "leases")) {
                statement.execute("ANALYZE \"" + db.database.schema() + "\"." + table);
            }
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Order(1)
    void everyBatch_isPickedByTheIndexOnItsExpiry_withoutAScanOrSort() throws SQLException {
        for (Subject subject : Subject.values()) {
            int limit = subject == Subject.LOGS ? 10 : 1_000;
            String plan = String.join("\n", explain(statementOf(subject, limit)));
            assertThat(plan)
                    .as("%s", subject)
                    .contains(subject == Subject.JOBS ? "idx_execution_jobs_expired" : "expires_at")
                    .doesNotContain("Seq Scan")
                    .doesNotContain("Sort");
        }
    }

    private String statementOf(Subject subject, int limit) {
        AtomicReference<String> sql = new AtomicReference<>("");
        PostgresStore store = PostgresStore.on(capturing(sql), db.database.schema());
        store.clock().now(); // past the gate
        try {
            store.retention().sweep(subject, limit);
        } catch (CapturedException e) {
            return sql.get().replace("?", "'P1D'");
        }
        throw new AssertionError("nothing was sent");
    }

    private static final class CapturedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** Connections that keep the text of a statement that deletes, and don't run it. */
    private DataSource capturing(AtomicReference<String> sql) {
        return proxy(DataSource.class, db.database.dataSource(), (method, result, arguments) -> {
            if (!(result instanceof Connection connection)) {
                return result;
            }
            return proxy(Connection.class, connection, (called, statement, given) -> {
                if (called.equals("prepareStatement")
                        && String.valueOf(given[0]).contains("delete from")) {
                    sql.set(String.valueOf(given[0]));
                    throw new CapturedException();
                }
                return statement;
            });
        });
    }

    private interface After {
        Object apply(String method, Object result, Object[] arguments);
    }

    private static <T> T proxy(Class<T> type, T target, After after) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    try {
                        return after.apply(method.getName(), method.invoke(target, arguments), arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private List<String> explain(String sql) throws SQLException {
        List<String> plan = new ArrayList<>();
        try (Connection connection = db.database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("EXPLAIN " + sql)) {
            while (rows.next()) {
                plan.add(rows.getString(1));
            }
        }
        return plan;
    }

    /** Each batch in a transaction of its own, under a statement_timeout. */
    private Retention impatient() {
        return impatient((batch, inside) -> {});
    }

    /** @param beforeCommit is given each batch of jobs once it is deleted, and what its transaction goes on with */
    private Retention impatient(BiConsumer<Retention.Batch, DSLContext> beforeCommit) {
        return (subject, limit) -> db.dsl.transactionResult(tx -> {
            DSLContext inside = tx.dsl();
            inside.select(DSL.function(
                            DSL.name("pg_catalog", "set_config"),
                            String.class,
                            DSL.inline("statement_timeout"),
                            DSL.inline("5s"),
                            DSL.inline(true)))
                    .fetch();
            Retention.Batch batch = db.store.in(tx).retention().sweep(subject, limit);
            if (subject == Subject.JOBS) {
                beforeCommit.accept(batch, inside);
            }
            return batch;
        });
    }

    @Test
    @Order(2)
    void sweep_goesInSmallCommittedBatches_keepsWhatItHasDoneWhenItIsKilled_andLetsClaimsGoOn() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Integer> claims = OwnThread.supply(() -> {
            int claimed = 0;
            while (!done.get() || claimed < LIVE) {
                List<Claim> some = db.claim(1, "live");
                claimed += some.size();
                if (some.isEmpty()) {
                    assertThat(claimed).isEqualTo(LIVE);
                    return claimed;
                }
            }
            return claimed;
        });

        RetentionReport killed = sweepAnd(3_000, (sweeper, inside) -> kill(inside));
        assertThat(killed.failure()).isNotNull();
        assertThat(JOBS - ended())
                .as("what was committed stays, and nothing else has gone")
                .isIn(killed.jobs(), killed.jobs() + 1_000);

        long afterTheKill = JOBS - ended();
        RetentionReport half = sweepAnd(3_000, (sweeper, inside) -> sweeper.close());
        assertThat(half.failure()).isNull();
        assertThat(half.jobs()).isGreaterThanOrEqualTo(3_000L);
        long gone = JOBS - ended();
        assertThat(gone).isEqualTo(afterTheKill + half.jobs());

        int logs = db.dsl.fetchCount(EXECUTION_JOB_LOG_STREAMS);
        int results = db.dsl.fetchCount(RESULT_PACKAGES);
        int leases = db.dsl.fetchCount(LEASES);
        RetentionReport rest = new RetentionSweeper(RetentionSettings.DEFAULT, impatient()).tick();
        done.set(true);

        assertThat(rest.failure()).isNull();
        assertThat(gone + rest.jobs()).isEqualTo(JOBS);
        assertThat(rest.logs()).isEqualTo(logs);
        assertThat(rest.results()).isEqualTo(results);
        assertThat(rest.leases()).isEqualTo(leases);
        assertThat(db.dsl.fetchCount(EXECUTION_JOB_LOG_STREAMS)).isZero();
        assertThat(db.dsl.fetchCount(RESULT_PACKAGES)).isZero();
        assertThat(db.dsl.fetchCount(LEASES)).isZero();
        assertThat(db.dsl.fetchCount(EXECUTION_JOB_LOG_ENTRIES)).isZero();
        assertThat(db.dsl.fetchCount(EXECUTION_JOB_LOG_EVENT_IDENTITIES)).isZero();
        assertThat(claims.get(60, TimeUnit.SECONDS)).isEqualTo(LIVE);
        assertThat(db.dsl.fetchCount(EXECUTION_JOBS)).isEqualTo(LIVE);
    }

    /** Sweeps, and does something in the first batch after so many jobs, when it is deleted and not yet committed. */
    private RetentionReport sweepAnd(int number, BiConsumer<RetentionSweeper, DSLContext> then) throws Exception {
        AtomicReference<RetentionSweeper> sweeper = new AtomicReference<>();
        AtomicInteger deleted = new AtomicInteger();
        sweeper.set(new RetentionSweeper(RetentionSettings.DEFAULT, impatient((batch, inside) -> {
            if (deleted.getAndAdd(batch.deleted()) >= number) {
                then.accept(sweeper.get(), inside);
            }
        })));
        long before = ended();
        CompletableFuture<RetentionReport> report = OwnThread.supply(sweeper.get()::tick);
        do {
            assertThat((before - ended()) % 1_000).as("whole batches only").isZero();
        } while (!report.isDone());
        return report.get();
    }

    /** Ends the session of this transaction, as an administrator does, and waits until it has ended. */
    private void kill(DSLContext transaction) {
        int session = transaction.select(PG_BACKEND_PID).fetchSingle(PG_BACKEND_PID);
        try (Connection connection = db.database.unpooledDataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement("SELECT pg_terminate_backend(?, 30000)")) {
            statement.setInt(1, session);
            statement.execute();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private long ended() {
        return db.dsl.fetchCount(EXECUTION_JOBS, EXECUTION_JOBS.STATUS.eq(JobStatus.SUCCEEDED));
    }
}
