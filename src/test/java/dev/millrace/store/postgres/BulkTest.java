package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobAudit;
import dev.millrace.job.JobReferences;
import dev.millrace.job.JobSpec;
import dev.millrace.job.NewJob;
import dev.millrace.job.PastAttempt;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Assignment;
import dev.millrace.store.Attempt;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Claim;
import dev.millrace.store.Completion;
import dev.millrace.store.Creation;
import dev.millrace.store.Finish;
import dev.millrace.store.JobConflictException;
import dev.millrace.store.JobsFailedException;
import dev.millrace.store.LogEntry;
import dev.millrace.store.StoreException;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@MillraceDatabase
class BulkTest {
    private final StoreFixture db;

    BulkTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.clear();
    }

    private static List<NewJob> newJobs(int number) {
        return newJobs(number, "bulk");
    }

    private static List<NewJob> newJobs(int number, String kind) {
        return IntStream.range(0, number)
                .mapToObj(i -> StoreFixture.newJob(kind))
                .toList();
    }

    private List<Claim> claimed(int number) {
        return claim(db.jobs.submitAll(newJobs(number)));
    }

    /** Claims all jobs of their kind by one statement: a hundred claims of a thousand are not what is tested here. */
    private List<Claim> claim(List<Creation> created) {
        Map<String, UUID> tokens = db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.STATUS, JobStatus.PROVISIONING)
                .set(EXECUTION_JOBS.VERSION, 2L)
                .set(EXECUTION_JOBS.ATTEMPT_COUNT, 1)
                .set(
                        EXECUTION_JOBS.CLAIM_TOKEN,
                        DSL.function(DSL.name("pg_catalog", "gen_random_uuid"), SQLDataType.UUID))
                .set(EXECUTION_JOBS.CLAIMED_BY, "worker-1")
                .set(EXECUTION_JOBS.CLAIMED_AT, DbTime.STATEMENT)
                .set(EXECUTION_JOBS.LAST_HEARTBEAT_AT, DbTime.STATEMENT)
                .where(JobRows.QUEUED)
                .and(EXECUTION_JOBS.KIND.eq(created.get(0).job().kind()))
                .returningResult(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.CLAIM_TOKEN)
                .fetchMap(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.CLAIM_TOKEN);
        return created.stream()
                .map(creation ->
                        new Claim(creation.job(), tokens.get(creation.job().id()), 0))
                .toList();
    }

    private static List<Completion> completions(List<Claim> claims, Finish finish) {
        return claims.stream().map(claim -> new Completion(claim, finish)).toList();
    }

    private Map<String, Object> row(String id) {
        return db.dsl
                .selectFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .fetchSingle()
                .intoMap();
    }

    // --- submit

    /** Whatever a job projects: the same as if it had been submitted by itself. */
    @Test
    void submitAll_writesWhatSubmitWrites() {
        NewJob full = NewJob.of(StoreFixture.newId(), "k\"i,n{d}\\", JsonText.of("{\"nul\":\"\\u0000\",\"n\":1.50}"))
                .withPriority(Priority.CRITICAL)
                .withPolicies(StoreFixture.newJob("x")
                        .policies()
                        .withMaxDuration(Duration.ofMillis(3_001))
                        .withRetention(Duration.ofDays(730).plusNanos(1_000)))
                .withAudit(JobAudit.NONE.withTenantId("ten\"ant").withCorrelationId("a\\\"b,{c}'"))
                .withDelay(Duration.ofSeconds(90));
        full = full.withSpec(full.spec()
                .withQueue("qü")
                .withReferences(JobReferences.NONE.withResources(List.of("r 1", "NULL", "\u00e9\ud83d\ude00"))));
        NewJob plain = StoreFixture.newJob("plain");
        NewJob remote = StoreFixture.newJob("remote")
                .withSpec(JobSpec.of("remote", JsonText.of("{}")).withBackend("elsewhere"));
        for (NewJob job : List.of(full, plain, remote)) {
            NewJob twin = job.withId(StoreFixture.newId());
            Job single = db.submit(job);
            List<Creation> bulk = db.jobs.submitAll(List.of(twin, StoreFixture.newJob("other")));
            assertThat(bulk).hasSize(2).allMatch(Creation::created);
            assertThat(bulk.get(0).job()).isEqualTo(db.get(twin.id()));
            Map<String, Object> one = row(single.id());
            Map<String, Object> other = row(twin.id());
            for (Field<?> differs : List.of(
                    EXECUTION_JOBS.OPERATION_ID,
                    EXECUTION_JOBS.RECORD,
                    EXECUTION_JOBS.CREATED_AT,
                    EXECUTION_JOBS.UPDATED_AT,
                    EXECUTION_JOBS.QUEUE_VISIBLE_AT,
                    EXECUTION_JOBS.EXPIRES_AT)) {
                one.remove(differs.getName());
                other.remove(differs.getName());
            }
            assertThat(other).isEqualTo(one);
            Job there = db.get(twin.id());
            assertThat(there.spec()).isEqualTo(single.spec());
            assertThat(there.policies()).isEqualTo(single.policies());
            assertThat(there.audit()).isEqualTo(single.audit());
            assertThat(db.column(twin.id(), EXECUTION_JOBS.EXPIRES_AT))
                    .isEqualTo(there.createdAt().plus(job.policies().retention()));
            if (job.spec().local()) {
                assertThat(db.column(twin.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT))
                        .isEqualTo(there.createdAt().plus(job.delay()));
            }
        }
    }

    @Test
    void submitAll_repeated_answersWhatIsThere() {
        List<NewJob> jobs = newJobs(3);
        List<Creation> first = db.jobs.submitAll(jobs);
        List<Creation> second = db.jobs.submitAll(jobs);
        assertThat(second).noneMatch(Creation::created);
        assertThat(second.stream().map(Creation::job))
                .containsExactlyElementsOf(first.stream().map(Creation::job).toList());
        assertThat(db.jobs.submitAll(List.of())).isEmpty();
    }

    @Test
    void submitAll_withConflicts_submitsTheOthersAndNamesThem() {
        NewJob there = StoreFixture.newJob("there");
        db.submit(there);
        NewJob twice = StoreFixture.newJob("twice");
        List<NewJob> jobs = new ArrayList<>(newJobs(2));
        jobs.add(there.withPriority(Priority.LOW));
        jobs.add(twice);
        jobs.add(twice.withPriority(Priority.HIGH));
        JobConflictException conflict = catchThrowableOfType(JobConflictException.class, () -> db.jobs.submitAll(jobs));
        assertThat(conflict.conflicts())
                .containsOnly(Map.entry(there.id(), List.of("priority")), Map.entry(twice.id(), List.of("priority")));
        assertThat(db.get(jobs.get(0).id())).isNotNull();
        assertThat(db.get(jobs.get(1).id())).isNotNull();
        assertThat(db.get(twice.id()).priority()).isEqualTo(Priority.NORMAL);
        assertThat(db.get(there.id()).priority()).isEqualTo(Priority.NORMAL);
    }

    @Test
    void submitAll_inASessionThatReadsNullsInArraysAsText_writesNulls() throws SQLException {
        try (var connection = db.database.unpooledDataSource().getConnection();
                var statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SET LOCAL array_nulls = off");
            PostgresStore inside = db.store.in(connection);
            NewJob job = StoreFixture.newJob("nulls");
            NewJob remote = StoreFixture.newJob("nulls")
                    .withSpec(JobSpec.of("nulls", JsonText.of("{}")).withBackend("elsewhere"));
            inside.jobs().submitAll(List.of(job, remote));
            List<LogEntry> line = List.of(LogEntry.of(1, LogEntry.Level.INFO, "x"));
            assertThat(inside.logs().append(job.id(), line)).isEqualTo(1);
            assertThat(inside.logs().append(job.id(), line)).isEqualTo(1);
            connection.commit();
            assertThat(db.column(job.id(), EXECUTION_JOBS.TENANT_ID)).isNull();
            assertThat(db.column(remote.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
        }
    }

    @Test
    void submitAll_ofTheSameJobTwice_isOneJob() {
        NewJob job = StoreFixture.newJob("twice");
        List<Creation> answers = db.jobs.submitAll(List.of(job, job));
        assertThat(answers).extracting(Creation::created).containsExactly(true, false);
        assertThat(db.dsl.fetchCount(EXECUTION_JOBS)).isEqualTo(1);
    }

    @Test
    void submitAll_ofOneThatIsNotAllowed_submitsNone() {
        NewJob large = NewJob.of(
                StoreFixture.newId(), "k", JsonText.of("{\"a\":\"" + "x".repeat(JobCodec.MAX_RECORD_BYTES) + "\"}"));
        List<NewJob> jobs = new ArrayList<>(newJobs(2_000));
        jobs.add(large);
        assertThatThrownBy(() -> db.jobs.submitAll(jobs)).isInstanceOf(InvalidJobException.class);
        assertThat(db.dsl.fetchCount(EXECUTION_JOBS)).isZero();
    }

    @Test
    void submitAll_overOneThatCannotBeRead_submitsTheOthers() {
        NewJob broken = StoreFixture.newJob("broken");
        db.submit(broken);
        db.breakRecord(broken.id(), JsonText.of("{}"));
        List<NewJob> jobs = new ArrayList<>(newJobs(2));
        jobs.add(broken);
        assertThatThrownBy(() -> db.jobs.submitAll(jobs)).isInstanceOf(UnreadableJobException.class);
        assertThat(db.dsl.fetchCount(EXECUTION_JOBS)).isEqualTo(3);
    }

    /** More than what one statement carries of records. */
    @Test
    void bulk_ofLargeRecords_goesInSeveralBites() {
        String filler = "x".repeat(900_000);
        List<NewJob> jobs = IntStream.range(0, 25)
                .mapToObj(i -> NewJob.of(StoreFixture.newId(), "bulk", JsonText.of("{\"a\":\"" + filler + "\"}")))
                .toList();
        db.jobs.submitAll(jobs);
        assertThat(db.jobs.submitAll(jobs)).hasSize(25).noneMatch(Creation::created);
        List<Claim> claims = db.claim(10, "bulk");
        assertThat(db.work.finishAll(completions(claims, new Finish.Retry(Duration.ZERO, "boom"))))
                .hasSize(10);
        Map<String, CancelResult> results =
                db.jobs.cancelAll(jobs.stream().map(NewJob::id).toList(), null, null);
        assertThat(results).hasSize(25);
        assertThat(results.values()).containsOnly(CancelResult.CANCELLED);
    }

    /** Field case A20, for many: what is refused raises no SQL error. */
    @Test
    void submitAll_withConflictsInTheCallersTransaction_leavesItUsable() {
        NewJob there = StoreFixture.newJob("there");
        db.submit(there);
        List<NewJob> jobs = new ArrayList<>(newJobs(2));
        jobs.add(there.withPriority(Priority.LOW));
        db.dsl.transaction(tx -> {
            assertThatThrownBy(() -> db.store.in(tx).jobs().submitAll(jobs)).isInstanceOf(JobConflictException.class);
            db.store.in(tx).jobs().submitAll(List.of(jobs.get(0), there));
        });
        assertThat(db.dsl.fetchCount(EXECUTION_JOBS)).isEqualTo(3);
    }

    // --- cancel

    @Test
    void cancelAll_doesWhatCancelDoesForEachJob() {
        Job queued = db.submit("queued");
        Job alone = db.submit("alone");
        Claim running = db.running("running");
        Claim asked = db.running("asked");
        db.jobs.cancel(asked.job().id(), "first", null);
        Claim ended = db.running("ended");
        db.work.finish(ended, new Finish.Succeed());
        Job before = db.get(ended.job().id());
        List<String> ids = List.of(
                queued.id(),
                running.job().id(),
                "nowhere",
                asked.job().id(),
                ended.job().id(),
                queued.id());

        Map<String, CancelResult> results = db.jobs.cancelAll(ids, "ann", "because");

        assertThat(results)
                .containsExactly(
                        Map.entry(queued.id(), CancelResult.CANCELLED),
                        Map.entry(running.job().id(), CancelResult.REQUESTED),
                        Map.entry("nowhere", CancelResult.NOT_FOUND),
                        Map.entry(asked.job().id(), CancelResult.REQUESTED),
                        Map.entry(ended.job().id(), CancelResult.ALREADY_ENDED));
        db.jobs.cancel(alone.id(), "ann", "because");
        Job one = db.get(alone.id());
        Job many = db.get(queued.id());
        assertThat(many.status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(many.version()).isEqualTo(one.version());
        assertThat(many.audit().cancellation().by()).isEqualTo("ann");
        assertThat(many.audit().cancellation().why()).isEqualTo("because");
        assertThat(db.column(queued.id(), EXECUTION_JOBS.EXPIRES_AT))
                .isEqualTo(many.state().completedAt().plus(Duration.ofDays(7)));
        assertThat(db.column(queued.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
        assertThat(db.column(running.job().id(), EXECUTION_JOBS.CANCELLATION_REQUESTED))
                .isTrue();
        assertThat(db.get(running.job().id()).status()).isEqualTo(JobStatus.RUNNING);
        assertThat(db.get(asked.job().id()).audit().cancellation().by()).isEqualTo("first");
        assertThat(db.get(before.id())).isEqualTo(before);
        assertThat(db.work.finish(running, new Finish.Cancel())).isTrue();
    }

    @Test
    void cancelAll_withOneThatCannotBeRead_cancelsTheOthers() {
        Job broken = db.submit("broken");
        Job other = db.submit("other");
        db.breakRecord(broken.id(), JsonText.of("{}"));
        assertThatThrownBy(() -> db.jobs.cancelAll(List.of(broken.id(), other.id()), null, null))
                .isInstanceOf(UnreadableJobException.class);
        assertThat(db.get(other.id()).status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(db.column(broken.id(), EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.QUEUED);
    }

    // --- finish

    @Test
    void finishAll_doesWhatFinishDoesForEachAttempt() {
        Map<String, Finish> finishes = new TreeMap<>(Map.of(
                "succeed", new Finish.Succeed(),
                "fail", new Finish.Fail("boom", Finish.Fail.Reason.HANDLER),
                "timeout", new Finish.Fail("late", Finish.Fail.Reason.TIMEOUT),
                "cancel", new Finish.Cancel(),
                "retry", new Finish.Retry(Duration.ofMinutes(5), "again"),
                "retry now", new Finish.Retry(Duration.ZERO, "again"),
                "hand back", new Finish.HandBack(Duration.ZERO, "closing"),
                "snooze", new Finish.HandBack(Duration.ofMinutes(1), null)));
        Map<String, Claim> single = new LinkedHashMap<>();
        Map<String, Claim> bulk = new LinkedHashMap<>();
        List<Completion> completions = new ArrayList<>();
        finishes.forEach((name, finish) -> {
            single.put(name, db.running("bulk"));
            bulk.put(name, db.running("bulk"));
            completions.add(new Completion(bulk.get(name), finish));
            db.work.progress(single.get(name).attempt(), 10.0, "tenth");
            db.work.progress(bulk.get(name).attempt(), 10.0, "tenth");
        });
        finishes.forEach((name, finish) -> db.work.finish(single.get(name), finish));

        Set<Attempt> ended = db.work.finishAll(completions);

        assertThat(ended)
                .containsExactlyInAnyOrderElementsOf(
                        bulk.values().stream().map(Claim::attempt).toList());
        finishes.keySet()
                .forEach(name ->
                        assertThat(comparable(bulk.get(name))).as(name).isEqualTo(comparable(single.get(name))));
        assertThat(db.work.finishAll(completions)).as("repeated").isEqualTo(ended);
        db.get(bulk.get("snooze").job().id())
                .outcome()
                .history()
                .forEach(past -> assertThat(past.ending()).isEqualTo(PastAttempt.Ending.HANDED_BACK));
    }

    /** What two attempts that end alike leave behind: times only as far as they are there, and apart from each other. */
    private Map<String, Object> comparable(Claim claim) {
        String id = claim.job().id();
        Map<String, Object> row = row(id);
        Job job = db.get(id);
        row.put(
                "record",
                job.outcome().history().stream()
                        .map(past -> past.attempt() + " " + past.worker() + " " + past.ending() + " " + past.message()
                                + " " + past.token().equals(claim.token()))
                        .toList());
        row.put("error", job.outcome().errorMessage());
        row.put("token", row.remove("claim_token") == null ? "none" : "kept");
        row.put(
                "delay",
                job.state().nextRetryAt() == null
                        ? null
                        : Duration.between(job.state().updatedAt(), job.state().nextRetryAt()));
        var visible = db.column(id, EXECUTION_JOBS.QUEUE_VISIBLE_AT);
        row.put("visible", visible == null ? null : Duration.between(job.state().updatedAt(), visible));
        row.put(
                "kept",
                job.state().completedAt() == null
                        ? null
                        : Duration.between(job.state().completedAt(), db.column(id, EXECUTION_JOBS.EXPIRES_AT)));
        for (String time : List.of(
                "claimed_at", "last_heartbeat_at", "next_retry_at", "completed_at", "updated_at", "queue_visible_at")) {
            row.computeIfPresent(time, (any, value) -> "a time");
        }
        List.of("operation_id", "created_at", "expires_at").forEach(row::remove);
        return row;
    }

    /** Invariant 2. */
    /** Field case A32: someone's open transaction holds one row, and the others are neither left out nor locked meanwhile. */
    @Test
    void bulkCalls_overARowThatIsLocked_doTheOthersFirst() throws Exception {
        List<Claim> claims = claimed(20);
        List<String> queued = db.jobs.submitAll(newJobs(20, "queued")).stream()
                .map(c -> c.job().id())
                .toList();
        CompletableFuture<Set<Attempt>> finished = new CompletableFuture<>();
        CompletableFuture<Map<String, CancelResult>> cancelled = new CompletableFuture<>();
        Claim locked = claims.get(9);
        db.dsl.transaction(tx -> {
            tx.dsl()
                    .selectFrom(EXECUTION_JOBS)
                    .where(EXECUTION_JOBS.OPERATION_ID.in(locked.job().id(), queued.get(9)))
                    .forUpdate()
                    .fetch();
            OwnThread.complete(finished, () -> db.work.finishAll(completions(claims, new Finish.Succeed())));
            OwnThread.complete(cancelled, () -> db.jobs.cancelAll(queued, "me", null));
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> db.dsl.fetchCount(
                                    EXECUTION_JOBS, EXECUTION_JOBS.STATUS.in(JobStatus.SUCCEEDED, JobStatus.CANCELLED))
                            == 38);
        });
        assertThat(finished.get(60, TimeUnit.SECONDS)).hasSize(20);
        assertThat(cancelled.get(60, TimeUnit.SECONDS)).hasSize(20).containsValue(CancelResult.CANCELLED);
        assertThat(db.get(queued.get(9)).status()).isEqualTo(JobStatus.CANCELLED);
    }

    @Test
    void finishAll_ofSupersededAttempts_writesNothingForThem() {
        List<Claim> claims = claimed(4);
        db.queue.requeue(claims.get(0).attempt(), Duration.ZERO);
        Claim second = db.claimOne("bulk");
        db.dsl
                .deleteFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(claims.get(1).job().id()))
                .execute();
        db.work.finish(claims.get(2), new Finish.Fail("boom", Finish.Fail.Reason.HANDLER));
        Job ended = db.get(claims.get(2).job().id());
        for (Finish finish : List.of(new Finish.Succeed(), new Finish.Retry(Duration.ZERO, "x"))) {
            assertThat(db.work.finishAll(completions(claims.subList(0, 3), finish)))
                    .isEmpty();
        }
        // Not even for one that has looked at the job since: the token is the fence.
        Claim late = new Claim(second.job(), claims.get(0).token(), 0);
        assertThat(db.work.finishAll(List.of(new Completion(late, new Finish.Succeed()))))
                .isEmpty();
        assertThat(db.get(second.job().id())).isEqualTo(second.job());
        assertThat(db.get(ended.id())).isEqualTo(ended);
        List<Completion> mixed = new ArrayList<>(completions(claims, new Finish.Succeed()));
        mixed.add(new Completion(second, new Finish.Succeed()));
        assertThat(db.work.finishAll(mixed))
                .containsExactlyInAnyOrder(second.attempt(), claims.get(3).attempt());
    }

    @Test
    void finishAll_ofJobsThatOthersHaveChanged_keepsTheChange() {
        List<Claim> claims = claimed(3);
        String id = claims.get(1).job().id();
        Job read = db.get(id);
        assertThat(db.jobs.compareAndSet(read, read.withAudit(read.audit().withCorrelationId("mine"))))
                .isTrue();
        db.jobs.compareAndSet(db.get(id), db.get(id).withPriority(Priority.LOW));
        assertThat(db.work.finishAll(completions(claims, new Finish.Succeed()))).hasSize(3);
        assertThat(db.get(id).status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(db.get(id).audit().correlationId()).isEqualTo("mine");
    }

    @Test
    void finishAll_withOneThatCannotBeRead_failsItAndEndsTheOthers() {
        List<Claim> claims = claimed(3);
        String id = claims.get(1).job().id();
        db.breakRecord(id, JsonText.of("{}"));
        assertThat(db.work.finishAll(completions(claims, new Finish.Retry(Duration.ZERO, "boom"))))
                .hasSize(3);
        assertThat(db.column(id, EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.FAILED);
        assertThat(db.column(id, EXECUTION_JOBS.RECORD)).isEqualTo(JsonText.of("{}"));
    }

    // --- what the database refuses

    private static void assertNames(JobsFailedException failed, Collection<String> ids) {
        assertThat(failed.failures()).containsOnlyKeys(ids);
        assertThat(failed.failures().values())
                .allSatisfy(why -> assertThat(why).hasMessageContaining("refused_by_the_test"));
        assertThat(failed)
                .hasMessageContaining(
                        "\"" + failed.failures().keySet().iterator().next() + "\"");
        assertThat(failed.untried()).isZero();
    }

    @Test
    void submitAll_withOnesThatTheDatabaseRefuses_submitsTheOthersAndNamesThem() {
        List<NewJob> jobs = newJobs(1_200);
        List<String> refused = List.of(jobs.get(3).id(), jobs.get(700).id());
        NewJob there = StoreFixture.newJob("there");
        db.submit(there);
        List<NewJob> all = new ArrayList<>(jobs);
        all.add(there.withPriority(Priority.LOW));
        db.whileRefused(EXECUTION_JOBS.OPERATION_ID.in(refused), () -> {
            JobsFailedException failed = catchThrowableOfType(JobsFailedException.class, () -> db.jobs.submitAll(all));
            assertNames(failed, refused);
            assertThat(failed.getSuppressed())
                    .hasOnlyElementsOfType(JobConflictException.class)
                    .hasSize(1);
            assertThat(db.dsl.fetchCount(EXECUTION_JOBS)).isEqualTo(1_199);
        });
        assertThat(db.jobs.submitAll(jobs).stream().filter(Creation::created)).hasSize(2);
    }

    @Test
    void cancelAll_withOnesThatTheDatabaseRefuses_cancelsTheOthersAndNamesThem() {
        List<String> ids = new ArrayList<>();
        claimed(10).forEach(claim -> ids.add(claim.job().id()));
        db.jobs
                .submitAll(newJobs(600, "queued"))
                .forEach(creation -> ids.add(creation.job().id()));
        List<String> refused = List.of(ids.get(3), ids.get(300));
        Condition asked = EXECUTION_JOBS.CANCELLATION_REQUESTED.eq(true);
        db.whileRefused(asked.and(EXECUTION_JOBS.OPERATION_ID.in(refused)), () -> {
            assertNames(
                    catchThrowableOfType(JobsFailedException.class, () -> db.jobs.cancelAll(ids, "me", null)), refused);
            assertThat(db.dsl.fetchCount(EXECUTION_JOBS, asked)).isEqualTo(608);
        });
        assertThat(db.jobs.cancelAll(ids, "me", null))
                .containsEntry(refused.get(0), CancelResult.REQUESTED)
                .containsEntry(refused.get(1), CancelResult.CANCELLED)
                .hasSize(610);
    }

    @Test
    void finishAll_withOnesThatTheDatabaseRefuses_endsTheOthersAndNamesThem() {
        List<Claim> claims = claimed(600);
        List<Completion> completions = new ArrayList<>(completions(claims.subList(0, 550), new Finish.Succeed()));
        completions.addAll(completions(claims.subList(550, 600), new Finish.Retry(Duration.ofHours(1), "boom")));
        List<String> refused =
                List.of(claims.get(3).job().id(), claims.get(560).job().id());
        Condition ended = EXECUTION_JOBS.STATUS.ne(JobStatus.PROVISIONING);
        db.whileRefused(ended.and(EXECUTION_JOBS.OPERATION_ID.in(refused)), () -> {
            assertNames(catchThrowableOfType(JobsFailedException.class, () -> db.work.finishAll(completions)), refused);
            assertThat(db.dsl.fetchCount(EXECUTION_JOBS, ended)).isEqualTo(598);
        });
        assertThat(db.work.finishAll(completions)).hasSize(600);
    }

    @Test
    void finishAll_thatGivesUp_countsNoneThatIsEnded() {
        List<Claim> claims = claimed(500);
        List<Completion> completions = new ArrayList<>(completions(claims.subList(0, 300), new Finish.Succeed()));
        completions.addAll(completions(claims.subList(300, 500), new Finish.Retry(Duration.ZERO, "boom")));
        db.whileRefused(EXECUTION_JOBS.STATUS.eq(JobStatus.QUEUED).and(EXECUTION_JOBS.ATTEMPT_COUNT.gt(0)), () -> {
            JobsFailedException failed =
                    catchThrowableOfType(JobsFailedException.class, () -> db.work.finishAll(completions));
            assertThat(failed.failures()).hasSize(BulkCall.MAX_FAILURES);
            assertThat(failed.untried()).isEqualTo(200 - BulkCall.MAX_FAILURES);
        });
        assertThat(db.dsl.fetchCount(EXECUTION_JOBS, EXECUTION_JOBS.STATUS.eq(JobStatus.SUCCEEDED)))
                .isEqualTo(300);
    }

    @Test
    void bulkCalls_ofWhichManyAreRefused_giveUpAndSaySo() {
        List<Claim> claims = claimed(500);
        db.whileRefused(EXECUTION_JOBS.STATUS.eq(JobStatus.SUCCEEDED), () -> {
            JobsFailedException failed = catchThrowableOfType(
                    JobsFailedException.class, () -> db.work.finishAll(completions(claims, new Finish.Succeed())));
            assertThat(failed.failures()).hasSize(BulkCall.MAX_FAILURES);
            assertThat(failed.untried()).isEqualTo(500 - BulkCall.MAX_FAILURES);
            assertThat(failed).hasMessageContaining("400 more were not tried");
        });
    }

    /** It is over by then, so nothing more is tried in it. */
    @Test
    void bulkCalls_inACallersTransaction_failAtOnce() {
        List<Claim> claims = claimed(3);
        db.whileRefused(
                EXECUTION_JOBS.STATUS.eq(JobStatus.SUCCEEDED),
                () -> assertThatThrownBy(() -> db.dsl.transaction(
                                tx -> db.store.in(tx).work().finishAll(completions(claims, new Finish.Succeed()))))
                        .isExactlyInstanceOf(StoreException.class)
                        .hasMessageContaining("refused_by_the_test"));
    }

    // --- many

    /** Field case A30. */
    @Test
    @Tag("size")
    void bulk_ofAHundredThousand_works() {
        int number = 100_000;
        List<NewJob> jobs = new ArrayList<>(newJobs(20_000, "taken"));
        jobs.addAll(newJobs(80_000));
        List<Creation> created = db.jobs.submitAll(jobs);
        assertThat(created).hasSize(number).allMatch(Creation::created);
        List<Claim> claims = claim(created.subList(0, 20_000));
        List<String> ids = jobs.stream().map(NewJob::id).toList();
        Map<String, CancelResult> results = db.jobs.cancelAll(ids, "ann", null);
        assertThat(Collections.frequency(results.values(), CancelResult.CANCELLED))
                .isEqualTo(80_000);
        assertThat(Collections.frequency(results.values(), CancelResult.REQUESTED))
                .isEqualTo(20_000);
        assertThat(db.work.finishAll(completions(claims, new Finish.Retry(Duration.ZERO, "boom"))))
                .hasSize(20_000);
        assertThat(db.dsl.fetchCount(EXECUTION_JOBS, EXECUTION_JOBS.STATUS.eq(JobRows.literal(JobStatus.CANCELLED))))
                .isEqualTo(number);
    }

    /** Field case A30, of what a worker does most. */
    @Test
    @Tag("size")
    void finishAll_ofAHundredThousandSuccesses_works() {
        List<Claim> claims = claimed(100_000);
        assertThat(db.work.finishAll(completions(claims, new Finish.Succeed()))).hasSize(100_000);
        assertThat(db.dsl.fetchCount(EXECUTION_JOBS, EXECUTION_JOBS.STATUS.eq(JobRows.literal(JobStatus.SUCCEEDED))))
                .isEqualTo(100_000);
    }

    /** Field case A23, for bulk calls: the same jobs from several threads, each in an order of its own. */
    @Test
    void bulkCalls_overTheSameJobsInDifferentOrders_dontDeadlock() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("bulk calls: seed " + seed);
        long before = deadlocks();
        for (int round = 0; round < 5; round++) {
            List<NewJob> jobs = newJobs(300);
            List<Claim> claims = claimed(300);
            List<CompletableFuture<?>> calls = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                Random random = new Random(seed + thread + round * 31L);
                List<NewJob> mine = shuffled(jobs, random);
                calls.add(OwnThread.run(() -> db.jobs.submitAll(mine)));
                List<String> ids = shuffled(claims, random).stream()
                        .map(claim -> claim.job().id())
                        .toList();
                calls.add(OwnThread.run(() -> db.jobs.cancelAll(ids, "t", null)));
                Finish finish = thread % 2 == 0 ? new Finish.Succeed() : new Finish.Retry(Duration.ZERO, "x");
                List<Completion> completions = completions(shuffled(claims, random), finish);
                calls.add(OwnThread.run(() -> db.work.finishAll(completions)));
                calls.add(OwnThread.run(() -> db.readCommitted(tx -> {
                    db.store.in(tx).jobs().submitAll(mine);
                    db.store.in(tx).jobs().cancelAll(ids, "t", null);
                })));
                calls.add(OwnThread.run(
                        () -> db.work.beat(claims.stream().map(Claim::attempt).toList())));
            }
            for (CompletableFuture<?> call : calls) {
                call.get(60, TimeUnit.SECONDS);
            }
            assertThat(claims)
                    .allSatisfy(claim -> assertThat(
                                    db.get(claim.job().id()).status().isFinal())
                            .isTrue());
        }
        assertThat(deadlocks()).isEqualTo(before);
    }

    /** While one of three rows is held, what waits for it has the ones before it, and none behind: all do it in one order. */
    @Test
    void bulkCalls_takeJobsInTheOrderOfTheirIds() throws Exception {
        List<NewJob> sorted = newJobs(3).stream()
                .sorted(Comparator.comparing(NewJob::id, Bulk.BY_ID))
                .toList();
        List<NewJob> backwards = List.of(sorted.get(2), sorted.get(1), sorted.get(0));
        NewJob last = sorted.get(2);
        whileHeld(
                inner -> inner.jobs().submit(sorted.get(1)),
                () -> db.jobs.submitAll(backwards),
                () -> assertThat(db.jobs.submit(last).created()).isTrue());
        List<Claim> claims = new ArrayList<>();
        for (NewJob job : backwards) {
            Assignment answer = db.queue.claim(AssignedClaim.of("w", job.id()));
            claims.add(((Assignment.Taken) answer).claim());
        }
        Consumer<PostgresStore> middle =
                inner -> inner.jobs().cancel(sorted.get(1).id(), "first", null);
        whileHeld(
                middle,
                () -> db.jobs.cancelAll(backwards.stream().map(NewJob::id).toList(), null, null),
                () -> db.work.progress(claims.get(0).attempt(), 1.0, null));
        whileHeld(
                inner -> inner.work().progress(claims.get(1).attempt(), 2.0, null),
                () -> db.work.finishAll(completions(claims, new Finish.Succeed())),
                () -> db.work.progress(claims.get(0).attempt(), 3.0, null));
    }

    /**
     * The same in callers' transactions, whatever becomes of each job, and however the planner reads the table: here from
     * end to end, where the last job stands first.
     */
    @Test
    void bulkCalls_inCallersTransactions_lockJobsInTheOrderOfTheirIds() throws Exception {
        for (boolean cancels : List.of(true, false)) {
            db.clear();
            List<NewJob> backwards = newJobs(3).stream()
                    .sorted(Comparator.comparing(NewJob::id, Bulk.BY_ID).reversed())
                    .toList();
            Map<String, Completion> completions = new TreeMap<>(Bulk.BY_ID);
            for (NewJob job : backwards) {
                db.submit(job);
                boolean last = job.equals(backwards.get(0));
                if (!cancels || !last) {
                    Assignment.Taken taken = (Assignment.Taken) db.queue.claim(AssignedClaim.of("w", job.id()));
                    Finish finish = last ? new Finish.Succeed() : new Finish.Retry(Duration.ZERO, "boom");
                    completions.put(job.id(), new Completion(taken.claim(), finish));
                }
            }
            List<String> ids =
                    backwards.stream().map(NewJob::id).sorted(Bulk.BY_ID).toList();
            CompletableFuture<?>[] call = new CompletableFuture<?>[1];
            db.dsl.transaction(tx -> {
                assertThat(lockable(tx.dsl(), ids.get(1))).isTrue();
                call[0] = OwnThread.run(() -> db.dsl.transaction(their -> {
                    their.dsl()
                            .setLocal(DSL.name("enable_indexscan"), DSL.val("off"))
                            .execute();
                    their.dsl()
                            .setLocal(DSL.name("enable_bitmapscan"), DSL.val("off"))
                            .execute();
                    if (cancels) {
                        db.store.in(their).jobs().cancelAll(ids, null, null);
                    } else {
                        db.store.in(their).work().finishAll(completions.values());
                    }
                }));
                db.awaitLockWaiter();
                assertThat(lockable(db.dsl, ids.get(0))).as("the one before").isFalse();
                assertThat(lockable(db.dsl, ids.get(2))).as("the one behind").isTrue();
            });
            call[0].get(30, TimeUnit.SECONDS);
            assertThat(ids)
                    .allSatisfy(
                            id -> assertThat(db.get(id).version()).isEqualTo(cancels && id.equals(ids.get(2)) ? 2 : 3));
        }
    }

    private static boolean lockable(DSLContext dsl, String id) {
        return dsl.select(EXECUTION_JOBS.OPERATION_ID)
                        .from(EXECUTION_JOBS)
                        .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                        .forNoKeyUpdate()
                        .skipLocked()
                        .fetchOne()
                != null;
    }

    /** Each in a transaction that goes on for a while, over jobs of which both have some, queued and claimed ones. */
    @Test
    void bulkCalls_inTwoCallersTransactions_dontDeadlock() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("bulk calls in two transactions: seed " + seed);
        Random random = new Random(seed);
        long before = deadlocks();
        for (int round = 0; round < 30; round++) {
            db.clear();
            List<Creation> queued = db.jobs.submitAll(newJobs(100, "queued"));
            List<Claim> claims = shuffled(claimed(200), random);
            List<String> ids = new ArrayList<>();
            queued.forEach(creation -> ids.add(creation.job().id()));
            claims.forEach(claim -> ids.add(claim.job().id()));
            Collections.shuffle(ids, random);
            CyclicBarrier together = new CyclicBarrier(2);
            List<CompletableFuture<?>> calls = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                int kind = round % 3; // both cancel, both finish, one of each
                boolean cancels = kind == 0 || (kind == 2 && thread == 0);
                List<String> mine = new ArrayList<>(ids.subList(thread * 20, 280 + thread * 20));
                List<Completion> ended = new ArrayList<>();
                for (Claim claim : claims.subList(thread * 20, 180 + thread * 20)) {
                    boolean succeeds = (claim.token().hashCode() & 1) == thread;
                    ended.add(new Completion(
                            claim, succeeds ? new Finish.Succeed() : new Finish.Retry(Duration.ZERO, "x")));
                }
                if (thread == 1) {
                    Collections.reverse(mine);
                    Collections.reverse(ended);
                }
                calls.add(OwnThread.run(() -> db.readCommitted(tx -> {
                    together.await(30, TimeUnit.SECONDS);
                    if (cancels) {
                        db.store.in(tx).jobs().cancelAll(mine, "t", null);
                    } else {
                        db.store.in(tx).work().finishAll(ended);
                    }
                })));
            }
            for (CompletableFuture<?> call : calls) {
                call.get(60, TimeUnit.SECONDS);
            }
        }
        assertThat(deadlocks()).isEqualTo(before);
    }

    private void whileHeld(Consumer<PostgresStore> held, Runnable waiting, Runnable unhindered) throws Exception {
        CompletableFuture<?>[] call = new CompletableFuture<?>[1];
        db.dsl.transaction(tx -> {
            held.accept(db.store.in(tx));
            call[0] = OwnThread.run(waiting);
            db.awaitLockWaiter();
            StoreFixture.withoutWaiting(() -> {
                unhindered.run();
                return true;
            });
        });
        call[0].get(30, TimeUnit.SECONDS);
    }

    /** Deadlocks that our own transactions survive by repetition count as well. */
    private long deadlocks() {
        try (var connection = db.database.unpooledDataSource().getConnection();
                var statement = connection.createStatement();
                var row = statement.executeQuery(
                        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private static <T> List<T> shuffled(List<T> values, Random random) {
        List<T> copy = new ArrayList<>(values);
        Collections.shuffle(copy, random);
        return copy;
    }

    /** Field case A32 for outcomes: someone's open transaction holds one row, and who has to write many doesn't wait for it. */
    @Test
    void finishUnlocked_leavesOutWhatOthersHold_andWaitsForNobody() throws Exception {
        Claim held = db.running("unlocked");
        Claim free = db.running("unlocked");
        Claim lost = db.running("unlocked");
        db.queue.requeue(lost.attempt(), Duration.ofHours(1));
        Finish retry = new Finish.Retry(Duration.ZERO, "boom");
        db.readCommitted(tx -> {
            db.store.in(tx).jobs().cancel(held.job().id(), null, null);
            assertThat(StoreFixture.withoutWaiting(() -> db.work.finishUnlocked(List.of(
                            new Completion(held, new Finish.Succeed()),
                            new Completion(free, retry),
                            new Completion(lost, retry)))))
                    .containsExactly(free.attempt());
        });
        assertThat(db.work.finishUnlocked(List.of(new Completion(held, new Finish.Succeed()))))
                .containsExactly(held.attempt());
        assertThat(db.get(held.job().id()).status()).isEqualTo(JobStatus.SUCCEEDED);
    }
}
