package dev.millrace.recovery;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static dev.millrace.jooq.Tables.LEASES;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.Millrace;
import dev.millrace.OwnThread;
import dev.millrace.backend.Backend;
import dev.millrace.backend.Backend.Capability;
import dev.millrace.backend.Observation;
import dev.millrace.backend.RemoteOperation;
import dev.millrace.backend.Retrying;
import dev.millrace.backend.StartRequest;
import dev.millrace.backend.StartResult;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Cancellation;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.NewJob;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Lease;
import dev.millrace.store.LeaseSettings;
import dev.millrace.store.LeaseStore;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.SQLDialect;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs of a backend from their start to their end, on a real database; time passes by aging rows. */
@MillraceDatabase
class BackendReconcilerTest {
    private static final BackendSettings SETTINGS = BackendSettings.DEFAULT;

    /** About as long as a sweep takes. */
    private static final long LONGEST_HEAD_START_NANOS = 60_000_000;

    private final Millrace millrace;
    private final PostgresStore store;
    private final DSLContext dsl;
    private final FakeBackend farm = new FakeBackend("farm");
    private final List<BackendReconciler> open = new ArrayList<>();
    private BackendReconciler reconciler;

    BackendReconcilerTest(TestDatabase database) {
        this.millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
        this.store = PostgresStore.on(database.dataSource(), database.schema());
        this.dsl = DSL.using(
                database.dataSource(),
                SQLDialect.POSTGRES,
                new Settings()
                        .withRenderMapping(new RenderMapping()
                                .withSchemata(
                                        new MappedSchema().withInput("millrace").withOutput(database.schema()))));
    }

    @BeforeEach
    void prepare() {
        millrace.controls().release("test");
        dsl.deleteFrom(EXECUTION_JOBS).execute();
        dsl.deleteFrom(LEASES).execute();
        reconciler = reconciler(SETTINGS, farm);
    }

    @AfterEach
    void close() {
        open.forEach(BackendReconciler::close);
    }

    private BackendReconciler reconciler(BackendSettings settings, Backend... backends) {
        BackendReconciler made = millrace.backendReconciler(settings, backends);
        open.add(made);
        return made;
    }

    private static NewJob newJob(String backend) {
        NewJob job = NewJob.of("job-" + UUID.randomUUID(), "k", JsonText.of("{\"a\":1}"));
        return job.withSpec(job.spec().withBackend(backend));
    }

    private Job submit(NewJob job) {
        return store.jobs().submit(job).job();
    }

    private Job submit() {
        return submit(newJob("farm"));
    }

    private Job submit(RetryPolicy retry) {
        NewJob job = newJob("farm");
        return submit(job.withPolicies(job.policies().withRetry(retry)));
    }

    private Job get(Job job) {
        return store.jobs().get(job.id()).orElseThrow();
    }

    /** A job that its backend runs. */
    private Job started() {
        return started(submit());
    }

    private Job started(Job job) {
        assertThat(reconciler.tick().started()).isPositive();
        assertThat(get(job).status()).isEqualTo(JobStatus.RUNNING);
        return get(job);
    }

    private void end(Job job, Observation how) {
        farm.end(farm.token(job.id()), how);
    }

    private <T> void set(Job job, Field<T> field, T value) {
        dsl.update(EXECUTION_JOBS)
                .set(field, value)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                .execute();
    }

    private void age(Job job, Duration by) {
        Instant past = store.clock().now().minus(by);
        dsl.update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.CLAIMED_AT, past)
                .set(EXECUTION_JOBS.LAST_HEARTBEAT_AT, past)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                .execute();
    }

    @Test
    void queuedJob_isStartedWithItsParametersAndToken_andRuns() {
        Job job = submit();
        BackendReport report = reconciler.tick();
        assertThat(report.begun()).isOne();
        assertThat(report.started()).isOne();
        assertThat(report.errors()).isZero();
        Job running = get(job);
        assertThat(running.status()).isEqualTo(JobStatus.RUNNING);
        assertThat(running.state().attemptCount()).isOne();
        assertThat(running.state().claimedBy()).isNotBlank();
        StartRequest request = farm.requests.get(0);
        assertThat(request.attempt()).isOne();
        assertThat(request.job().spec().parameters()).isEqualTo(JsonText.of("{\"a\":1}"));
        assertThat(store.remote().get(job.id()).orElseThrow().token()).isEqualTo(request.token());
        assertThat(running.outcome().providerOperationId()).isEqualTo("op-" + request.token());
        assertThat(dsl.fetchCount(LEASES, LEASES.LEASE_KEY.like("millrace/job/%")))
                .as("leases left")
                .isZero();
    }

    @Test
    void success_leavesResultAndArtifacts() {
        Job job = started();
        end(job, new Observation.Succeeded(JsonText.of("{\"ok\":true}"), List.of("s3://a", "s3://b")));
        assertThat(reconciler.tick().succeeded()).isOne();
        Job ended = get(job);
        assertThat(ended.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(ended.state().percentComplete()).isEqualTo(100);
        assertThat(ended.outcome().artifacts()).containsExactly("s3://a", "s3://b");
        assertThat(store.results().get(job.id())).contains(JsonText.of("{\"ok\":true}"));
    }

    @Test
    void progress_isWrittenWhenItIsNews_andASignOfLifeOnceInAHeartbeatInterval() {
        Job job = started();
        assertThat(reconciler.tick().progressed()).as("nothing new").isZero();
        end(job, new Observation.Running(40.0, "compiling"));
        assertThat(reconciler.tick().progressed()).isOne();
        assertThat(get(job).state().percentComplete()).isEqualTo(40);
        assertThat(get(job).state().currentPhase()).isEqualTo("compiling");
        assertThat(reconciler.tick().progressed()).as("nothing new").isZero();
        age(job, ofSeconds(31));
        Instant before = get(job).state().lastHeartbeatAt();
        assertThat(reconciler.tick().progressed()).isOne();
        assertThat(get(job).state().lastHeartbeatAt()).isAfter(before.plusSeconds(30));
    }

    @Test
    void failure_isRetriedAfterTheBackoff_withATokenOfItsOwn_andThenFails() {
        Job job = started(submit(RetryPolicy.fixed(2, ofHours(1))));
        UUID first = farm.token(job.id());
        end(job, new Observation.Failed("out of disk", Retrying.ALLOWED));
        assertThat(reconciler.tick().retried()).isOne();
        Job waiting = get(job);
        assertThat(waiting.status()).isEqualTo(JobStatus.QUEUED);
        assertThat(waiting.state().nextRetryAt()).isAfter(store.clock().now().plus(ofMinutes(59)));
        assertThat(waiting.outcome().errorMessage()).isEqualTo("out of disk");
        BackendReport early = reconciler.tick();
        assertThat(early.begun()).isZero();
        assertThat(early.found()).as("no lease for one that is not due").isZero();

        set(job, EXECUTION_JOBS.NEXT_RETRY_AT, store.clock().now());
        assertThat(reconciler.tick().started()).isOne();
        UUID second = farm.token(job.id());
        assertThat(second).isNotEqualTo(first);
        end(job, new Observation.Failed("out of disk again", Retrying.ALLOWED));
        assertThat(reconciler.tick().failed()).isOne();
        assertThat(get(job).status()).isEqualTo(JobStatus.FAILED);
        assertThat(get(job).outcome().history()).extracting(PastAttempt::token).containsExactly(first, second);
    }

    @Test
    void failureThatNoRetryCanMend_failsAtOnce_andSoDoesARefusedStart() {
        Job job = started();
        end(job, new Observation.Failed("no such image", Retrying.POINTLESS));
        assertThat(reconciler.tick().failed()).isOne();
        assertThat(get(job).outcome().errorMessage()).isEqualTo("no such image");

        Backend choosy = new Delegate(farm, "choosy") {
            @Override
            public StartResult start(StartRequest request) {
                return new StartResult.Refused("unknown kind", Retrying.POINTLESS);
            }
        };
        Job refused = submit(newJob("choosy"));
        assertThat(reconciler(SETTINGS, choosy).tick().failed()).isOne();
        assertThat(get(refused).status()).isEqualTo(JobStatus.FAILED);
        assertThat(get(refused).outcome().errorMessage()).isEqualTo("unknown kind");
    }

    @Test
    void operationThatTheBackendNoLongerKnows_isAFailedAttempt() {
        Job job = started();
        farm.operations.clear();
        assertThat(reconciler.tick().retried()).isOne();
        assertThat(get(job).outcome().errorMessage()).contains("farm").contains("no longer knows");
    }

    @Test
    void startWhoseAnswerIsLost_isRepeatedWithTheSameToken_andRunsOnce() {
        Job job = submit();
        farm.afterStart = operation -> {
            throw new IllegalStateException("connection reset");
        };
        BackendReport report = reconciler.tick();
        assertThat(report.begun()).isOne();
        assertThat(report.errors()).isOne();
        assertThat(report.failure()).hasMessage("connection reset");
        assertThat(get(job).status()).isEqualTo(JobStatus.PROVISIONING);
        assertThat(get(job).state().currentPhase()).contains("connection reset");
        farm.afterStart = operation -> {};
        BackendReconciler another = reconciler(SETTINGS, farm);
        assertThat(another.tick().started()).isOne();
        assertThat(get(job).state().attemptCount()).isOne();
        assertThat(farm.operations).hasSize(1);
        assertThat(farm.startsOf(farm.token(job.id()))).isEqualTo(2);
    }

    @Test
    void cancellationOfARunningJob_isPassedOn_untilTheBackendSaysThatItHasEnded() {
        Job job = started();
        farm.onCancel = operation -> {};
        assertThat(store.jobs().cancel(job.id(), "me", null)).isEqualTo(CancelResult.REQUESTED);
        assertThat(reconciler.tick().cancelled()).isZero();
        assertThat(get(job).status()).isEqualTo(JobStatus.RUNNING);
        assertThat(get(job).state().currentPhase()).isEqualTo("Cancelling");
        reconciler.tick();
        assertThat(farm.cancelled).hasSize(2);
        end(job, new Observation.Failed("terminated", Retrying.ALLOWED));
        assertThat(reconciler.tick().cancelled()).isOne();
        assertThat(get(job).status()).isEqualTo(JobStatus.CANCELLED);
    }

    @Test
    void successThatComesBeforeTheCancellationDoes_counts() {
        Job job = started();
        store.jobs().cancel(job.id(), "me", null);
        farm.onCancel = operation -> {};
        end(job, Observation.Succeeded.PLAINLY);
        assertThat(reconciler.tick().succeeded()).isOne();
        assertThat(get(job).status()).isEqualTo(JobStatus.SUCCEEDED);
    }

    @Test
    void backendThatCannotCancel_isNotAskedTo_andTheJobEndsAsItEnds() {
        farm.capabilities.remove(Capability.CANCEL);
        reconciler = reconciler(SETTINGS, farm);
        Job job = started();
        store.jobs().cancel(job.id(), "me", null);
        reconciler.tick();
        assertThat(farm.cancelled).isEmpty();
        end(job, Observation.Succeeded.PLAINLY);
        reconciler.tick();
        assertThat(get(job).status()).isEqualTo(JobStatus.SUCCEEDED);
    }

    @Test
    void cancellationWhileTheStartIsUnderWay_cancelsWhatWasStarted() {
        Job job = submit();
        farm.afterStart = operation -> store.jobs().cancel(operation.jobId(), "me", null);
        assertThat(reconciler.tick().cancelled()).isOne();
        assertThat(farm.cancelled).containsExactly(farm.token(job.id()));
        assertThat(get(job).status()).isEqualTo(JobStatus.CANCELLED);
    }

    @Test
    void cancellationOfAJobWhoseStartGotNoAnswer_isPassedOnByToken() {
        Job job = submit();
        farm.afterStart = operation -> {
            throw new IllegalStateException("lost");
        };
        reconciler.tick();
        store.jobs().cancel(job.id(), "me", null);
        assertThat(reconciler.tick().cancelled()).isOne();
        assertThat(farm.cancelled).containsExactly(farm.token(job.id()));
        assertThat(get(job).status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(farm.requests).hasSize(1);
    }

    /** Field case A3: the backend is asked only for what was begun, and what was begun is cancelled. */
    @Test
    void cancelAgainstSweep_leavesNothingRunning() throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(2);
        int begun = 0;
        for (int round = 0; round < 30; round++) {
            Job job = submit();
            CompletableFuture<CancelResult> cancelling = OwnThread.supply(() -> {
                meet(barrier);
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LONGEST_HEAD_START_NANOS));
                return store.jobs().cancel(job.id(), "me", null);
            });
            meet(barrier);
            reconciler.tick();
            CancelResult told = cancelling.get(30, TimeUnit.SECONDS);
            reconciler.tick();
            Job now = get(job);
            assertThat(now.status()).isEqualTo(JobStatus.CANCELLED);
            boolean asked = farm.requests.stream()
                    .anyMatch(request -> request.job().id().equals(job.id()));
            assertThat(told).isEqualTo(asked ? CancelResult.REQUESTED : CancelResult.CANCELLED);
            begun += asked ? 1 : 0;
            assertThat(farm.operations()).isEmpty();
        }
        System.out.println("Begun before the cancellation: " + begun + " of 30");
    }

    @Test
    void reconcilersAtOnce_startEachJobOnce() throws Exception {
        int jobs = 40;
        BackendReconciler other = reconciler(SETTINGS, farm);
        for (int i = 0; i < jobs; i++) {
            submit();
        }
        CyclicBarrier barrier = new CyclicBarrier(2);
        CompletableFuture<BackendReport> its = OwnThread.supply(() -> {
            meet(barrier);
            return other.tick();
        });
        meet(barrier);
        int mine = reconciler.tick().started();
        int theirs = its.get(60, TimeUnit.SECONDS).started();
        System.out.println("Started by one " + mine + ", by the other " + theirs);
        BackendReport rest = reconciler.tick();
        assertThat(mine + theirs + rest.started()).isEqualTo(jobs);
        assertThat(farm.starts).hasSize(jobs);
        assertThat(farm.starts.values()).extracting(AtomicInteger::get).containsOnly(1);
    }

    /** Between the look at a job and its lease another process may have done what there was to do. */
    @Test
    void jobThatAnotherOneActedOnBeforeItsLeaseWasTaken_isLeftAlone() {
        Job job = submit();
        farm.afterStart = operation -> {
            farm.afterStart = again -> {};
            throw new IllegalStateException("lost");
        };
        reconciler.tick();
        LeaseStore late = new LateLeases(
                store.leases(),
                JobCare.leaseKey(job.id()),
                () -> assertThat(reconciler.tick().started()).isOne());
        BackendReconciler slow = new BackendReconciler(
                SETTINGS,
                new BackendStores(
                        store.reconcilable(), store.remote(), store.jobs(), late, store.results(), store.controls()),
                List.of(farm));
        open.add(slow);
        assertThat(slow.tick().started()).isZero();
        assertThat(farm.startsOf(farm.token(job.id()))).isEqualTo(2);
    }

    /** The holder is taken for dead while it starts a job, and the next one does it. */
    @Test
    void leaseThatIsLostWhileTheJobIsStarted_refusesWhatTheFirstOneLearns() throws Exception {
        Job job = submit();
        CountDownLatch inStart = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        farm.afterStart = operation -> {
            farm.afterStart = again -> {};
            inStart.countDown();
            assertThat(goOn.await(30, TimeUnit.SECONDS)).isTrue();
        };
        LeaseSettings brief = new LeaseSettings(ofHours(1), ofMinutes(30));
        BackendReconciler suspended = reconciler(SETTINGS.withLease(brief), farm);
        CompletableFuture<BackendReport> its = OwnThread.supply(suspended::tick);
        assertThat(inStart.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(reconciler.tick().leased()).as("while it is held").isOne();
        dsl.update(LEASES)
                .set(LEASES.EXPIRES_AT, store.clock().now().minusSeconds(1))
                .where(LEASES.LEASE_KEY.eq(JobCare.leaseKey(job.id())))
                .execute();
        assertThat(reconciler.tick().started()).isOne();
        end(job, new Observation.Failed("no", Retrying.POINTLESS));
        assertThat(reconciler.tick().failed()).isOne();
        Job ended = get(job);
        goOn.countDown();
        BackendReport late = its.get(30, TimeUnit.SECONDS);
        assertThat(late.started()).isZero();
        assertThat(get(job)).isEqualTo(ended);
        assertThat(farm.operations).hasSize(1);
        assertThat(farm.startsOf(farm.token(job.id()))).isEqualTo(2);
    }

    @Test
    void backendThatThrows_orAnswersNull_harmsItsOwnJobsOnly() {
        Backend broken = new Delegate(farm, "broken") {
            @Override
            public StartResult start(StartRequest request) {
                throw new StackOverflowError("broken");
            }
        };
        Backend mute = new Delegate(farm, "mute") {
            @Override
            @SuppressWarnings("NullAway")
            public StartResult start(StartRequest request) {
                return null;
            }
        };
        Job one = submit(newJob("broken"));
        Job other = submit(newJob("mute"));
        Job healthy = submit();
        BackendReport report = reconciler(SETTINGS, broken, mute, farm).tick();
        assertThat(report.errors()).isEqualTo(2);
        assertThat(report.started()).isOne();
        assertThat(get(healthy).status()).isEqualTo(JobStatus.RUNNING);
        assertThat(get(one).state().currentPhase()).contains("StackOverflowError");
        assertThat(get(other).state().currentPhase()).contains("null");
    }

    @Test
    void oneBadJob_stopsNoOther() {
        Job unreadable = started();
        Job healthy = started();
        set(unreadable, EXECUTION_JOBS.RECORD, JsonText.of("[]"));
        Job queued = submit();
        set(queued, EXECUTION_JOBS.RECORD, JsonText.of("[]"));
        end(healthy, Observation.Succeeded.PLAINLY);
        BackendReport report = reconciler.tick();
        assertThat(report.errors()).isEqualTo(2);
        assertThat(report.succeeded()).isOne();
    }

    @Test
    void callThatHangs_isInterrupted_andKeepsNoOtherBackendWaiting_andItsJobIsFreeForOthers() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        FakeBackend hanging = new FakeBackend("hanging");
        AtomicInteger interrupts = new AtomicInteger();
        hanging.beforeStart = operation -> {
            while (true) { // deaf to interrupts
                try {
                    never.await();
                    return;
                } catch (InterruptedException e) {
                    interrupts.incrementAndGet();
                }
            }
        };
        Job stuck = submit(newJob("hanging"));
        Job healthy = submit();
        BackendSettings hasty = SETTINGS.withCallTimeout(ofMillis(300)).withConcurrency(1);
        BackendReconciler first = reconciler(hasty, hanging, farm);
        BackendReport report = first.tick();
        assertThat(report.overdue()).isOne();
        assertThat(report.started()).isOne();
        assertThat(get(healthy).status()).isEqualTo(JobStatus.RUNNING);
        await().untilAsserted(() -> assertThat(interrupts).hasValue(1)); // counted by the thread that hangs
        assertThat(first.status().overdue()).isOne();
        assertThat(get(stuck).status()).isEqualTo(JobStatus.PROVISIONING);

        FakeBackend elsewhere = new FakeBackend("hanging");
        assertThat(reconciler(SETTINGS, elsewhere, farm).tick().started()).isOne();
        Job running = get(stuck);
        assertThat(running.status()).isEqualTo(JobStatus.RUNNING);
        never.countDown();
        await().until(() -> first.status().inHand() == 0);
        assertThat(get(stuck).version()).as("what comes too late").isEqualTo(running.version());
    }

    @Test
    void queuedJobOfABackendThatNobodyHas_failsAfterTheGrace_andSaysWhatToDo() {
        Job queued = submit(newJob("nowhere"));
        Job claimed = started();
        BackendReconciler patient = reconciler(SETTINGS.withMissingBackendGrace(ofHours(1)));
        assertThat(patient.tick().missing()).isZero();
        assertThat(get(queued).status()).isEqualTo(JobStatus.QUEUED);
        reconciler.close();
        BackendReconciler lacking =
                reconciler(SETTINGS.withMissingBackendGrace(Duration.ZERO), new FakeBackend("other"));
        assertThat(lacking.tick().missing()).isOne();
        assertThat(get(queued).status()).isEqualTo(JobStatus.FAILED);
        assertThat(get(queued).outcome().errorMessage())
                .contains("\"nowhere\"")
                .contains("it has other")
                .contains("Register it");
        assertThat(get(claimed).status()).as("one that may run on").isEqualTo(JobStatus.RUNNING);
        assertThat(lacking.status().missing()).containsExactlyInAnyOrder("nowhere", "farm");
    }

    /** In an outage nobody can say that it has the backend. */
    @Test
    void outageOfTheDatabase_countsForNoBackendAsAbsence() {
        Job queued = submit(newJob("nowhere"));
        ManualClock clock = new ManualClock();
        AtomicBoolean down = new AtomicBoolean();
        LeaseStore leases = new LateLeases(store.leases(), "millrace/backend/other", () -> {
            if (down.get()) {
                throw new StoreUnavailableException("down", null);
            }
        });
        BackendReconciler lacking = new BackendReconciler(
                SETTINGS,
                new BackendStores(
                        store.reconcilable(), store.remote(), store.jobs(), leases, store.results(), store.controls()),
                List.of(new FakeBackend("other")),
                clock);
        open.add(lacking);
        lacking.tick();
        down.set(true);
        dsl.deleteFrom(LEASES).execute();
        clock.advance(ofMinutes(10));
        assertThat(lacking.tick().failure()).hasMessage("down");
        down.set(false);
        assertThat(lacking.tick().missing()).isZero();
        clock.advance(ofSeconds(29));
        assertThat(lacking.tick().missing()).isZero();
        clock.advance(ofSeconds(29));
        assertThat(lacking.tick().missing()).isZero();
        clock.advance(ofSeconds(29));
        assertThat(lacking.tick().missing()).isOne();
        assertThat(get(queued).status()).isEqualTo(JobStatus.FAILED);
    }

    @Test
    void jobOfABackendThatAnotherProcessHas_isLeftToThat() {
        Job job = submit();
        reconciler.tick();
        Job queued = submit();
        BackendReconciler other = reconciler(SETTINGS.withMissingBackendGrace(Duration.ZERO), new FakeBackend("other"));
        BackendReport report = other.tick();
        assertThat(report.missing()).isZero();
        assertThat(report.found()).isZero();
        assertThat(get(job).status()).isEqualTo(JobStatus.RUNNING);
        assertThat(get(queued).status()).isEqualTo(JobStatus.QUEUED);
    }

    @Test
    void attemptThatTookTooLong_isFailedByTheOtherReconciler_andCancelledAtTheBackend() {
        Job job = started();
        UUID token = farm.token(job.id());
        age(job, ofHours(2));
        try (JobReconciler jobs = millrace.reconciler(RecoverySettings.DEFAULT)) {
            assertThat(jobs.tick().timedOut()).isOne();
        }
        assertThat(reconciler.tick().orphans()).isOne();
        assertThat(farm.cancelled).containsExactly(token);
        assertThat(get(job).status()).isEqualTo(JobStatus.FAILED);
        assertThat(reconciler.tick().orphans()).isZero();
        assertThat(farm.cancelled).hasSize(1);
    }

    @Test
    void operationWhoseAttemptEndedWhileNobodyLooked_isFoundByTheBackendsList() {
        Job job = started();
        age(job, ofHours(2));
        reconciler.close();
        try (JobReconciler jobs = millrace.reconciler(RecoverySettings.DEFAULT)) {
            jobs.tick();
        }
        RemoteOperation foreign = new RemoteOperation("somebody-elses", 1, UUID.randomUUID(), "op-x");
        farm.known.put(foreign.token(), foreign);
        farm.end(foreign.token(), Observation.Running.PLAINLY);
        BackendReconciler next = reconciler(SETTINGS, farm);
        next.tick(); // reads the list
        assertThat(next.tick().orphans()).isOne();
        assertThat(farm.cancelled).containsExactly(farm.token(job.id()));
    }

    @Test
    void operationOfADeletedJob_isCancelled_andOneOfAJobThatIsRetriedByHandAsWell() {
        Job deleted = started();
        Job retried = started();
        UUID before = farm.token(retried.id());
        dsl.deleteFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(deleted.id()))
                .execute();
        store.jobs().compareAndSet(get(retried), get(retried).withStatus(JobStatus.FAILED));
        store.jobs().retry(retried.id(), "me", null);
        reconciler.tick();
        reconciler.tick();
        assertThat(farm.cancelled).containsExactlyInAnyOrder(farm.token(deleted.id()), before);
        assertThat(get(retried).status()).isEqualTo(JobStatus.RUNNING);
        assertThat(farm.token(retried.id())).isNotEqualTo(before);
    }

    @Test
    void attemptThatSomebodyPutBackIntoTheQueue_isCancelled_beforeItsNextOneIsDue() {
        Job job = started();
        UUID token = farm.token(job.id());
        store.jobs().compareAndSet(job, job.withStatus(JobStatus.QUEUED));
        set(job, EXECUTION_JOBS.NEXT_RETRY_AT, store.clock().now().plus(ofHours(1)));
        assertThat(reconciler.tick().orphans()).isOne();
        assertThat(farm.cancelled).containsExactly(token);
        assertThat(get(job).status()).isEqualTo(JobStatus.QUEUED);
    }

    /** Neither its next attempt nor its cancellation has to wait for that of the last one. */
    @Test
    void orphanWhoseCancellationHangs_keepsItsJobFromNothing() {
        BackendReconciler hasty = reconciler(SETTINGS.withCallTimeout(ofMillis(300)), farm);
        Job job = submit();
        assertThat(hasty.tick().started()).isOne();
        UUID orphan = farm.token(job.id());
        CountDownLatch never = new CountDownLatch(1);
        farm.onCancel = operation -> {
            while (operation.token().equals(orphan) && never.getCount() > 0) {
                LockSupport.parkNanos(1_000_000); // deaf to interrupts
            }
            farm.end(operation.token(), new Observation.Cancelled());
        };
        store.jobs().compareAndSet(get(job), get(job).withStatus(JobStatus.QUEUED));
        BackendReport report = hasty.tick();
        assertThat(report.overdue()).isOne();
        assertThat(report.started()).isOne();
        assertThat(farm.token(job.id())).isNotEqualTo(orphan);
        assertThat(hasty.status().inHand()).isOne();
        store.jobs().cancel(job.id(), "me", null);
        assertThat(hasty.tick().cancelled()).isOne();
        assertThat(get(job).status()).isEqualTo(JobStatus.CANCELLED);
        never.countDown();
        await().until(() -> hasty.status().inHand() == 0);
    }

    @Test
    void endThatAnotherProcessHasWritten_isNoOrphan() {
        Job job = started();
        BackendReconciler other = reconciler(SETTINGS, farm);
        other.tick();
        end(job, Observation.Succeeded.PLAINLY);
        reconciler.tick();
        assertThat(other.tick().orphans()).isZero();
        assertThat(farm.cancelled).isEmpty();
    }

    @Test
    void hold_stopsEverything_untilItIsReleased() {
        Job running = started();
        Job queued = submit();
        end(running, Observation.Succeeded.PLAINLY);
        millrace.controls().hold("test", null);
        BackendReport report = reconciler.tick();
        assertThat(report.onHold()).isTrue();
        assertThat(reconciler.status().onHold()).isTrue();
        assertThat(report.begun() + report.succeeded()).isZero();
        dsl.deleteFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(running.id()))
                .execute();
        farm.end(farm.token(running.id()), Observation.Running.PLAINLY);
        assertThat(reconciler.tick().orphans()).isZero();
        millrace.controls().release("test");
        assertThat(reconciler.tick().begun()).isOne();
        assertThat(get(queued).status()).isEqualTo(JobStatus.RUNNING);
    }

    @Test
    void jobsWaitWhileTheBackendHasNoRoom_andTheMostUrgentComesFirst() {
        farm.room = 0;
        NewJob low = newJob("farm").withPriority(Priority.LOW);
        NewJob high = newJob("farm").withPriority(Priority.HIGH);
        submit(low);
        submit(high);
        BackendReport report = reconciler.tick();
        assertThat(report.waiting()).isEqualTo(2);
        assertThat(report.begun()).isZero();
        farm.room = 1;
        BackendReconciler single = reconciler(SETTINGS.withConcurrency(1), farm);
        farm.afterStart = operation -> farm.room = 0;
        assertThat(single.tick().begun()).isOne();
        assertThat(farm.requests).extracting(request -> request.job().id()).containsExactly(high.id());
    }

    @Test
    void noMoreJobsAreBegunThanThereIsRoomFor_andThoseThatAreDueForLongestComeFirst() {
        farm.room = 3; // also while they are started
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            ids.add(submit().id());
        }
        Job again = submit(RetryPolicy.fixed(2, Duration.ZERO));
        set(again, EXECUTION_JOBS.NEXT_RETRY_AT, store.clock().now().minus(ofHours(1)));
        Job urgent = submit(newJob("farm").withPriority(Priority.HIGH));
        BackendReport report = reconciler.tick();
        assertThat(report.begun()).isEqualTo(3);
        assertThat(report.waiting()).isEqualTo(11);
        assertThat(farm.roomAsked).hasValue(1);
        assertThat(farm.requests)
                .extracting(request -> request.job().id())
                .containsExactlyInAnyOrder(urgent.id(), again.id(), ids.get(0));
        reconciler(SETTINGS.withConcurrency(1), farm).tick();
        assertThat(farm.requests.subList(3, 6))
                .extracting(request -> request.job().id())
                .containsExactly(ids.get(1), ids.get(2), ids.get(3));
    }

    @Test
    void startsThatAreUnderWay_takeRoom() {
        CountDownLatch never = new CountDownLatch(1);
        farm.room = 2; // which does not know of them yet
        farm.beforeStart = operation -> {
            while (never.getCount() > 0) {
                LockSupport.parkNanos(1_000_000); // deaf to interrupts
            }
        };
        for (int i = 0; i < 6; i++) {
            submit();
        }
        BackendReconciler hasty = reconciler(SETTINGS.withCallTimeout(ofMillis(300)), farm);
        assertThat(hasty.tick().begun()).isEqualTo(2);
        BackendReport meanwhile = hasty.tick();
        assertThat(meanwhile.begun()).isZero();
        assertThat(meanwhile.waiting()).isEqualTo(4);
        never.countDown();
        await().until(() -> hasty.status().inHand() == 0);
        assertThat(hasty.tick().begun()).isEqualTo(2);
    }

    @Test
    void queuedJobsWithARequest_localOnesToo_areCancelled() {
        NewJob local = NewJob.of("job-" + UUID.randomUUID(), "k", JsonText.of("{}"));
        Job job = submit(local);
        store.queue().remove(job.id());
        Job remote = submit();
        farm.room = 0;
        for (Job each : List.of(job, remote)) {
            Job now = get(each);
            store.jobs()
                    .compareAndSet(
                            now,
                            now.withAudit(now.audit()
                                    .withCancellation(
                                            new Cancellation(store.clock().now(), "me", null))));
            assertThat(get(each).status()).isEqualTo(JobStatus.QUEUED);
        }
        assertThat(reconciler.tick().cancelled()).isEqualTo(2);
        assertThat(get(job).status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(get(remote).status()).isEqualTo(JobStatus.CANCELLED);
    }

    @Test
    void localJobThatWasPutBack_losesTheProgressOfItsAttempt_andOthersAreLeftAlone() {
        Job job = submit(NewJob.of("job-" + UUID.randomUUID(), "k", JsonText.of("{}")));
        Claim claim = store.work()
                .claim(ClaimRequest.of(
                        "w",
                        List.of(new ClaimRequest.Source(JobSpec.DEFAULT_PROFILE, JobSpec.DEFAULT_QUEUE)),
                        List.of(),
                        1))
                .get(0);
        store.work().progress(claim.attempt(), 50.0, "half");
        assertThat(reconciler.tick().found()).as("a running one").isZero();
        store.jobs().compareAndSet(get(job), get(job).withStatus(JobStatus.QUEUED), ofHours(1));
        assertThat(get(job).state().percentComplete()).isEqualTo(50);
        assertThat(reconciler.tick().cleared()).isOne();
        assertThat(get(job).state().percentComplete()).isNull();
        assertThat(get(job).state().currentPhase()).isNull();
        assertThat(reconciler.tick().found()).isZero();
    }

    @Test
    void loop_goesOnByItself_andStopsWhenItIsClosed() {
        Job job = submit();
        BackendReconciler looping = reconciler(SETTINGS.withBackendSweepInterval(ofMillis(20)), farm);
        looping.start();
        await().until(() -> get(job).status() == JobStatus.RUNNING);
        end(job, Observation.Succeeded.PLAINLY);
        await().until(() -> get(job).status() == JobStatus.SUCCEEDED);
        assertThat(looping.status().running()).isTrue();
        looping.close();
        assertThat(looping.status().running()).isFalse();
        assertThat(dsl.fetchCount(LEASES)).as("leases left").isZero();
        assertThatThrownBy(looping::tick).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void sweeps_areTold_whateverAnotherListenerThrows() {
        List<BackendReport> told = new CopyOnWriteArrayList<>();
        BackendReconciler its = reconciler(SETTINGS, farm)
                .listener(new RecoveryListener() {
                    @Override
                    public void backendSwept(BackendReport report, Duration took) {
                        throw new AssertionError("on purpose");
                    }
                })
                .listener(new RecoveryListener() {
                    @Override
                    public void backendSwept(BackendReport report, Duration took) {
                        assertThat(took).isPositive();
                        told.add(report);
                    }
                });
        submit();
        BackendReport report = its.tick();
        its.close();
        assertThat(told).containsExactly(report);
        assertThat(report.started()).isOne();
    }

    @Test
    void sweeps_comeAtTheInterval_lessUpToAQuarterAtRandom() {
        Set<Duration> pauses = new HashSet<>();
        BackendReconciler still = new BackendReconciler(
                SETTINGS,
                new BackendStores(
                        store.reconcilable(),
                        store.remote(),
                        store.jobs(),
                        store.leases(),
                        store.results(),
                        store.controls()),
                List.of(),
                new ManualClock());
        open.add(still);
        for (int round = 0; round < 20; round++) {
            Duration pause = still.round();
            assertThat(pause).isBetween(ofMillis(3_750), ofSeconds(5));
            pauses.add(pause);
        }
        assertThat(pauses).hasSizeGreaterThan(1);
    }

    @Test
    void loopWhoseThreadHasEnded_doesNotRun() {
        assertThat(reconciler.status().running()).isFalse();
        reconciler.start();
        assertThat(reconciler.status().running()).isTrue();
        reconciler.sweeps.stop();
        assertThat(reconciler.sweeps.awaitEnd(ofSeconds(30))).isTrue();
        assertThat(reconciler.status().running()).isFalse();
    }

    @Test
    void jobIdsOfAnyLength_haveALease() {
        String longest = "\u00e9".repeat(512);
        assertThat(JobCare.leaseKey("job-1")).isEqualTo("millrace/job/job-1");
        assertThat(JobCare.leaseKey(longest)).hasSizeLessThan(100).isNotEqualTo(JobCare.leaseKey(longest.substring(1)));
        NewJob job = newJob("farm").withId(longest);
        started(submit(job));
    }

    @Test
    void backendsOfTheSameName_orNamedLocal_areRefused() {
        assertThatThrownBy(() -> reconciler(SETTINGS, farm, new FakeBackend("farm")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("farm");
        assertThatThrownBy(() -> reconciler(SETTINGS, new FakeBackend("local")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("another name");
    }

    @Test
    void backendThatDoesNotTellItsNameOrCapabilities_isRefused() {
        Backend broken = new Delegate(farm, "broken") {
            @Override
            public Set<Capability> capabilities() {
                throw new IllegalStateException("not connected");
            }
        };
        assertThatThrownBy(() -> reconciler(SETTINGS, broken))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("asked for its capabilities, it threw")
                .hasMessageContaining("not connected");
        assertThatThrownBy(() -> reconciler(SETTINGS, new Nameless(farm)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("asked for its name, it answered null");
    }

    /** It may hang, and a sweep waits for no backend. */
    @Test
    void nameAndCapabilities_areAskedForOnce() {
        AtomicInteger asked = new AtomicInteger();
        Backend counting = new Delegate(farm, "counting") {
            @Override
            public String name() {
                asked.incrementAndGet();
                return super.name();
            }

            @Override
            public Set<Capability> capabilities() {
                asked.incrementAndGet();
                return Set.of(Capability.CANCEL, Capability.LIST);
            }
        };
        BackendReconciler its = reconciler(SETTINGS, counting);
        Job job = submit(newJob("counting"));
        its.tick();
        store.jobs().cancel(job.id(), "me", null);
        its.tick();
        assertThat(get(job).status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(asked).hasValue(2);
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            barrier.await(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Something happens right before a lease is taken. */
    private record LateLeases(LeaseStore leases, String key, Runnable before) implements LeaseStore {
        @Override
        public Optional<Lease> acquire(String wanted, String owner, Duration duration) {
            if (wanted.equals(key)) {
                before.run();
            }
            return leases.acquire(wanted, owner, duration);
        }

        @Override
        public Optional<Lease> renew(Lease lease, Duration duration) {
            return leases.renew(lease, duration);
        }

        @Override
        public boolean release(Lease lease) {
            return leases.release(lease);
        }

        @Override
        public Optional<Lease> holder(String wanted) {
            return leases.holder(wanted);
        }
    }

    private static final class Nameless extends Delegate {
        Nameless(FakeBackend backend) {
            super(backend, "nameless");
        }

        @Override
        @SuppressWarnings("NullAway")
        public String name() {
            return null;
        }
    }

    /** Another backend, under another name, that does as this one does. */
    private static class Delegate implements Backend {
        private final FakeBackend backend;
        private final String name;

        Delegate(FakeBackend backend, String name) {
            this.backend = backend;
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public StartResult start(StartRequest request) throws Exception {
            return backend.start(request);
        }

        @Override
        public Observation observe(RemoteOperation operation) throws Exception {
            return backend.observe(operation);
        }

        @Override
        public void cancel(RemoteOperation operation) throws Exception {
            backend.cancel(operation);
        }
    }
}
