package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.store.WorkSource;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@MillraceDatabase
class ClaimTest {
    private final StoreFixture db;

    ClaimTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.clear();
    }

    @Test
    void claim_ofDueJob_makesItTheWorkers() {
        Job submitted = db.submit("k");
        Claim claim = db.claimOne("k");
        Job job = claim.job();
        assertThat(job.id()).isEqualTo(submitted.id());
        assertThat(job.status()).isEqualTo(JobStatus.PROVISIONING);
        assertThat(job.version()).isEqualTo(2);
        assertThat(job.state().attemptCount()).isEqualTo(1);
        assertThat(job.state().claimedBy()).isEqualTo("worker-1");
        assertThat(job.state().currentPhase()).isEqualTo("Claimed");
        assertThat(job.state().claimedAt())
                .isEqualTo(job.state().lastHeartbeatAt())
                .isEqualTo(job.state().updatedAt());
        assertThat(claim.token()).isEqualTo(db.column(job.id(), EXECUTION_JOBS.CLAIM_TOKEN));
        assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isEqualTo(Priority.NORMAL);
        assertThat(db.get(job.id())).isEqualTo(job);
    }

    @Test
    void claim_ofSeveral_takesUrgentFirstThenThoseDueFirst() {
        List<String> expected = new ArrayList<>();
        for (Priority priority : new Priority[] {Priority.LOW, Priority.CRITICAL, Priority.NORMAL, Priority.HIGH}) {
            db.submit(StoreFixture.newJob("a").withPriority(priority));
            db.submit(StoreFixture.newJob("b").withPriority(priority));
        }
        db.dsl
                .select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .orderBy(EXECUTION_JOBS.QUEUE_PRIORITY, EXECUTION_JOBS.QUEUE_VISIBLE_AT, EXECUTION_JOBS.OPERATION_ID)
                .forEach(row -> expected.add(row.value1()));
        List<String> claimed = new ArrayList<>();
        db.claim(3, "a", "b").forEach(claim -> claimed.add(claim.job().id()));
        db.claim(3).forEach(claim -> claimed.add(claim.job().id()));
        db.claim(5, "b", "a", "c").forEach(claim -> claimed.add(claim.job().id()));
        assertThat(claimed).isEqualTo(expected);
    }

    @Test
    void claim_ofDelayedJob_waitsForItsTime() {
        Job job = db.submit(StoreFixture.newJob("k").withDelay(Duration.ofHours(1)));
        assertThat(db.claim(1, "k")).isEmpty();
        db.makeDue(job.id());
        assertThat(db.claim(1, "k")).hasSize(1);
    }

    @Test
    void claim_ofOtherKindProfileOrQueue_takesNothing() {
        db.submit("k");
        assertThat(db.claim(9, "other")).isEmpty();
        assertThat(db.claim(9, "other", "another")).isEmpty();
        assertThat(claimFrom("managed", "elsewhere")).isEmpty();
        assertThat(claimFrom("gpu", "default")).isEmpty();
        assertThat(claimFrom("managed", "default")).hasSize(1);
    }

    private List<Claim> claimFrom(String profile, String queue) {
        return db.work.claim(
                ClaimRequest.of("worker-1", List.of(new ClaimRequest.Source(profile, queue)), List.of(), 9));
    }

    @Test
    void claim_fromSeveralSources_takesTheFirstSourceFirstAndNeverMoreThanItsLimit() {
        for (int i = 0; i < 4; i++) {
            db.submit(inQueue("one"));
            db.submit(inQueue("two"));
        }
        List<ClaimRequest.Source> sources =
                List.of(new ClaimRequest.Source("managed", "two"), new ClaimRequest.Source("managed", "one"));
        List<Claim> claims = db.work.claim(ClaimRequest.of("w", sources, List.of("k", "other"), 6));
        assertThat(claims)
                .extracting(claim -> claim.job().spec().queue())
                .containsExactly("two", "two", "two", "two", "one", "one");
    }

    /** The order is the queue's, not one of the lists that the statement joins: no planner's choice may change it. */
    @Test
    void claim_ofSeveralKindsBehindForeignOnes_takesUrgentOnesOfAllKindsFirst() {
        for (Priority priority : List.of(Priority.CRITICAL, Priority.LOW)) {
            for (int i = 0; i < ClaimShape.WINDOW + 20; i++) {
                db.submit(StoreFixture.newJob("foreign").withPriority(priority));
            }
            for (String kind : List.of("a", "b", "c")) {
                db.submit(StoreFixture.newJob(kind).withPriority(priority));
            }
        }
        db.analyze();
        for (String[] kinds : List.of(new String[] {"a", "b"}, new String[] {"a", "b", "c"})) {
            db.undone(tx -> {
                List<Claim> claims = db.store
                        .in(tx)
                        .work()
                        .claim(ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of(kinds), kinds.length * 2));
                assertThat(claims).hasSize(kinds.length * 2);
                assertThat(claims.subList(0, kinds.length))
                        .extracting(claim -> claim.job().priority())
                        .containsOnly(Priority.CRITICAL);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 9})
    void claim_fromAnyNumberOfSources_goesSourceBySource(int count) {
        List<ClaimRequest.Source> sources = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        for (int i = count - 1; i >= 0; i--) {
            sources.add(new ClaimRequest.Source("managed", "q" + i));
            for (Priority priority : Priority.values()) {
                db.submit(inQueue("q" + i).withPriority(priority));
                expected.add("q" + i + priority);
            }
        }
        db.analyze();
        for (List<String> kinds : List.of(List.<String>of(), List.of("k"), List.of("k", "other"))) {
            db.undone(tx -> {
                assertThat(db.store.in(tx).work().claim(ClaimRequest.of("w", sources, kinds, expected.size())))
                        .extracting(claim ->
                                claim.job().spec().queue() + claim.job().priority())
                        .isEqualTo(expected);
            });
        }
    }

    /** Field case A7, its other half: what a claim doesn't take it doesn't lock either, whatever the plan is made for. */
    @ParameterizedTest
    @CsvSource({"7, force_custom_plan", "33, force_custom_plan", "7, force_generic_plan", "33, force_generic_plan"})
    void claim_locksNoMoreThanItTakes(int limit, String plans) throws Exception {
        for (int i = 0; i < 150; i++) {
            db.submit("k" + i % 3);
        }
        for (String[] kinds : new String[][] {{}, {"k1"}, {"k0", "k1"}}) {
            db.undone(tx -> {
                tx.dsl().execute("SET LOCAL plan_cache_mode = " + plans);
                List<Claim> claims = db.store
                        .in(tx)
                        .work()
                        .claim(ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of(kinds), limit));
                assertThat(claims).hasSize(limit);
                assertThat(StoreFixture.withoutWaiting(() -> db.dsl
                                .select(EXECUTION_JOBS.OPERATION_ID)
                                .from(EXECUTION_JOBS)
                                .forNoKeyUpdate()
                                .skipLocked()
                                .fetch()))
                        .hasSize(150 - limit);
            });
        }
    }

    /** A worker claims again and again: if its claims were dear by a plan for all values, each would be planned anew. */
    @ParameterizedTest
    @ValueSource(ints = {1, 10, 100, 1_000})
    @DisabledIfEnvironmentVariable(
            named = "MILLRACE_DEVDB_POOLER",
            matches = ".+",
            disabledReason = "statements are prepared in PgBouncer's sessions there, or not at all")
    void claims_thatAreRepeated_areNotPlannedAnew(int limit) throws Exception {
        for (int i = 0; i < 30; i++) {
            db.submit("k" + i % 3);
        }
        for (String[] kinds : new String[][] {{}, {"k1"}, {"k0", "k1"}}) {
            try (Connection session = db.database.unpooledDataSource().getConnection()) {
                session.setAutoCommit(false);
                WorkSource work = db.store.in(session).work();
                for (int i = 0; i < 25; i++) { // five until the driver prepares, five until the server considers
                    work.claim(ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of(kinds), limit));
                }
                assertThat(DSL.using(session)
                                .fetch("SELECT generic_plans FROM pg_prepared_statements"
                                        + " WHERE statement LIKE '%claim_token%' AND generic_plans + custom_plans > 10")
                                .getValues(0, Integer.class))
                        .as("of kinds %s", List.of(kinds))
                        .isNotEmpty()
                        .allMatch(plans -> plans > 0);
                session.rollback();
            }
        }
    }

    private static NewJob inQueue(String queue) {
        NewJob job = StoreFixture.newJob("k");
        return job.withSpec(job.spec().withQueue(queue));
    }

    @Test
    void claim_ofLockedRow_skipsItWithoutWaiting() {
        Job locked = db.submit("k");
        Job free = db.submit("k");
        db.dsl.transaction(tx -> {
            tx.dsl()
                    .selectFrom(EXECUTION_JOBS)
                    .where(EXECUTION_JOBS.OPERATION_ID.eq(locked.id()))
                    .forNoKeyUpdate()
                    .fetch();
            assertThat(StoreFixture.withoutWaiting(() -> db.claim(9, "k")))
                    .extracting(claim -> claim.job().id())
                    .containsExactly(free.id());
            assertThat(StoreFixture.withoutWaiting(() -> db.claim(9, "k", "other")))
                    .isEmpty();
        });
        assertThat(db.claim(9, "k", "other"))
                .extracting(claim -> claim.job().id())
                .containsExactly(locked.id());
    }

    @Test
    void claim_behindManyJobsOfOtherKinds_findsItsOwn() {
        insertMany(ClaimShape.WINDOW * 3, "foreign");
        Job mine = db.submit("mine");
        assertThat(db.claim(2, "mine", "also-mine"))
                .extracting(claim -> claim.job().id())
                .containsExactly(mine.id());
    }

    private void insertMany(int count, String kind) {
        for (int i = 0; i < count; i++) {
            db.submit(kind);
        }
    }

    @Test
    void claim_ofReturnedJob_countsTheAttemptAndKnowsTheForgivenOnes() {
        Claim first = db.running("k");
        db.work.finish(first, new Finish.HandBack(Duration.ZERO, "shutdown"));
        Claim second = db.claimOne("k");
        assertThat(second.job().state().attemptCount()).isEqualTo(2);
        assertThat(second.forgivenAttempts()).isEqualTo(1);
        assertThat(second.countedAttempts()).isEqualTo(1);
        assertThat(second.token()).isNotEqualTo(first.token());
    }

    @Test
    void recover_byTokensOfAnUnansweredClaim_findsWhatItTookAndCountsNothing() {
        db.submit("k");
        db.submit("k");
        ClaimRequest request = ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of("k"), 5);
        List<Claim> claimed = db.work.claim(request);
        List<Claim> found = db.work.recover(request.tokens());
        assertThat(found).containsExactlyInAnyOrderElementsOf(claimed);
        db.work.start(found.get(0).attempt());
        assertThat(db.work.recover(request.tokens())).containsExactly(found.get(1));
        assertThat(db.work.recover(List.of(UUID.randomUUID()))).isEmpty();
    }

    @Test
    void recover_ofJobsOfWhichOneCantBeRead_findsTheOthers() {
        Job bad = db.submit("k");
        db.submit("k");
        ClaimRequest request = ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of("k"), 5);
        assertThat(db.work.claim(request)).hasSize(2);
        db.breakRecord(bad.id(), JsonText.of("null"));
        assertThat(db.work.recover(request.tokens())).hasSize(1);
        assertThat(db.column(bad.id(), EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.FAILED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "1", "{}", "{\"operationId\":\"another\",\"spec\":{\"kind\":\"k\"}}"})
    void claim_ofARecordThatIsNoRecordOfTheJob_failsThatJobAndTakesTheOthers(String record) {
        Job bad = db.submit("k");
        Job good = db.submit("k");
        db.breakRecord(bad.id(), JsonText.of(record));
        assertThat(db.claim(9, "k")).extracting(claim -> claim.job().id()).containsExactly(good.id());
        assertThat(db.column(bad.id(), EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.FAILED);
    }

    @Test
    void claim_ofJobWhoseRecordNobodyCanRead_failsThatJobAndTakesTheOthers() {
        Job bad = db.submit("k");
        Job good = db.submit("k");
        JsonText unreadable = JsonText.of("{\"operationId\":\"" + bad.id() + "\",\"priority\":\"Sometime\"}");
        db.breakRecord(bad.id(), unreadable);
        assertThat(db.claim(9, "k")).extracting(claim -> claim.job().id()).containsExactly(good.id());
        assertThat(db.column(bad.id(), EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.FAILED);
        assertThat(db.column(bad.id(), EXECUTION_JOBS.RECORD)).isEqualTo(unreadable);
    }

    /** Field case A7: under some plans a LIMIT in a locking subquery is no limit to what is updated. */
    @ParameterizedTest
    @MethodSource("planners")
    void claim_underAnyPlan_changesNoMoreThanItsLimit(List<String> switchedOff) {
        for (int i = 0; i < 200; i++) {
            db.submit("k" + i % 3);
        }
        db.dsl.transaction(tx -> {
            for (String setting : switchedOff) {
                tx.dsl()
                        .select(DSL.function(
                                DSL.name("pg_catalog", "set_config"),
                                String.class,
                                DSL.inline(setting),
                                DSL.inline("off"),
                                DSL.inline(true)))
                        .fetch();
            }
            PostgresStore inside = db.store.in(tx);
            String[][] kindLists = {{}, {"k1"}, {"k0", "k1"}, {"k0", "k1", "k2"}};
            int expected = 0;
            for (String[] kinds : kindLists) {
                for (int limit : new int[] {1, 7}) {
                    List<Claim> claims = inside.work()
                            .claim(ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of(kinds), limit));
                    assertThat(claims).hasSize(limit);
                    expected += limit;
                    assertThat(tx.dsl().fetchCount(EXECUTION_JOBS, EXECUTION_JOBS.STATUS.eq(JobStatus.PROVISIONING)))
                            .isEqualTo(expected);
                }
            }
            assertThat(inside.queue().repair(Duration.ZERO, 3)).isZero();
            tx.dsl()
                    .update(EXECUTION_JOBS)
                    .setNull(EXECUTION_JOBS.QUEUE_PRIORITY)
                    .setNull(EXECUTION_JOBS.QUEUE_VISIBLE_AT)
                    .set(EXECUTION_JOBS.UPDATED_AT, DSL.val(java.time.Instant.EPOCH, DbTime.INSTANT))
                    .where(EXECUTION_JOBS.STATUS.eq(JobStatus.QUEUED))
                    .execute();
            assertThat(inside.queue().repair(Duration.ZERO, 3)).isEqualTo(3);
            assertThat(tx.dsl()
                            .fetchCount(
                                    EXECUTION_JOBS,
                                    EXECUTION_JOBS.STATUS.eq(JobStatus.QUEUED),
                                    EXECUTION_JOBS.QUEUE_PRIORITY.isNotNull()))
                    .isEqualTo(3);
        });
    }

    static List<List<String>> planners() {
        List<String> all = List.of(
                "enable_hashagg",
                "enable_hashjoin",
                "enable_mergejoin",
                "enable_sort",
                "enable_material",
                "enable_memoize",
                "enable_nestloop",
                "enable_indexscan",
                "enable_indexonlyscan",
                "enable_bitmapscan",
                "enable_seqscan");
        List<List<String>> planners = new ArrayList<>();
        planners.add(List.of());
        planners.add(all.subList(0, 6));
        planners.add(all.subList(6, 7));
        planners.add(all.subList(7, 10));
        planners.add(List.of("enable_nestloop", "enable_hashjoin"));
        planners.add(List.of("enable_nestloop", "enable_mergejoin"));
        planners.add(List.of("enable_seqscan", "enable_sort"));
        return planners;
    }
}
