package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.OwnThread;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Controls;
import dev.millrace.store.JobQueue;
import dev.millrace.store.JobStore;
import dev.millrace.store.LeaseStore;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.store.WorkSource;
import dev.millrace.types.JsonText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.jooq.Condition;
import org.jooq.Constraint;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.SQLDialect;
import org.jooq.TransactionalRunnable;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;

/** The store of a test's own database, and short ways to what its tests do again and again. */
final class StoreFixture {
    static final List<ClaimRequest.Source> DEFAULT_SOURCE = List.of(new ClaimRequest.Source("managed", "default"));

    final TestDatabase database;
    final PostgresStore store;
    final JobStore jobs;
    final JobQueue queue;
    final WorkSource work;
    final ReconcilableJobs reconcilable;
    final LeaseStore leases;
    final Controls controls;
    /** Typed SQL on the same schema, for what a test must see or bend. */
    final DSLContext dsl;

    StoreFixture(TestDatabase database) {
        this.database = database;
        this.store = PostgresStore.on(database.dataSource(), database.schema());
        this.jobs = store.jobs();
        this.queue = store.queue();
        this.work = store.work();
        this.reconcilable = store.reconcilable();
        this.leases = store.leases();
        this.controls = store.controls();
        this.dsl = DSL.using(database.dataSource(), SQLDialect.POSTGRES, mapped(database.schema()));
    }

    static Settings mapped(String schema) {
        return new Settings()
                .withRenderMapping(new RenderMapping()
                        .withSchemata(new MappedSchema().withInput("millrace").withOutput(schema)));
    }

    /** Removes all jobs. */
    void clear() {
        dsl.deleteFrom(EXECUTION_JOBS).execute();
    }

    /** Waits until some session of this database waits for a lock that another one holds. */
    void awaitLockWaiter() {
        awaitLockWaiters(1);
    }

    /** Waits until so many do. */
    void awaitLockWaiters(int number) {
        Awaitility.await().atMost(java.time.Duration.ofSeconds(30)).until(() -> {
            try (Connection connection = database.unpooledDataSource().getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a"
                            + " ON a.pid = l.pid WHERE NOT l.granted AND a.datname = current_database()")) {
                return row.next() && row.getInt(1) >= number;
            }
        });
    }

    /** Fresh statistics, so that the planner chooses as it would in earnest. */
    void analyze() {
        try (Connection connection = database.unpooledDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("ANALYZE \"" + database.schema() + "\".execution_jobs");
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    /** Runs this in a transaction that is rolled back afterwards. */
    void undone(TransactionalRunnable run) {
        try {
            dsl.transaction(tx -> {
                run.run(tx);
                throw new UndoneException();
            });
        } catch (UndoneException e) {
            // as intended
        }
    }

    private static final class UndoneException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** Puts something into the job's record that is none. */
    void breakRecord(String id, JsonText record) {
        dsl.update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.RECORD, record)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
    }

    /** Lets the database refuse rows for which this is true, as a trigger of a user's might. */
    void whileRefused(Condition condition, Runnable run) {
        Constraint refusal = DSL.constraint("refused_by_the_test").check(DSL.not(condition));
        dsl.alterTable(EXECUTION_JOBS).add(refusal).execute();
        try {
            run.run();
        } finally {
            dsl.alterTable(EXECUTION_JOBS).drop(refusal).execute();
        }
    }

    /**
     * In a transaction of a caller's that waits for others and then goes on, also where sessions begin with a stricter
     * isolation, under which it would fail instead.
     */
    void readCommitted(TransactionalRunnable transaction) {
        dsl.transaction(tx -> {
            tx.dsl().execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
            transaction.run(tx);
        });
    }

    static String newId() {
        return "job-" + UUID.randomUUID();
    }

    static NewJob newJob(String kind) {
        return NewJob.of(newId(), kind, JsonText.of("{}"));
    }

    Job submit(NewJob job) {
        return jobs.submit(job).job();
    }

    Job submit(String kind) {
        return submit(newJob(kind));
    }

    /** A job of this kind that is claimed and running. */
    Claim running(String kind) {
        return running(newJob(kind));
    }

    Claim running(NewJob job) {
        submit(job);
        Claim claim = claimOne(job.spec().kind());
        work.start(claim.attempt());
        return claim;
    }

    Claim claimOne(String kind) {
        List<Claim> claims = claim(1, kind);
        if (claims.size() != 1) {
            throw new AssertionError("expected one claimable job of kind " + kind + ", found " + claims.size());
        }
        return claims.get(0);
    }

    List<Claim> claim(int limit, String... kinds) {
        return work.claim(request(limit, kinds));
    }

    static ClaimRequest request(int limit, String... kinds) {
        return ClaimRequest.of("worker-1", DEFAULT_SOURCE, List.of(kinds), limit);
    }

    Job get(String id) {
        return jobs.get(id).orElseThrow();
    }

    <T> T column(String id, Field<T> field) {
        return dsl.select(field)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .fetchSingle()
                .value1();
    }

    /** Lets time pass for a job: its heartbeat and claim become older. */
    void age(String id, Duration by) {
        dsl.update(EXECUTION_JOBS)
                .set(
                        EXECUTION_JOBS.LAST_HEARTBEAT_AT,
                        EXECUTION_JOBS.LAST_HEARTBEAT_AT.sub(DSL.val(by, DbTime.DURATION)))
                .set(EXECUTION_JOBS.CLAIMED_AT, EXECUTION_JOBS.CLAIMED_AT.sub(DSL.val(by, DbTime.DURATION)))
                .set(EXECUTION_JOBS.UPDATED_AT, EXECUTION_JOBS.UPDATED_AT.sub(DSL.val(by, DbTime.DURATION)))
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
    }

    /** Lets time pass for a job that waits: it came in earlier. */
    void makeOlder(String id) {
        Field<Duration> minute = DSL.val(Duration.ofMinutes(1), DbTime.DURATION);
        dsl.update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.CREATED_AT, EXECUTION_JOBS.CREATED_AT.sub(minute))
                .set(EXECUTION_JOBS.UPDATED_AT, EXECUTION_JOBS.UPDATED_AT.sub(minute))
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
    }

    /** Lets time pass for a queued job: it becomes due. */
    void makeDue(String id) {
        dsl.update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.QUEUE_VISIBLE_AT, DbTime.STATEMENT)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
    }

    /** Waits until the database's clock has gone past this. */
    void awaitTime(Instant time) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> now().isAfter(time));
    }

    Instant now() {
        return store.clock().now();
    }

    /** What this returns while someone else holds a lock; fails rather than hangs if it waits for that. */
    static <T> T withoutWaiting(Supplier<T> call) throws Exception {
        return OwnThread.supply(call).get(20, TimeUnit.SECONDS);
    }
}
