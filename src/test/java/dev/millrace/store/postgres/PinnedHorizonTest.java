package dev.millrace.store.postgres;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.store.WorkSource;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.worker.Worker;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;

/**
 * Field case A9: while some transaction has an old snapshot, nothing that is dead to everyone else can be cleared away. The
 * library is never the one who holds it up; and what others do to it passes when their transaction ends.
 */
@MillraceDatabase
@Timeout(120)
class PinnedHorizonTest {
    private static final JobType<JsonText> WORK = JobType.of("work", JsonText.class);
    private static final JsonText NOTHING = JsonText.of("{}");
    private static final int JOBS = 2_000;

    private final TestDatabase database;
    private final StoreFixture db;

    PinnedHorizonTest(TestDatabase database) {
        this.database = database;
        this.db = new StoreFixture(database);
    }

    @Test
    @DisabledIfEnvironmentVariable(
            named = "MILLRACE_DEVDB_POOLER",
            matches = ".+",
            disabledReason = "the sessions are PgBouncer's there, and nobody's by name")
    void handlerThatRuns_hasNoTransactionOfTheLibraryBehindIt() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.unpooledDataSource());
        config.setConnectionInitSql("SET application_name = 'pinned'");
        try (HikariDataSource pool = new HikariDataSource(config);
                Worker worker = Millrace.on(pool)
                        .withSchema(database.schema())
                        .worker()
                        .handle(WORK, (payload, context) -> {
                            context.progress(10);
                            started.countDown();
                            assertThat(gate.await(60, TimeUnit.SECONDS)).isTrue();
                        })
                        .pollInterval(Duration.ofMillis(20))
                        .start()) {
            Millrace millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
            Job job = millrace.submit(
                    WORK, NOTHING, heartbeat(new HeartbeatPolicy(Duration.ofMillis(50), Duration.ofSeconds(60))));
            assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
            String since = single("SELECT clock_timestamp()::text");
            assertThat(single("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pinned'"))
                    .isNotEqualTo("0");
            // Whatever it does goes on, in transactions that end: none is left of those that began before.
            await().until(() -> single("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pinned'"
                            + " AND xact_start <= '" + since + "'")
                    .equals("0"));
            gate.countDown();
            assertThat(millrace.await(job, Duration.ofSeconds(60)).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(worker.status().healthy()).isTrue();
        }
    }

    @Test
    void claims_costNoMore_whileAnOldSnapshotIsKept_butThoroughOnesDo_untilItIsGone() throws SQLException {
        submit(2 * JOBS);
        letThemBeOlder();
        LoadedTable.vacuumAndAnalyze(database);
        long before = costOfAClaim(false);
        try (Connection reader = database.unpooledDataSource().getConnection()) {
            reader.setAutoCommit(false);
            reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            try (Statement statement = reader.createStatement()) {
                statement.execute("SELECT 1");
            }
            for (int done = 0; done < JOBS; ) {
                for (Claim claim : db.work.claim(StoreFixture.request(50, WORK.kind()))) {
                    assertThat(db.work.start(claim.attempt())).isEqualTo(Pulse.HELD);
                    assertThat(db.work.finish(claim, new Finish.Succeed())).isTrue();
                    done++;
                }
            }
            LoadedTable.vacuum(database); // to no avail
            assertThat(costOfAClaim(true)).isGreaterThan(before + JOBS / 20);
            assertThat(costOfAClaim(false)).isLessThanOrEqualTo(before + before / 2);
            reader.rollback();
        }
        LoadedTable.vacuumAndAnalyze(database);
        assertThat(costOfAClaim(true)).isLessThanOrEqualTo(before + before / 2);
    }

    /** A minute, so that nothing of theirs may still be about to be committed. */
    private void letThemBeOlder() {
        db.dsl
                .update(EXECUTION_JOBS)
                .set(
                        EXECUTION_JOBS.QUEUE_VISIBLE_AT,
                        EXECUTION_JOBS.QUEUE_VISIBLE_AT.sub(DSL.val(Duration.ofMinutes(1), DbTime.DURATION)))
                .execute();
    }

    private void submit(int number) {
        Millrace.on(database.dataSource())
                .withSchema(database.schema())
                .submitAll(
                        WORK, IntStream.range(0, number).mapToObj(n -> NOTHING).toList());
    }

    /** In buffers; of one that is not the first of its store. Nothing comes of it. */
    private long costOfAClaim(boolean thorough) throws SQLException {
        try (PlanRecorder recorder = new PlanRecorder(database, PlanRecorder.Mode.AUTO)) {
            WorkSource work = db.store.in(recorder.connection()).work();
            assertThat(work.claim(StoreFixture.request(1, WORK.kind()))).hasSize(1);
            recorder.take();
            ClaimRequest request = StoreFixture.request(1, WORK.kind());
            assertThat(work.claim(thorough ? request : request.quick())).hasSize(1);
            return recorder.take().stream().mapToLong(Plan::buffers).sum();
        }
    }

    private String single(String sql) throws SQLException {
        try (Connection connection = database.unpooledDataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            assertThat(rows.next()).isTrue();
            return rows.getString(1);
        }
    }
}
