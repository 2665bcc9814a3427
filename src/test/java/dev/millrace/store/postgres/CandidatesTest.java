package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.ReconcilableJobs.Candidate;
import dev.millrace.types.JobStatus;
import dev.millrace.types.Priority;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jooq.Configuration;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the loop of every few seconds looks at, and what it costs beside a deep backlog. */
@MillraceDatabase
class CandidatesTest {
    private final StoreFixture db;

    CandidatesTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.controls.release("test");
        db.clear();
    }

    private List<String> candidates() {
        return db.reconcilable.candidates(null, 100).stream()
                .map(Candidate::jobId)
                .toList();
    }

    private Job remote() {
        NewJob job = StoreFixture.newJob("k");
        return db.submit(job.withSpec(job.spec().withBackend("farm")));
    }

    private Job running() {
        Job job = remote();
        db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.STATUS, JobStatus.RUNNING)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                .execute();
        return job;
    }

    @Test
    void neverClaimedJobs_inTheLocalQueue_areNone() {
        db.submit("k");
        assertThat(candidates()).isEmpty();
    }

    @Test
    void jobsOfBackends_are_inAnyStatusButAFinalOne() {
        Job queued = remote();
        Job claimed = running();
        assertThat(candidates()).containsExactlyInAnyOrder(queued.id(), claimed.id());
    }

    @Test
    void queuedLocalJobs_thatAreToBeCancelled_orShowProgress_are() {
        Job unwanted = db.submit("k");
        db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.CANCELLATION_REQUESTED, true)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(unwanted.id()))
                .execute();
        Job putBack = db.submit("k");
        db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.ATTEMPT_COUNT, 1)
                .set(EXECUTION_JOBS.CURRENT_PHASE, "half")
                .where(EXECUTION_JOBS.OPERATION_ID.eq(putBack.id()))
                .execute();
        assertThat(candidates()).containsExactlyInAnyOrder(unwanted.id(), putBack.id());
    }

    /** Workers and the other reconciler look after these, of which there may be many. */
    @Test
    void otherLocalJobs_areNone() {
        Claim running = db.running("k");
        db.jobs.cancel(running.job().id(), null, null);
        Claim retrying = db.running("k");
        db.work.finish(retrying, new Finish.Retry(Duration.ofHours(1), "again"));
        Job unplaced = db.submit("k");
        db.queue.remove(unplaced.id());
        db.submit("provisioning");
        db.claimOne("provisioning");
        assertThat(candidates()).isEmpty();
    }

    @Test
    void endedJobs_areNone() {
        Claim done = db.running("k");
        db.work.finish(done, new Finish.Succeed());
        Claim failed = db.running("k");
        db.work.finish(failed, new Finish.Fail("broken", Finish.Fail.Reason.HANDLER));
        db.jobs.cancel(remote().id(), null, null);
        assertThat(candidates()).isEmpty();
    }

    @Test
    void candidate_saysWhatTheLoopDecidesBy() {
        Job remote = remote();
        Job later = remote();
        Instant due = db.store.clock().now().plus(Duration.ofHours(1));
        db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.NEXT_RETRY_AT, due)
                .set(EXECUTION_JOBS.CANCELLATION_REQUESTED, true)
                .set(EXECUTION_JOBS.PERCENT_COMPLETE, 5.0)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(later.id()))
                .execute();
        assertThat(db.reconcilable.candidates(null, 100))
                .containsExactlyInAnyOrder(
                        new Candidate(
                                remote.id(),
                                JobStatus.QUEUED,
                                1,
                                "farm",
                                false,
                                true,
                                false,
                                Priority.NORMAL,
                                remote.createdAt()),
                        new Candidate(
                                later.id(), JobStatus.QUEUED, 1, "farm", true, false, true, Priority.NORMAL, due));
    }

    @Test
    void candidates_comeInPages_eachOnce() {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            expected.add(remote().id());
            db.running("k");
            expected.add(running().id());
        }
        List<String> seen = new ArrayList<>();
        List<Candidate> page = db.reconcilable.candidates(null, 2);
        while (!page.isEmpty()) {
            assertThat(page).hasSizeLessThanOrEqualTo(2);
            page.forEach(candidate -> seen.add(candidate.jobId()));
            page = db.reconcilable.candidates(page.get(page.size() - 1), 2);
        }
        assertThat(seen).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(seen).doesNotHaveDuplicates();
    }

    @Test
    void limitBelowOne_isRefused() {
        assertThatThrownBy(() -> db.reconcilable.candidates(null, 0)).isInstanceOf(InvalidJobException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"force_generic_plan", "force_custom_plan"})
    void deepBacklogAndHistory_costTheRecoveryNothing(String mode) throws SQLException {
        for (int i = 0; i < 20; i++) {
            db.running("k");
            remote();
        }
        insert(8_000, "Queued", "2, now()");
        insert(8_000, "Succeeded", "null, null");
        vacuum();
        db.undone(tx -> {
            plan(tx, mode);
            long rows = blocks(tx, "execution_jobs");
            long ids = blocks(tx, "execution_jobs_pkey");
            assertThat(db.store.in(tx).reconcilable().candidates(null, 1_000)).hasSize(20);
            assertThat(blocks(tx, "execution_jobs") - rows).isLessThan(100);
            Candidate last = db.store.in(tx).reconcilable().candidates(null, 10).get(9);
            assertThat(db.store.in(tx).reconcilable().candidates(last, 1_000)).hasSize(10);
            assertThat(db.store.in(tx).reconcilable().suspects("", 10)).isEmpty();
            assertThat(blocks(tx, "execution_jobs") - rows).isLessThan(400);
            assertThat(blocks(tx, "execution_jobs_pkey") - ids).isLessThan(100);
        });
    }

    private static void plan(Configuration tx, String mode) {
        tx.dsl()
                .select(DSL.function(
                        DSL.name("pg_catalog", "set_config"),
                        String.class,
                        DSL.inline("plan_cache_mode"),
                        DSL.inline(mode),
                        DSL.inline(true)))
                .fetch();
    }

    /**
     * How many buffers of a table or index this session has read since it last reported that, the planner's looks included;
     * it reports nothing within a transaction.
     */
    private long blocks(Configuration tx, String relation) {
        return tx.dsl()
                .resultQuery("SELECT pg_stat_get_xact_blocks_fetched('\"" + db.database.schema() + "\"." + relation
                        + "'::regclass)")
                .fetchSingle()
                .get(0, Long.class);
    }

    /** Also of what earlier tests have left: the planner would read it while it looks for the ends of an index. */
    private void vacuum() throws SQLException {
        try (Connection connection = db.database.unpooledDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("VACUUM (ANALYZE) \"" + db.database.schema() + "\".execution_jobs");
        }
    }

    private void insert(int count, String status, String place) throws SQLException {
        try (Connection connection = db.database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "INSERT INTO \"" + db.database.schema() + "\".execution_jobs (operation_id, version, status,"
                            + " updated_at, queue_priority, queue_visible_at, expires_at, record, kind, runtime_profile, queue,"
                            + " backend, priority, created_at, heartbeat_timeout, max_duration)"
                            + " SELECT '" + status + "-' || md5(i::text), 1, '" + status + "', now(), " + place
                            + ", now() + interval '7 d', ('{\"operationId\":\"" + status + "-' || md5(i::text)"
                            + " || '\",\"spec\":{\"kind\":\"k\",\"parameters\":{\"filler\":\"' || repeat('x', 400)"
                            + " || '\"}}}')::json, 'k', 'managed', 'default', 'local', 2, now(), '90 s', '1 h'"
                            + " FROM generate_series(1, " + count + ") AS i");
        }
    }
}
