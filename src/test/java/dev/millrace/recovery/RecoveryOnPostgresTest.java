package dev.millrace.recovery;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobPolicies;
import dev.millrace.job.JobSpec;
import dev.millrace.job.NewJob;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.jooq.tables.records.ExecutionJobsRecord;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.SQLDialect;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sweeps over jobs in a real database. Time passes there by aging rows, here on a manual clock. */
@MillraceDatabase
class RecoveryOnPostgresTest {
    private static final HeartbeatPolicy HEARTBEAT = HeartbeatPolicy.DEFAULT;
    private static final Duration STALE = HEARTBEAT.timeout().plusSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final TestDatabase database;
    private final PostgresStore store;
    private final DSLContext dsl;
    private final JobReconciler reconciler;

    RecoveryOnPostgresTest(TestDatabase database) {
        this.database = database;
        this.store = PostgresStore.on(database.dataSource(), database.schema());
        this.dsl = DSL.using(database.dataSource(), SQLDialect.POSTGRES, mapped());
        this.reconciler = reconciler(store.reconcilable());
    }

    @BeforeEach
    void emptyAndWatched() {
        dsl.deleteFrom(EXECUTION_JOBS).execute();
        watch(reconciler);
    }

    @Test
    void silentJob_waitsForItsNextAttempt_unclaimedAndDueAfterTheBackoff() {
        Claim claim = running(job().withPolicies(policies(RetryPolicy.fixed(3, ofMinutes(5)))));
        age(claim, STALE);
        assertThat(reconciler.tick().requeued()).isOne();
        Job job = get(claim);
        assertThat(job.status()).isEqualTo(JobStatus.QUEUED);
        assertThat(job.state().claimedBy()).isNull();
        assertThat(job.state().attemptCount()).isOne();
        assertThat(Duration.between(store.clock().now(), job.state().nextRetryAt()))
                .isBetween(ofMinutes(4), ofMinutes(5));
        assertThat(job.outcome().errorMessage()).startsWith("The heartbeat expired in attempt 1 of 3");
        assertThat(job.outcome().history()).singleElement().satisfies(past -> {
            assertThat(past.ending()).isEqualTo(PastAttempt.Ending.EXPIRED);
            assertThat(past.token()).isEqualTo(claim.token());
        });
        assertThat(store.work().beat(List.of(claim.attempt()))).containsEntry(claim.attempt(), Pulse.LOST);
        assertThat(store.work().finish(claim, new Finish.Succeed())).isFalse();
    }

    @Test
    void jobThatKillsItsWorkerInEveryAttempt_endsFailedAtItsMaximum() {
        NewJob submitted = job().withPolicies(policies(RetryPolicy.fixed(3, Duration.ZERO)));
        store.jobs().submit(submitted);
        for (int attempt = 1; attempt <= 3; attempt++) {
            Claim claim = claim(submitted);
            assertThat(claim.job().state().attemptCount()).isEqualTo(attempt);
            age(claim, STALE);
            reconciler.tick();
        }
        Job job = store.jobs().get(submitted.id()).orElseThrow();
        assertThat(job.status()).isEqualTo(JobStatus.FAILED);
        assertThat(job.outcome().errorMessage())
                .startsWith("The heartbeat expired after 3 attempts")
                .contains("worker-1");
        assertThat(job.outcome().history()).hasSize(3).allMatch(past -> past.ending() == PastAttempt.Ending.EXPIRED);
    }

    @Test
    void silentJobWithARequestToCancel_endsCancelled() {
        Claim claim = running(job());
        store.jobs().cancel(claim.job().id(), "me", "why not");
        age(claim, STALE);
        assertThat(reconciler.tick().cancelled()).isOne();
        assertThat(get(claim).status()).isEqualTo(JobStatus.CANCELLED);
    }

    @Test
    void jobOverItsMaximumDuration_failsAlthoughItBeats_andIsNotRetried_withoutAnyWatch() {
        Claim claim = running(job().withPolicies(JobPolicies.DEFAULT.withMaxDuration(ofHours(1))));
        age(claim, ofHours(2));
        assertThat(store.work().beat(List.of(claim.attempt()))).containsEntry(claim.attempt(), Pulse.HELD);
        assertThat(reconciler(store.reconcilable()).tick().timedOut()).isOne();
        Job job = get(claim);
        assertThat(job.status()).isEqualTo(JobStatus.FAILED);
        assertThat(job.outcome().errorMessage()).contains("maximum duration", "2 h 0 min", "1 h 0 min");
        assertThat(job.outcome().history())
                .singleElement()
                .satisfies(past -> assertThat(past.ending()).isEqualTo(PastAttempt.Ending.TIMED_OUT));
    }

    @Test
    void reconcilerThatHasWatchedNothing_touchesNoSilentJob() {
        Claim claim = running(job());
        age(claim, ofHours(1).minusMinutes(1));
        SweepReport report = reconciler(store.reconcilable()).tick();
        assertThat(report.held()).isOne();
        assertThat(get(claim).status()).isEqualTo(JobStatus.RUNNING);
    }

    @Test
    void beatBetweenReadAndExpiry_wins_andTheOthersOfTheBatchAreRecovered() {
        Claim beating = running(job("a"));
        Claim dead = running(job("b"));
        age(beating, STALE);
        age(dead, STALE);
        JobReconciler paused = reconciler(new PausedJobs(store.reconcilable(), () -> beat(beating)));
        watch(paused);
        SweepReport report = paused.tick();
        assertThat(report.spared()).isOne();
        assertThat(report.requeued()).isOne();
        assertThat(get(beating).status()).isEqualTo(JobStatus.RUNNING);
        assertThat(get(dead).status()).isEqualTo(JobStatus.QUEUED);
    }

    /** Field case A1: the sweep is held up between its read and its writes, and the others are none the worse for it. */
    @Test
    void staleSweep_changesNeitherAFinishedJobNorOneThatIsClaimedAgain_andRecoversTheOthers() {
        Claim finishing = running(job("a"));
        Claim moving = running(job("b"));
        List<Claim> dead = List.of(running(job("c")), running(job("c")), running(job("c")));
        dead.forEach(claim -> age(claim, STALE));
        age(finishing, STALE);
        age(moving, STALE);
        AtomicReference<Claim> again = new AtomicReference<>();
        List<ExecutionJobsRecord> meanwhile = new ArrayList<>();
        JobReconciler paused = reconciler(new PausedJobs(store.reconcilable(), () -> {
            store.work().finish(finishing, new Finish.Succeed());
            store.work().finish(moving, new Finish.Retry(Duration.ZERO, "again"));
            again.set(claimOne("b"));
            age(again.get(), STALE); // it is as old, and still another attempt than the one that was read
            meanwhile.addAll(List.of(row(finishing), row(moving)));
        }));
        watch(paused);
        SweepReport report = paused.tick();
        assertThat(report.spared()).isEqualTo(2);
        assertThat(report.requeued()).isEqualTo(3);
        assertThat(List.of(row(finishing), row(moving))).isEqualTo(meanwhile);
        assertThat(row(moving).getClaimToken()).isEqualTo(again.get().token());
        assertThat(dead).allSatisfy(claim -> assertThat(get(claim).status()).isEqualTo(JobStatus.QUEUED));
    }

    private ExecutionJobsRecord row(Claim claim) {
        return dsl.fetchSingle(
                EXECUTION_JOBS, EXECUTION_JOBS.OPERATION_ID.eq(claim.job().id()));
    }

    @Test
    void rowThatAnotherTransactionHolds_isNeitherWaitedForNorExpired_untilABeatCouldHaveFollowed() {
        Claim claim = running(job());
        age(claim, STALE);
        dsl.transaction(tx -> {
            tx.dsl()
                    .select(EXECUTION_JOBS.OPERATION_ID)
                    .from(EXECUTION_JOBS)
                    .where(EXECUTION_JOBS.OPERATION_ID.eq(claim.job().id()))
                    .forUpdate()
                    .fetch();
            assertThat(reconciler.tick().locked()).isOne();
            passes(ofMinutes(10));
            assertThat(reconciler.tick().locked()).isOne();
        });
        assertThat(reconciler.tick().spared()).isOne();
        passes(HEARTBEAT.interval().plusSeconds(1));
        assertThat(reconciler.tick().spared()).isOne();
        assertThat(get(claim).status()).isEqualTo(JobStatus.RUNNING);
        passes(ofSeconds(1));
        assertThat(reconciler.tick().requeued()).isOne();
    }

    @Test
    void jobWithoutAPlaceInTheQueue_getsItWhenItWasUntouchedForAWhile() {
        String id = newId();
        store.jobs()
                .create(Job.of(
                        id,
                        JobSpec.of("orphan", JsonText.of("{}")),
                        store.clock().now()));
        assertThat(reconciler.tick().repaired()).isZero();
        dsl.update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.UPDATED_AT, store.clock().now().minusSeconds(61))
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
        assertThat(reconciler.tick().repaired()).isOne();
        assertThat(claimOne("orphan").job().id()).isEqualTo(id);
    }

    @Test
    void jobWhoseRecordCannotBeRead_stopsNoOtherOne_andFailsAtItsMaximumDuration_withItsRecordUntouched() {
        Claim unreadable = running(job("a").withPolicies(JobPolicies.DEFAULT.withMaxDuration(ofHours(1))));
        Claim dead = running(job("b"));
        JsonText odd = JsonText.of("{\"kind\": 7}");
        dsl.update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.RECORD, odd)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(unreadable.job().id()))
                .execute();
        age(unreadable, STALE);
        age(dead, STALE);
        SweepReport report = reconciler.tick();
        assertThat(report.errors()).isOne();
        assertThat(report.requeued()).isOne();
        assertThat(column(unreadable, EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.RUNNING);
        age(unreadable, ofHours(1));
        assertThat(reconciler.tick().timedOut()).isOne();
        assertThat(column(unreadable, EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.FAILED);
        assertThat(column(unreadable, EXECUTION_JOBS.RECORD)).isEqualTo(odd);
    }

    @Test
    void manyDeadJobs_areRecoveredInOneSweep_batchByBatch() {
        for (int i = 0; i < 25; i++) {
            age(running(job("many")), STALE);
        }
        JobReconciler small = new JobReconciler(
                RecoverySettings.DEFAULT.withBatchSize(4), store.reconcilable(), store.queue(), clock);
        watch(small);
        assertThat(small.tick().requeued()).isEqualTo(25);
    }

    @Test
    void probe_waitsWhereABeatWouldWait() throws Exception {
        CountDownLatch locked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        CompletableFuture<Void> locker = OwnThread.run(() -> dsl.transaction(tx -> {
            // As CREATE INDEX does: reads go on, beats wait.
            tx.dsl().execute("lock table {0} in share mode", EXECUTION_JOBS);
            locked.countDown();
            release.await();
        }));
        locked.await();
        CompletableFuture<Instant> probe =
                OwnThread.supply(() -> store.reconcilable().probe());
        await().during(ofMillis(300)).until(() -> !probe.isDone());
        assertThat(store.clock().now()).isNotNull();
        release.countDown();
        locker.join();
        assertThat(probe.get(10, TimeUnit.SECONDS))
                .isBeforeOrEqualTo(store.clock().now());
    }

    @Test
    void probe_failsOnAServerThatIsReadOnly_thoughItsClockCanBeRead() {
        String role = "read_only_" + newId().replace("-", "");
        DSLContext admin = DSL.using(database.adminDataSource(), SQLDialect.POSTGRES);
        admin.execute("create role " + role + " login password 'secret' in role \"" + database.user() + "\"");
        try {
            admin.execute("alter role " + role + " set default_transaction_read_only = on");
            PostgresStore its = PostgresStore.on(database.unpooledDataSource(role, "secret"), database.schema());
            assertThat(its.clock().now()).isNotNull();
            assertThatThrownBy(() -> its.reconcilable().probe()).isInstanceOf(StoreUnavailableException.class);
        } finally {
            admin.execute("drop role " + role);
        }
    }

    @Test
    void loop_recoversAJobOfAKilledWorker_withinItsTimeoutAndOneSweep_onceItHasWatched() {
        HeartbeatPolicy quick = new HeartbeatPolicy(ofMillis(500), ofMillis(1_500));
        try (JobReconciler running = new JobReconciler(
                RecoverySettings.DEFAULT.withJobSweepInterval(ofMillis(200)), store.reconcilable(), store.queue())) {
            running.start();
            Claim alive = running(job("alive").withPolicies(JobPolicies.DEFAULT.withHeartbeat(quick)));
            Claim dead = running(job("dead").withPolicies(JobPolicies.DEFAULT.withHeartbeat(quick)));
            await().pollInterval(ofMillis(200)).until(() -> {
                beat(alive);
                return get(dead).status() == JobStatus.QUEUED;
            });
            assertThat(get(alive).status()).isEqualTo(JobStatus.RUNNING);
        }
    }

    /** Watches for as long as the default heartbeat timeout, on the manual clock. */
    private void watch(JobReconciler its) {
        its.probeRound();
        passes(HEARTBEAT.timeout(), its);
    }

    private void passes(Duration time) {
        passes(time, reconciler);
    }

    /** The manual clock goes on, in steps that leave no gap in the watch. The database's goes on as it does. */
    private void passes(Duration time, JobReconciler its) {
        Duration end = clock.elapsed().plus(time);
        while (clock.elapsed().compareTo(end) < 0) {
            Duration left = end.minus(clock.elapsed());
            clock.advance(left.compareTo(ofSeconds(20)) < 0 ? left : ofSeconds(20));
            its.probeRound();
        }
    }

    private JobReconciler reconciler(ReconcilableJobs jobs) {
        return new JobReconciler(RecoverySettings.DEFAULT, jobs, store.queue(), clock);
    }

    private Settings mapped() {
        return new Settings()
                .withRenderMapping(new RenderMapping()
                        .withSchemata(new MappedSchema().withInput("millrace").withOutput(database.schema())));
    }

    private static String newId() {
        return "job-" + UUID.randomUUID();
    }

    private static NewJob job() {
        return job("kind");
    }

    private static NewJob job(String kind) {
        return NewJob.of(kind + "-" + newId(), kind, JsonText.of("{}"));
    }

    private static JobPolicies policies(RetryPolicy retry) {
        return JobPolicies.DEFAULT.withRetry(retry);
    }

    private Claim running(NewJob job) {
        store.jobs().submit(job);
        Claim claim = claim(job);
        store.work().start(claim.attempt());
        return claim;
    }

    private Claim claim(NewJob job) {
        Claim claim = claimOne(job.spec().kind());
        assertThat(claim.job().id()).isEqualTo(job.id());
        return claim;
    }

    private Claim claimOne(String kind) {
        List<ClaimRequest.Source> source = List.of(new ClaimRequest.Source("managed", "default"));
        return store.work().claim(ClaimRequest.of("worker-1", source, List.of(kind), 1)).stream()
                .findFirst()
                .orElseThrow();
    }

    private void beat(Claim claim) {
        assertThat(store.work().beat(List.of(claim.attempt()))).containsEntry(claim.attempt(), Pulse.HELD);
    }

    private Job get(Claim claim) {
        return store.jobs().get(claim.job().id()).orElseThrow();
    }

    private <T> T column(Claim claim, Field<T> field) {
        return dsl.select(field)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(claim.job().id()))
                .fetchSingle()
                .value1();
    }

    /** Lets time pass for a job: its claim and its last beat become older. */
    private void age(Claim claim, Duration by) {
        dsl.update(EXECUTION_JOBS)
                .set(
                        EXECUTION_JOBS.CLAIMED_AT,
                        column(claim, EXECUTION_JOBS.CLAIMED_AT).minus(by))
                .set(
                        EXECUTION_JOBS.LAST_HEARTBEAT_AT,
                        column(claim, EXECUTION_JOBS.LAST_HEARTBEAT_AT).minus(by))
                .where(EXECUTION_JOBS.OPERATION_ID.eq(claim.job().id()))
                .execute();
    }
}
