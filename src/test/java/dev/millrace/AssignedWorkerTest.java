package dev.millrace;

import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.queue;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.SubmitOption.runtimeProfile;
import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.devdb.Fault;
import dev.millrace.devdb.FaultyProxy;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Assignment;
import dev.millrace.store.Assignment.Reason;
import dev.millrace.store.Controls.Scope;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.worker.InvalidWorkerException;
import dev.millrace.worker.JobHandler;
import dev.millrace.worker.StopReason;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jooq.SQLDialect;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker for the job of one id, on a pool that may be empty in between and has eight connections at most. */
@MillraceDatabase
@Timeout(120)
class AssignedWorkerTest {
    private static final JobType<JsonText> WORK = JobType.of("work", JsonText.class);
    private static final JsonText NOTHING = JsonText.of("{}");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final HeartbeatPolicy SHORT = new HeartbeatPolicy(Duration.ofMillis(100), Duration.ofSeconds(1));

    private final TestDatabase database;
    private final Millrace millrace;
    private final HikariDataSource pool;
    private final AtomicInteger runs = new AtomicInteger();

    AssignedWorkerTest(TestDatabase database) {
        this.database = database;
        this.millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.unpooledDataSource());
        config.setMinimumIdle(0);
        config.setMaximumPoolSize(8);
        this.pool = new HikariDataSource(config);
    }

    @AfterEach
    void close() {
        pool.close();
    }

    private WorkerBuilder worker(JobHandler<JsonText> handler) {
        return Millrace.on(pool)
                .withSchema(database.schema())
                .worker()
                .name("assigned")
                .pollInterval(Duration.ofMillis(20))
                .handle(WORK, handler);
    }

    private AssignedRun run(String id, Duration patience) throws InterruptedException {
        return worker((payload, context) -> runs.incrementAndGet()).runAssigned(id, patience);
    }

    private static <T> CompletableFuture<T> elsewhere(Callable<T> call) {
        return OwnThread.supply(() -> {
            try {
                return call.call();
            } catch (Exception e) {
                throw new CompletionException(e);
            }
        });
    }

    private static Reason why(AssignedRun run) {
        assertThat(run.ran()).isFalse();
        return run.refusal().reason();
    }

    @Test
    void job_isRun_whateverItsQueueAndProfile_andNoOther() throws InterruptedException {
        Job other = millrace.submit(WORK, NOTHING);
        Job job = millrace.submit(WORK, NOTHING, queue("elsewhere"), runtimeProfile("special"));
        AssignedRun run = run(job.id(), PATIENCE);
        assertThat(run.ran()).isTrue();
        assertThat(run.refusal()).isNull();
        assertThat(run.job().status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(run.job().state().claimedBy()).isEqualTo("assigned");
        assertThat(runs).hasValue(1);
        assertThat(millrace.get(other.id()).orElseThrow().status()).isEqualTo(JobStatus.QUEUED);
        assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
    }

    @Test
    void attemptThatFails_isOne_andTheJobWaitsForItsNext() throws InterruptedException {
        Job job = millrace.submit(WORK, NOTHING, retry(RetryPolicy.fixed(3, Duration.ZERO)));
        AssignedRun run = worker((payload, context) -> {
                    runs.incrementAndGet();
                    throw new IllegalStateException("boom");
                })
                .runAssigned(job.id(), PATIENCE);
        assertThat(run.ran()).isTrue();
        assertThat(run.job().status()).isEqualTo(JobStatus.QUEUED);
        assertThat(run.job().outcome().errorMessage()).contains("boom");
        assertThat(runs).hasValue(1);
    }

    @Test
    void jobThatCannotBeRun_isRefusedAtOnce() throws InterruptedException {
        assertThat(why(run("no-such-job", PATIENCE))).isEqualTo(Reason.NOT_FOUND);
        Job ended = millrace.submit(WORK, NOTHING);
        millrace.cancel(ended.id(), null, null);
        AssignedRun run = run(ended.id(), PATIENCE);
        assertThat(why(run)).isEqualTo(Reason.ENDED);
        assertThat(run.job().status()).isEqualTo(JobStatus.CANCELLED);
        Job remote = millrace.submit(WORK, NOTHING, SubmitOption.backend("elsewhere"));
        assertThat(why(run(remote.id(), PATIENCE))).isEqualTo(Reason.REMOTE);
        assertThat(runs).hasValue(0);
    }

    @Test
    void jobThatCannotBeRunYet_isWaitedFor_asLongAsThePatienceLasts() throws InterruptedException {
        Job job = millrace.submit(WORK, NOTHING, delay(Duration.ofHours(1)));
        assertThat(why(run(job.id(), Duration.ofMillis(300)))).isEqualTo(Reason.NOT_DUE);
        Job soon = millrace.submit(WORK, NOTHING, delay(Duration.ofMillis(300)));
        assertThat(run(soon.id(), PATIENCE).job().status()).isEqualTo(JobStatus.SUCCEEDED);
        Job paused = millrace.submit(WORK, NOTHING);
        millrace.controls().pause(Scope.kind("work"), "test", null);
        try {
            assertThat(why(run(paused.id(), Duration.ofMillis(300)))).isEqualTo(Reason.PAUSED);
        } finally {
            millrace.controls().resume(Scope.kind("work"), "test");
        }
        assertThat(runs).hasValue(1);
    }

    @Test
    void patienceOfZero_asksOnce() throws InterruptedException {
        Job due = millrace.submit(WORK, NOTHING);
        assertThat(run(due.id(), Duration.ZERO).job().status()).isEqualTo(JobStatus.SUCCEEDED);
        Job held = millrace.submit(WORK, NOTHING);
        millrace.queue().claim(AssignedClaim.of("other", held.id()));
        assertThat(why(run(held.id(), Duration.ZERO))).isEqualTo(Reason.HELD);
        assertThat(why(run("no-such-job", Duration.ofSeconds(Long.MAX_VALUE)))).isEqualTo(Reason.NOT_FOUND);
    }

    @Test
    void jobOfASilentWorker_isTaken_onceTheDatabaseWasWatchedForItsTimeout() throws InterruptedException {
        Job job = millrace.submit(WORK, NOTHING, heartbeat(SHORT));
        // Claimed by somebody who will never beat: dead one second from now.
        assertThat(millrace.queue().claim(AssignedClaim.of("dead", job.id()))).isInstanceOf(Assignment.Taken.class);
        assertThat(why(run(job.id(), Duration.ofMillis(200)))).isIn(Reason.HELD, Reason.SILENT);
        AssignedRun run = run(job.id(), PATIENCE);
        assertThat(run.job().status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(run.job().state().attemptCount()).isEqualTo(2);
        assertThat(run.job().state().claimedBy()).isEqualTo("assigned");
    }

    private void letItBeSilentSince(Instant then, String id) {
        MappedSchema schema = new MappedSchema().withInput("millrace").withOutput(database.schema());
        DSL.using(
                        database.dataSource(),
                        SQLDialect.POSTGRES,
                        new Settings().withRenderMapping(new RenderMapping().withSchemata(schema)))
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.LAST_HEARTBEAT_AT, then)
                .set(EXECUTION_JOBS.CLAIMED_AT, then)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
    }

    /** It has been silent for longer than its timeout; but who knows what the database has been through meanwhile. */
    @Test
    void jobThatWasSilentForLong_isNotTaken_beforeTheDatabaseWasWatched() throws InterruptedException {
        Job job = millrace.submit(
                WORK, NOTHING, heartbeat(new HeartbeatPolicy(Duration.ofSeconds(1), Duration.ofMinutes(1))));
        assertThat(millrace.queue().claim(AssignedClaim.of("dead", job.id()))).isInstanceOf(Assignment.Taken.class);
        letItBeSilentSince(job.createdAt().minus(Duration.ofMinutes(10)), job.id());
        assertThat(why(run(job.id(), Duration.ofMillis(500)))).isEqualTo(Reason.SILENT);
        assertThat(millrace.get(job.id()).orElseThrow().state().claimedBy()).isEqualTo("dead");
    }

    @Test
    void jobThatIsCancelledWhileItRuns_ends_andSoDoesTheWorker() throws InterruptedException {
        Job job = millrace.submit(WORK, NOTHING, heartbeat(SHORT));
        AssignedRun run = worker((payload, context) -> {
                    millrace.cancel(context.job().id(), "someone", null);
                    new CountDownLatch(1).await();
                })
                .runAssigned(job.id(), PATIENCE);
        assertThat(run.job().status()).isEqualTo(JobStatus.CANCELLED);
    }

    @Test
    void attemptThatIsLost_endsTheWorker() throws InterruptedException {
        Job job = millrace.submit(WORK, NOTHING, heartbeat(SHORT));
        AtomicReference<StopReason> reason = new AtomicReference<>();
        AssignedRun run = worker((payload, context) -> {
                    millrace.queue().requeue(context.claim().attempt(), Duration.ofHours(1));
                    try {
                        new CountDownLatch(1).await();
                    } finally {
                        reason.set(context.stopReason().orElse(null));
                    }
                })
                .runAssigned(job.id(), PATIENCE);
        assertThat(run.ran()).isTrue();
        assertThat(run.job().status()).isEqualTo(JobStatus.QUEUED);
        assertThat(reason).hasValue(StopReason.LOST);
    }

    @Test
    void waitingThreadThatIsInterrupted_handsTheJobBack() throws Exception {
        Job job = millrace.submit(WORK, NOTHING);
        CountDownLatch running = new CountDownLatch(1);
        AtomicReference<Thread> caller = new AtomicReference<>();
        CompletableFuture<AssignedRun> run = elsewhere(() -> {
            caller.set(Thread.currentThread());
            return worker((payload, context) -> {
                        running.countDown();
                        new CountDownLatch(1).await();
                    })
                    .drainTimeout(Duration.ofMillis(50))
                    .runAssigned(job.id(), PATIENCE);
        });
        assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
        caller.get().interrupt();
        assertThat(run).failsWithin(PATIENCE).withThrowableThat().withRootCauseInstanceOf(InterruptedException.class);
        Job after = millrace.get(job.id()).orElseThrow();
        assertThat(after.status()).isEqualTo(JobStatus.QUEUED);
        assertThat(after.outcome().history()).hasSize(1);
    }

    @Test
    void claimWhoseAnswerIsLost_isFound_andConnectionsThatBreakCostNothing() throws Exception {
        Job job = millrace.submit(WORK, NOTHING);
        try (FaultyProxy proxy = FaultyProxy.before(database)) {
            HikariConfig config = new HikariConfig();
            config.setDataSource(proxy.dataSource());
            config.setMaximumPoolSize(8);
            try (HikariDataSource faulty = new HikariDataSource(config)) {
                Millrace behind = Millrace.on(faulty).withSchema(database.schema());
                behind.get(job.id()); // passes the gate
                proxy.inject(Fault.cutBeforeReply().onStatement("set \"status\" = 'Provisioning'"));
                CompletableFuture<AssignedRun> run = elsewhere(() -> behind.worker()
                        .name("assigned")
                        .pollInterval(Duration.ofMillis(20))
                        .handle(WORK, (payload, context) -> {
                            runs.incrementAndGet();
                            proxy.cutConnections();
                        })
                        .runAssigned(job.id(), PATIENCE));
                AssignedRun answer = run.get(60, TimeUnit.SECONDS);
                assertThat(answer.job().status()).isEqualTo(JobStatus.SUCCEEDED);
                assertThat(answer.job().state().attemptCount()).isOne();
                assertThat(proxy.struck()).isOne();
            }
        }
        assertThat(runs).hasValue(1);
    }

    /** As the worker asks before it closes, so that it can hand the job back. */
    @Test
    void claimWhoseAnswerIsLost_isFoundByItsRecovery() {
        Job job = millrace.submit(WORK, NOTHING);
        AssignedClaim request = AssignedClaim.of("assigned", job.id());
        assertThat(millrace.queue().claim(request)).isInstanceOf(Assignment.Taken.class); // told to nobody
        try (AssignedJob assigned = new AssignedJob(millrace.queue(), request, () -> {
            throw new AssertionError("it is held by this request");
        })) {
            assertThat(assigned.seenBy(PostgresStore.on(database.dataSource(), database.schema())
                                    .work())
                            .recover(List.of()))
                    .extracting(claim -> claim.job().id())
                    .containsExactly(job.id());
            assertThat(assigned.taken()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void job_isRun_onAPoolOfOneOrTwo(int connections) throws InterruptedException {
        Job job = millrace.submit(WORK, NOTHING);
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.unpooledDataSource());
        config.setMaximumPoolSize(connections);
        try (HikariDataSource small = new HikariDataSource(config)) {
            AssignedRun run = Millrace.on(small)
                    .withSchema(database.schema())
                    .worker()
                    .handle(WORK, (payload, context) -> context.progress(50))
                    .runAssigned(job.id(), PATIENCE);
            assertThat(run.job().status()).isEqualTo(JobStatus.SUCCEEDED);
        }
    }

    @Test
    void kindWithoutAHandler_isRefused_andTheJobLeftAlone() throws InterruptedException {
        Job job = millrace.submit(JobType.of("another", JsonText.class), NOTHING);
        assertThatExceptionOfType(InvalidWorkerException.class)
                .isThrownBy(() -> run(job.id(), PATIENCE))
                .withMessageContaining("none for the kind \"another\"")
                .withMessageContaining("There are handlers for: work");
        assertThat(millrace.get(job.id()).orElseThrow()).isEqualTo(job);
    }
}
