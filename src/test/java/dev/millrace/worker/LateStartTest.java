package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.job.Cancellation;
import dev.millrace.job.Job;
import dev.millrace.job.JobAudit;
import dev.millrace.job.JobSpec;
import dev.millrace.store.Claim;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handlers of jobs that were claimed just now begin before the database knows that they run; most end before it would. */
@Timeout(60)
class LateStartTest {
    /** So that a slow machine makes no difference. */
    private static final Duration LONG = Duration.ofMinutes(1);

    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;
    private final List<String> started = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        fixture.close();
    }

    private Worker start(JobHandler<String> handler) {
        return fixture.start(settings -> settings.withConcurrency(1).withPrefetch(1), (payload, context) -> {
            started.add(context.job().id());
            handler.handle(payload, context);
        });
    }

    /** Runs until it is interrupted. */
    private static JobHandler<String> endless() {
        return (payload, context) -> new CountDownLatch(1).await();
    }

    @Test
    void shortJobs_areNotStartedInTheDatabase() {
        fixture.tellingAfter(LONG);
        source.submit(50, "work");
        start((payload, context) -> {});
        until(source::allSucceeded);
        assertThat(started).hasSize(50);
        assertThat(source.calls(Op.START)).isZero();
    }

    @Test
    void gatheredOutcomes_makeNoDifference() {
        fixture.tellingAfter(LONG);
        source.submit(50, "work");
        fixture.start(
                settings -> settings.withOutcomeBuffer(new OutcomeBuffer(100, Duration.ofMillis(20))),
                (payload, context) -> started.add(context.job().id()));
        until(source::allSucceeded);
        assertThat(started).hasSize(50);
        assertThat(source.calls(Op.START)).isZero();
    }

    @Test
    void jobThatReportsProgress_isShownAsRunning_andNotStartedAgain() {
        CountDownLatch gate = fixture.tellingAfter(Duration.ofSeconds(3)).gate();
        String telling = source.submit("work");
        String silent = source.submit("work");
        fixture.start(settings -> settings.withConcurrency(2), (payload, context) -> {
            if (context.job().id().equals(telling)) {
                context.progress(50);
                assertThat(source.status(telling)).isEqualTo(JobStatus.RUNNING);
            }
            WorkerFixture.await(gate);
        });
        until(() -> source.status(silent) == JobStatus.RUNNING); // which was claimed at the same time
        assertThat(source.calls(Op.START)).isOne();
        gate.countDown();
        until(source::allSucceeded);
    }

    @Test
    void workerThatTellsFirst_startsEach() {
        fixture.tellingFirst();
        String id = source.submit("work");
        fixture.start((payload, context) -> {
            started.add(context.job().id());
            assertThat(source.status(id)).isEqualTo(JobStatus.RUNNING);
        });
        until(source::allSucceeded);
        assertThat(source.calls(Op.START)).isOne();
    }

    @Test
    void jobThatRunsForLonger_isStartedMeanwhile_once() {
        CountDownLatch gate = fixture.gate();
        String id = source.submit("work", WorkerFixture.BRISK);
        start((payload, context) -> WorkerFixture.await(gate));
        until(() -> !started.isEmpty());
        until(() -> source.status(id) == JobStatus.RUNNING);
        int beats = source.beatsFor(id);
        until(() -> source.beatsFor(id) > beats + 5);
        assertThat(source.calls(Op.START)).isOne();
        gate.countDown();
        until(source::allSucceeded);
    }

    @Test
    void startThatFails_isRepeated_andStopsNoHandler() {
        CountDownLatch gate = fixture.gate();
        source.next(Op.START, Fault.down(), Fault.lostReply(), Fault.failing(() -> new AssertionError("boo")));
        String id = source.submit("work");
        start((payload, context) -> WorkerFixture.await(gate));
        until(() -> source.calls(Op.START) == 4);
        assertThat(source.status(id)).isEqualTo(JobStatus.RUNNING);
        gate.countDown();
        until(source::allSucceeded);
    }

    /** Whether it is one job's fault is found out, but not while nothing is answered: that would hold up beats. */
    @Test
    void startsThatFailTogether_areTriedOneByOne_onlyAsLongAsTheyAreAnswered() {
        CountDownLatch gate = fixture.tellingAfter(Duration.ofMillis(50)).gate();
        source.always(Op.START, Fault.down());
        source.submit(3, "work");
        fixture.start(
                settings -> settings.withConcurrency(3).withBeatRetryDelay(Duration.ofMillis(200)),
                (payload, context) -> WorkerFixture.await(gate));
        until(() -> source.startsTogether.contains(3)); // which are due at the same time from then on
        int before = source.startsTogether.lastIndexOf(3);
        source.next(Op.START, Fault.failing(() -> new AssertionError("boo")));
        until(() -> source.startsTogether.lastIndexOf(1) > before
                && source.startsTogether.lastIndexOf(3) > source.startsTogether.lastIndexOf(1));
        assertThat(source.startsTogether.subList(before, source.startsTogether.size()))
                .containsOnlyOnce(1)
                .containsOnly(1, 3);
        source.heal(Op.START);
        gate.countDown();
        until(source::allSucceeded);
    }

    /** Another round where the machine was so slow that they didn't. */
    @Test
    void handlersThatBeginAboutTheSameTime_areToldOfTogether() throws InterruptedException {
        fixture.tellingAfter(Duration.ofMillis(500));
        CountDownLatch gate = fixture.gate();
        Worker worker = fixture.start(settings -> settings.withConcurrency(20), (payload, context) -> {
            started.add(context.job().id());
            WorkerFixture.await(gate);
        });
        for (int round = 1; round <= 10 && !source.startsTogether.contains(2); round++) {
            for (int job = 1; job <= 2; job++) {
                int begun = started.size();
                source.submit("work");
                worker.wakeUp();
                until(() -> started.size() > begun);
                TimeUnit.MILLISECONDS.sleep(50);
            }
            int all = 2 * round;
            until(() -> source.calls(Op.START) == all);
        }
        assertThat(source.startsTogether).contains(2);
        gate.countDown();
        until(source::allSucceeded);
    }

    /** It waits for no row, as beats don't, and so is asked again. */
    @Test
    void startOfALockedRow_isRepeated_andKeepsNoOtherFromBeingStarted() {
        CountDownLatch gate = fixture.gate();
        String locked = source.submit("work", WorkerFixture.BRISK);
        String free = source.submit("work", WorkerFixture.BRISK);
        source.lock(locked, true);
        fixture.start(settings -> settings.withConcurrency(2), (payload, context) -> WorkerFixture.await(gate));
        until(() -> source.status(free) == JobStatus.RUNNING);
        int beats = source.beatsFor(locked);
        until(() -> source.beatsFor(locked) > beats + 5);
        assertThat(source.status(locked)).isEqualTo(JobStatus.PROVISIONING);
        source.lock(locked, false);
        until(() -> source.status(locked) == JobStatus.RUNNING);
        gate.countDown();
        until(source::allSucceeded);
    }

    /** Its row is locked, so what the beat tells is that nothing is known. */
    @Test
    void jobThatIsBusyWhileItWaits_isStartedFirst() throws InterruptedException {
        CountDownLatch gate = fixture.gate();
        String first = source.submit("work", WorkerFixture.BRISK);
        String second = source.submit("work", WorkerFixture.BRISK);
        start((payload, context) -> {
            if (context.job().id().equals(first)) {
                WorkerFixture.await(gate);
            } else {
                assertThat(source.calls(Op.START)).isEqualTo(2);
            }
        });
        until(() -> started.equals(List.of(first)));
        source.lock(second, true);
        TimeUnit.MILLISECONDS.sleep(1_100);
        until(() -> source.calls(Op.START) == 1);
        gate.countDown();
        until(() -> source.status(first) == JobStatus.SUCCEEDED);
        source.lock(second, false);
        until(source::allSucceeded);
    }

    private final AtomicLong clock = new AtomicLong();
    private final AtomicLong wall = new AtomicLong(1_000_000);
    private final LateStart late = new LateStart(clock::get, wall::get, Duration.ofSeconds(1), attempt -> {});

    private RunningAttempt claimedNow(boolean cancellationRequested) {
        Job job = Job.of("id", JobSpec.of("work", JsonText.of("{}")), Instant.EPOCH);
        Job claimed = cancellationRequested
                ? job.withAudit(JobAudit.NONE.withCancellation(new Cancellation(Instant.EPOCH, null, null)))
                : job;
        return new RunningAttempt(new Claim(claimed, UUID.randomUUID(), 0), clock::get, clock.get(), changed -> {});
    }

    private void pass(long millis, long byTheWall) {
        clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
        wall.addAndGet(byTheWall);
    }

    @Test
    void freshClaim_runsUnasked_andIsDueInASecond() {
        pass(1_000, 1_000);
        RunningAttempt attempt = claimedNow(false);
        pass(900, 905);
        assertThat(late.mayRun(attempt)).isTrue();
        assertThat(attempt.startDueAt()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(2_900));
    }

    /** Nothing of these may run before the database has said that the job is still theirs. */
    @Test
    void claimThatIsOld_orOfBeforeASuspension_orToBeCancelled_doesNot() {
        pass(1_000, 1_000);
        RunningAttempt old = claimedNow(false);
        pass(1_000, 1_000);
        assertThat(late.mayRun(old)).isFalse();
        assertThat(late.mayRun(claimedNow(true))).isFalse();
        RunningAttempt stopped = claimedNow(false);
        stopped.stop(StopReason.CANCELLED);
        assertThat(late.mayRun(stopped)).isFalse();
        RunningAttempt suspended = claimedNow(false);
        pass(100, 60_000);
        assertThat(late.mayRun(suspended)).isFalse();
        assertThat(late.mayRun(claimedNow(false))).as("in doubt").isFalse();
        pass(1, 1);
        assertThat(late.mayRun(claimedNow(false))).isTrue();
        assertThat(suspended.startDueAt()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void suspendedMachine_isNoticed_byTheWallClock() {
        AtomicLong time = new AtomicLong();
        AtomicLong wall = new AtomicLong(1_000_000);
        Suspensions suspensions = new Suspensions(time::get, wall::get);
        time.set(TimeUnit.MILLISECONDS.toNanos(500));
        wall.addAndGet(520);
        assertThat(suspensions.noneSince(1)).isTrue();
        wall.addAndGet(60_000);
        assertThat(suspensions.noneSince(TimeUnit.MILLISECONDS.toNanos(499))).isFalse();
        time.addAndGet(TimeUnit.MILLISECONDS.toNanos(500));
        wall.addAndGet(500);
        assertThat(suspensions.noneSince(TimeUnit.MILLISECONDS.toNanos(499))).isFalse();
        assertThat(suspensions.noneSince(TimeUnit.MILLISECONDS.toNanos(600))).isTrue();
    }

    @Test
    void jobThatIsCancelledAfterItsClaim_isToldSo_withoutABeat() {
        String id = source.submit("work");
        source.next(Op.START, Fault.before(() -> source.cancel(id)));
        start(endless());
        until(() -> source.status(id) == JobStatus.CANCELLED);
        assertThat(started).containsExactly(id);
        assertThat(source.beatsFor(id)).isZero();
    }

    @Test
    void jobThatIsLostAfterItsClaim_isToldSo_withoutABeat() {
        String id = source.submit("work");
        source.next(Op.START, Fault.before(() -> source.failElsewhere(id)));
        Worker worker = start(endless());
        until(() -> source.calls(Op.START) == 1 && worker.status().running() == 0);
        assertThat(started).containsExactly(id);
        assertThat(source.beatsFor(id)).isZero();
        assertThat(source.endings(id)).isEmpty();
    }

    /** Nothing was heard of the database since its claim, more than a second ago: it may be someone else's by now. */
    @Test
    void jobThatHasWaitedForItsSlot_isStartedFirst_andNeverRunIfItWasLost() throws InterruptedException {
        CountDownLatch gate = fixture.gate();
        String first = source.submit("work");
        String second = source.submit("work");
        start((payload, context) -> WorkerFixture.await(gate));
        until(() -> source.calls(Op.CLAIM) > 0 && started.equals(List.of(first)));
        TimeUnit.MILLISECONDS.sleep(1_100);
        until(() -> source.calls(Op.START) == 1);
        source.failElsewhere(second);
        gate.countDown();
        until(() -> source.status(first) == JobStatus.SUCCEEDED && source.calls(Op.START) == 2);
        assertThat(started).containsExactly(first);
    }

    /** Its claim was answered late: by then it may have been taken for dead. */
    @Test
    void jobWhoseClaimTookLong_isStartedFirst() {
        source.next(Op.CLAIM, Fault.before(() -> sleep(1_100)));
        source.submit("work");
        start((payload, context) -> assertThat(source.calls(Op.START)).isOne());
        until(source::allSucceeded);
        assertThat(source.calls(Op.START)).isOne();
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
