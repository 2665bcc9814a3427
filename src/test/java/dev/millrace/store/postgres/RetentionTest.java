package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_ENTRIES;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_EVENT_IDENTITIES;
import static dev.millrace.jooq.Tables.EXECUTION_JOB_LOG_STREAMS;
import static dev.millrace.jooq.Tables.LEASES;
import static dev.millrace.jooq.Tables.RESULT_PACKAGES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogEntry.Level;
import dev.millrace.store.Retention;
import dev.millrace.store.Retention.Batch;
import dev.millrace.store.Retention.Subject;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a batch of the retention sweep deletes, and what it leaves. */
@MillraceDatabase
class RetentionTest {
    private final StoreFixture db;

    RetentionTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.clear();
        db.dsl.deleteFrom(EXECUTION_JOB_LOG_STREAMS).execute();
        db.dsl.deleteFrom(RESULT_PACKAGES).execute();
        db.dsl.deleteFrom(LEASES).execute();
    }

    private Batch sweep(Subject subject, int limit) {
        return db.store.retention().sweep(subject, limit);
    }

    /** A job in this state, over its retention. */
    private String job(JobStatus status) {
        String id = db.submit("k").id();
        setStatus(db.dsl, id, status);
        expire(id);
        return id;
    }

    private static void setStatus(DSLContext dsl, String id, JobStatus status) {
        dsl.update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.STATUS, status)
                .setNull(EXECUTION_JOBS.QUEUE_PRIORITY)
                .setNull(EXECUTION_JOBS.QUEUE_VISIBLE_AT)
                .setNull(EXECUTION_JOBS.CLAIM_TOKEN)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
    }

    private void expire(String id) {
        db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.EXPIRES_AT, ago(Duration.ofSeconds(1)))
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
    }

    private static Field<Instant> ago(Duration time) {
        return DbTime.STATEMENT.sub(DSL.val(time, DbTime.DURATION));
    }

    private void log(String id, Duration retention) {
        db.store.logs().append(id, List.of(LogEntry.of(1, Level.INFO, "x").withEventId("e")));
        db.store.logs().setRetention(id, retention);
    }

    private boolean hasLog(String id) {
        return db.store.logs().tail(id, 1).appended() > 0;
    }

    private Instant logExpiry(String id) {
        return db.dsl
                .select(EXECUTION_JOB_LOG_STREAMS.EXPIRES_AT)
                .from(EXECUTION_JOB_LOG_STREAMS)
                .where(EXECUTION_JOB_LOG_STREAMS.OPERATION_ID.eq(id))
                .fetchSingle()
                .value1();
    }

    @ParameterizedTest
    @EnumSource(
            value = JobStatus.class,
            names = {"SUCCEEDED", "FAILED", "CANCELLED"})
    void jobsThatHaveEnded_goAfterTheirRetention(JobStatus status) {
        String expired = job(status);
        String kept = db.submit("k").id();
        setStatus(db.dsl, kept, status);

        assertThat(sweep(Subject.JOBS, 10)).isEqualTo(new Batch(1, 0, null));
        assertThat(db.jobs.get(expired)).isEmpty();
        assertThat(db.jobs.get(kept)).isPresent();
    }

    @Test
    void jobsThatHaveNotEnded_stay_whateverTheirExpirySays() {
        String queued = db.submit("k").id();
        expire(queued);
        String running = db.running("r").job().id();
        expire(running);

        assertThat(sweep(Subject.JOBS, 10).size()).isZero();
        assertThat(db.jobs.get(queued)).isPresent();
        assertThat(db.jobs.get(running)).isPresent();
    }

    @Test
    void batch_deletesThoseFirstThatExpiredFirst_andNotMoreThanItsLimit() {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            String id = job(JobStatus.SUCCEEDED);
            ids.add(id);
            db.dsl
                    .update(EXECUTION_JOBS)
                    .set(EXECUTION_JOBS.EXPIRES_AT, ago(Duration.ofMinutes(10 + i)))
                    .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                    .execute();
        }
        assertThat(sweep(Subject.JOBS, 2).deleted()).isEqualTo(2);
        assertThat(db.jobs.get(ids.get(4))).isEmpty();
        assertThat(db.jobs.get(ids.get(3))).isEmpty();
        assertThat(sweep(Subject.JOBS, 10).deleted()).isEqualTo(3);
    }

    @Test
    void logs_goWithTheirLinesAndEventIds_onceTheirJobHasEndedOrIsGone() {
        String ended = job(JobStatus.FAILED);
        String active = db.running("k").job().id();
        for (String id : List.of("gone", ended, active)) {
            log(id, Duration.ZERO);
        }
        log("kept", Duration.ofDays(1));

        assertThat(sweep(Subject.LOGS, 10)).isEqualTo(new Batch(2, 1, null));
        assertThat(hasLog("gone")).isFalse();
        assertThat(hasLog(ended)).isFalse();
        assertThat(hasLog(active)).isTrue();
        assertThat(hasLog("kept")).isTrue();
        assertThat(db.dsl.fetchCount(EXECUTION_JOB_LOG_ENTRIES)).isEqualTo(2);
        assertThat(db.dsl.fetchCount(EXECUTION_JOB_LOG_EVENT_IDENTITIES)).isEqualTo(2);
        assertThat(db.jobs.get(ended)).isPresent();
    }

    /** Or the logs of jobs that have waited for long would be in the way of all others, each time. */
    @Test
    void logsOfActiveJobs_areLookedAtOnceADay() {
        List<String> active = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            String id = db.submit("k").id();
            active.add(id);
            log(id, Duration.ZERO);
        }
        log("gone", Duration.ZERO);

        int deleted = 0;
        for (int batch = 0; batch < 4; batch++) {
            deleted += sweep(Subject.LOGS, 10).deleted();
        }
        assertThat(deleted).isEqualTo(1);
        assertThat(sweep(Subject.LOGS, 10).size()).isZero();
        for (String id : active) {
            assertThat(logExpiry(id))
                    .isBetween(db.now().plus(Duration.ofHours(23)), db.now().plus(Duration.ofHours(24)));
        }
    }

    @Test
    void results_andLeases_goAfterTheirTime() {
        db.store.results().put("a", JsonText.of("1"), Duration.ZERO);
        db.store.results().put("b", JsonText.of("1"), Duration.ofDays(1));
        for (int i = 0; i < 2; i++) {
            db.dsl
                    .insertInto(LEASES, LEASES.LEASE_KEY, LEASES.OWNER_ID, LEASES.EXPIRES_AT)
                    .select(DSL.select(
                            DSL.inline("lease-" + i), DSL.inline("me"), ago(Duration.ofDays(i == 0 ? 1 : -1))))
                    .execute();
        }
        assertThat(sweep(Subject.RESULTS, 10).deleted()).isEqualTo(1);
        assertThat(sweep(Subject.LEASES, 10).deleted()).isEqualTo(1);
        assertThat(db.store.results().get("b")).isPresent();
        assertThat(db.dsl.fetchValues(LEASES.LEASE_KEY)).containsExactly("lease-1");
    }

    @Test
    void lockedRows_areLeftWithoutWaiting() {
        String locked = job(JobStatus.SUCCEEDED);
        String free = job(JobStatus.SUCCEEDED);
        log("locked", Duration.ZERO);
        log("free", Duration.ZERO);
        String ended = job(JobStatus.FAILED);
        log(ended, Duration.ZERO);
        db.dsl.transaction(tx -> {
            tx.dsl()
                    .selectFrom(EXECUTION_JOBS)
                    .where(EXECUTION_JOBS.OPERATION_ID.in(locked, ended))
                    .forNoKeyUpdate()
                    .fetch();
            tx.dsl()
                    .selectFrom(EXECUTION_JOB_LOG_STREAMS)
                    .where(EXECUTION_JOB_LOG_STREAMS.OPERATION_ID.eq("locked"))
                    .forNoKeyUpdate()
                    .fetch();
            assertThat(StoreFixture.withoutWaiting(() -> sweep(Subject.JOBS, 10).deleted()))
                    .isEqualTo(1);
            assertThat(StoreFixture.withoutWaiting(() -> sweep(Subject.LOGS, 10)))
                    .isEqualTo(new Batch(1, 1, null));
        });
        assertThat(db.jobs.get(locked)).isPresent();
        assertThat(db.jobs.get(free)).isEmpty();
        assertThat(hasLog("locked")).isTrue();
        assertThat(hasLog("free")).isFalse();
        assertThat(hasLog(ended)).isTrue();
    }

    /** A row that refers to a job and isn't committed yet holds it as well. */
    @Test
    void jobThatIsBeingReferredTo_isLeftWithoutWaiting() {
        String id = job(JobStatus.SUCCEEDED);
        withOrders("", () -> {
            db.dsl.transaction(tx -> {
                order(tx.dsl(), id);
                assertThat(StoreFixture.withoutWaiting(
                                () -> sweep(Subject.JOBS, 10).size()))
                        .isZero();
            });
            assertThat(db.jobs.get(id)).isPresent();
        });
    }

    /** A retry by hand that is under way: the sweep comes first or last, and in no case deletes the job that runs again. */
    @Test
    void retryByHand_whileTheSweepRuns_keepsTheJobAndItsLog() throws Exception {
        String id = job(JobStatus.FAILED);
        log(id, Duration.ZERO);
        db.dsl.transaction(tx -> {
            setStatus(tx.dsl(), id, JobStatus.QUEUED);
            assertThat(StoreFixture.withoutWaiting(() -> sweep(Subject.JOBS, 10).size()))
                    .isZero();
            assertThat(StoreFixture.withoutWaiting(() -> sweep(Subject.LOGS, 10).deleted()))
                    .isZero();
        });
        assertThat(sweep(Subject.JOBS, 10).size()).isZero();
        assertThat(sweep(Subject.LOGS, 10).deleted()).isZero();
        assertThat(db.get(id).status()).isEqualTo(JobStatus.QUEUED);
        assertThat(hasLog(id)).isTrue();
    }

    /** The same, committed after the sweep has taken its snapshot: the condition is checked again on the locked row. */
    @Test
    void retryByHand_betweenSnapshotAndLock_keepsTheJobAndItsLog() throws Exception {
        for (Subject subject : List.of(Subject.JOBS, Subject.LOGS)) {
            for (int round = 0; round < 60; round++) {
                String id = job(JobStatus.FAILED);
                log(id, Duration.ZERO);
                CompletableFuture<Batch> batch = OwnThread.supply(() -> sweep(subject, 10));
                AtomicInteger retried = new AtomicInteger();
                db.readCommitted(tx -> retried.set(tx.dsl()
                        .update(EXECUTION_JOBS)
                        .set(EXECUTION_JOBS.STATUS, JobStatus.QUEUED)
                        .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                        .execute()));
                Batch done = batch.get(30, TimeUnit.SECONDS);
                if (subject == Subject.JOBS) {
                    assertThat(retried).as("retried or deleted").hasValue(1 - done.deleted());
                } else {
                    assertThat(hasLog(id)).isEqualTo(done.deleted() == 0);
                }
                empty();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ON DELETE RESTRICT"})
    void jobThatAForeignKeyHolds_isPostponedForADay_andTheOthersGo(String onDelete) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            ids.add(job(JobStatus.SUCCEEDED));
        }
        List<String> held = List.of(ids.get(3), ids.get(12));
        withOrders(onDelete, () -> {
            held.forEach(id -> order(db.dsl, id));

            Batch batch = sweep(Subject.JOBS, 20);

            assertThat(batch.deleted()).isEqualTo(18);
            assertThat(batch.postponed()).isEqualTo(2);
            assertThat(batch.heldBy()).contains("orders_job_fkey").contains("orders");
            for (String id : held) {
                assertThat(db.get(id).version()).isEqualTo(1);
                assertThat(db.column(id, EXECUTION_JOBS.EXPIRES_AT))
                        .isBetween(db.now().plus(Duration.ofHours(23)), db.now().plus(Duration.ofHours(24)));
            }
            assertThat(sweep(Subject.JOBS, 20).size()).isZero();
        });
    }

    /** A trigger of a user's, for jobs that the law wants to be kept. */
    @Test
    void jobThatATriggerRefuses_isPostponedForADay_andTheOthersGo() {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            ids.add(job(JobStatus.SUCCEEDED));
        }
        String schema = "\"" + db.database.schema() + "\".";
        execute("CREATE FUNCTION " + schema + "keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                + " IF OLD.operation_id = '" + ids.get(4) + "' THEN RAISE 'legal hold'; END IF; RETURN OLD; END $$");
        execute("CREATE TRIGGER keep BEFORE DELETE ON " + schema + "execution_jobs FOR EACH ROW EXECUTE FUNCTION "
                + schema + "keep()");
        try {
            Batch batch = sweep(Subject.JOBS, 10);
            assertThat(batch.deleted()).isEqualTo(9);
            assertThat(batch.postponed()).isEqualTo(1);
            assertThat(batch.heldBy()).contains("legal hold");
            assertThat(sweep(Subject.JOBS, 10).size()).isZero();
        } finally {
            execute("DROP TRIGGER keep ON " + schema + "execution_jobs");
            execute("DROP FUNCTION " + schema + "keep()");
        }
    }

    /** A hold that is set while a sweep is under way stops what is left of it. */
    @Test
    void jobThatAForeignKeyHolds_isNotPostponedOnceThereIsAHold() {
        InterruptedSource source = new InterruptedSource(db.database.dataSource());
        Retention retention = PostgresStore.on(source, db.database.schema()).retention();
        retention.sweep(Subject.JOBS, 10);
        String id = job(JobStatus.SUCCEEDED);
        Instant expiresAt = db.column(id, EXECUTION_JOBS.EXPIRES_AT);
        withOrders("", () -> {
            order(db.dsl, id);
            source.before(4, () -> db.controls.hold("ops", null)); // after all, their ids, and this one
            try {
                assertThat(retention.sweep(Subject.JOBS, 10).size()).isZero();
                assertThat(source.happened()).isTrue();
            } finally {
                db.controls.release("ops");
            }
            assertThat(db.column(id, EXECUTION_JOBS.EXPIRES_AT)).isEqualTo(expiresAt);
            assertThat(retention.sweep(Subject.JOBS, 10).postponed()).isEqualTo(1);
        });
    }

    @Test
    void jobWhoseForeignKeyLetsGo_isDeleted() {
        String id = job(JobStatus.SUCCEEDED);
        withOrders("ON DELETE SET NULL", () -> {
            order(db.dsl, id);
            assertThat(sweep(Subject.JOBS, 10)).isEqualTo(new Batch(1, 0, null));
        });
    }

    private void withOrders(String onDelete, Runnable test) {
        String orders = "\"" + db.database.schema() + "\".orders";
        execute("CREATE TABLE " + orders + " (job text, CONSTRAINT orders_job_fkey FOREIGN KEY (job) REFERENCES \""
                + db.database.schema() + "\".execution_jobs " + onDelete + ")");
        try {
            test.run();
        } finally {
            execute("DROP TABLE " + orders);
        }
    }

    private void order(DSLContext dsl, String jobId) {
        dsl.insertInto(DSL.table(DSL.name(db.database.schema(), "orders")))
                .values(jobId)
                .execute();
    }

    private void execute(String sql) {
        try (Connection connection = db.database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void limitBelowOne_isRefused() {
        assertThatThrownBy(() -> sweep(Subject.JOBS, 0)).isInstanceOf(InvalidJobException.class);
    }

    /** Field case A7. */
    @Test
    void batch_underAnyPlan_deletesNoMoreThanItsLimit() {
        for (int i = 0; i < 60; i++) {
            String id = job(JobStatus.SUCCEEDED);
            log(i % 2 == 0 ? id : "log-" + i, Duration.ZERO);
            db.store.results().put(id, JsonText.of("1"), Duration.ZERO);
            db.dsl
                    .insertInto(LEASES, LEASES.LEASE_KEY, LEASES.OWNER_ID, LEASES.EXPIRES_AT)
                    .select(DSL.select(DSL.val("lease-" + i), DSL.inline("me"), ago(Duration.ofDays(1))))
                    .execute();
        }
        for (List<String> off : ClaimTest.planners()) {
            for (Subject subject : Subject.values()) {
                db.undone(tx -> {
                    for (String setting : off) {
                        tx.dsl()
                                .select(DSL.function(
                                        DSL.name("pg_catalog", "set_config"),
                                        String.class,
                                        DSL.inline(setting),
                                        DSL.inline("off"),
                                        DSL.inline(true)))
                                .fetch();
                    }
                    assertThat(db.store.in(tx).retention().sweep(subject, 7).deleted())
                            .as("%s without %s", subject, off)
                            .isEqualTo(7);
                });
            }
        }
    }
}
