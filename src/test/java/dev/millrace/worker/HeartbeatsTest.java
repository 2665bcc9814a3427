package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.BRISK;
import static dev.millrace.worker.WorkerFixture.attempts;
import static dev.millrace.worker.WorkerFixture.ignoringInterrupts;
import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.JobPolicies;
import dev.millrace.store.Attempt;
import dev.millrace.store.Finish;
import dev.millrace.store.StoreException;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import dev.millrace.worker.WorkerStatus.Claiming;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Signs of life, and what their answers lead to. */
@Timeout(60)
class HeartbeatsTest {
    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;
    private final AtomicInteger interrupts = new AtomicInteger();
    private final AtomicReference<JobContext> context = new AtomicReference<>();

    @AfterEach
    void close() {
        fixture.close();
    }

    /** A handler that goes on until the gate opens, however often it is interrupted. */
    private JobHandler<String> stubborn(CountDownLatch gate) {
        return (payload, attempt) -> {
            context.set(attempt);
            while (true) {
                try {
                    gate.await();
                    return;
                } catch (InterruptedException e) {
                    interrupts.incrementAndGet();
                }
            }
        };
    }

    private JobHandler<String> obedient() {
        return (payload, attempt) -> {
            context.set(attempt);
            fixture.gate().await();
        };
    }

    @Test
    void runningJob_isBeatenForAtItsOwnInterval() {
        CountDownLatch gate = fixture.gate();
        String brisk = source.submit("work", BRISK);
        String slow = source.submit(
                "work",
                JobPolicies.DEFAULT.withHeartbeat(new HeartbeatPolicy(Duration.ofMinutes(10), Duration.ofMinutes(30))));
        fixture.start(stubborn(gate));
        until(() -> source.beatsFor(brisk) > 5);
        assertThat(source.beatsFor(slow)).isZero();
        gate.countDown();
        until(source::allSucceeded);
    }

    @Test
    void jobsThatAreDueTogether_shareACall() {
        CountDownLatch gate = fixture.gate();
        for (int i = 0; i < 10; i++) {
            source.submit("work", BRISK);
        }
        fixture.start(stubborn(gate));
        until(() -> source.beats.stream().anyMatch(call -> call.size() == 10));
        gate.countDown();
        until(source::allSucceeded);
    }

    @Test
    void jobThatHasNotStartedYet_isBeatenFor() {
        CountDownLatch gate = fixture.gate();
        source.next(Op.START, Fault.gate(gate));
        String id = source.submit("work", BRISK);
        fixture.tellingFirst().start((payload, attempt) -> {});
        until(() -> source.beatsFor(id) > 2);
        assertThat(source.status(id)).isEqualTo(JobStatus.PROVISIONING);
        gate.countDown();
        until(source::allSucceeded);
    }

    @Test
    void endedJob_isNotBeatenForAnyMore() {
        Worker worker = fixture.start(
                (payload, attempt) -> until(() -> source.beatsFor(attempt.job().id()) > 3));
        String first = source.submit("work", BRISK);
        worker.wakeUp();
        until(() ->
                source.status(first) == JobStatus.SUCCEEDED && worker.status().running() == 0);
        int beats = source.beatsFor(first);
        String second = source.submit("work", BRISK);
        worker.wakeUp();
        until(source::allSucceeded);
        assertThat(source.beatsFor(second)).isGreaterThan(3);
        assertThat(source.beatsFor(first)).isEqualTo(beats);
    }

    // Lost.

    @Test
    void lostAttempt_isInterrupted_andWritesNothingMore() {
        CountDownLatch gate = fixture.gate();
        String id = source.submit("work", BRISK);
        Worker worker = fixture.start(stubborn(gate));
        until(() -> source.beatsFor(id) > 0);
        source.failElsewhere(id);
        until(() -> interrupts.get() == 1);
        assertThat(context.get().stopReason()).contains(StopReason.LOST);
        assertThat(context.get().cancelled()).isTrue();
        assertThatExceptionOfType(JobCancelledException.class)
                .isThrownBy(() -> context.get().throwIfCancelled())
                .satisfies(e -> {
                    assertThat(e.reason()).isEqualTo(StopReason.LOST);
                    assertThat(e.jobId()).isEqualTo(id);
                    assertThat(e.attempt()).isEqualTo(1);
                    assertThat(e.worker()).isEqualTo("worker");
                });
        until(() -> worker.status().lingering() == 1);
        gate.countDown();
        until(() -> worker.status().running() == 0);
        assertThat(source.calls(Op.FINISH)).isZero();
        assertThat(interrupts).hasValue(1);
    }

    @Test
    void lostAttempt_thatThrows_isNotRetriedByThisWorker() {
        String id = source.submit("work", BRISK);
        Worker worker = fixture.start(obedient());
        until(() -> source.beatsFor(id) > 0);
        source.failElsewhere(id);
        until(() -> worker.status().running() == 0);
        assertThat(source.calls(Op.FINISH)).isZero();
    }

    @Test
    void progressOfALostAttempt_isRefused_withIdentity() {
        CountDownLatch gate = fixture.gate();
        String id = source.submit(
                "work",
                JobPolicies.DEFAULT.withHeartbeat(new HeartbeatPolicy(Duration.ofHours(1), Duration.ofHours(3))));
        fixture.start(stubborn(gate));
        until(() -> context.get() != null);
        source.failElsewhere(id);
        for (int i = 0; i < 2; i++) { // the first is told by the database, the second knows
            assertThatExceptionOfType(AttemptLostException.class)
                    .isThrownBy(() -> context.get().progress(50, "half"))
                    .satisfies(e -> {
                        assertThat(e.jobId()).isEqualTo(id);
                        assertThat(e.attempt()).isEqualTo(1);
                        assertThat(e.worker()).isEqualTo("worker");
                    });
        }
        assertThat(source.calls(Op.PROGRESS)).isEqualTo(1);
        until(() -> interrupts.get() == 1);
    }

    // Cancelled.

    @Test
    void cancelledJob_isInterruptedOnce_andEndsCancelled() {
        String id = source.submit("work", BRISK);
        fixture.start(obedient());
        until(() -> source.status(id) == JobStatus.RUNNING);
        source.cancel(id);
        until(() -> source.status(id) == JobStatus.CANCELLED);
        assertThat(source.endings(id)).containsExactly(new Finish.Cancel());
        assertThat(context.get().stopReason()).contains(StopReason.CANCELLED);
    }

    @Test
    void cancelledJob_whoseHandlerReturnsNormally_succeeds_andIsInterruptedOnce() {
        CountDownLatch gate = fixture.gate();
        String id = source.submit("work", BRISK);
        fixture.start(stubborn(gate));
        until(() -> source.status(id) == JobStatus.RUNNING);
        source.cancel(id);
        until(() -> interrupts.get() > 0);
        int beats = source.beatsFor(id);
        until(() -> source.beatsFor(id) > beats + 3);
        assertThat(interrupts).hasValue(1);
        gate.countDown();
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
    }

    @Test
    void cancellation_isSeenByProgressToo() {
        String id = source.submit("work"); // beats every 30 s
        fixture.start((payload, attempt) -> {
            source.cancel(id);
            attempt.progress(10);
            attempt.throwIfCancelled();
        });
        until(() -> source.status(id) == JobStatus.CANCELLED);
    }

    // Busy and failing.

    @Test
    void lockedRow_isNotLost_andTheOthersAreBeatenFor() {
        CountDownLatch gate = fixture.gate();
        String locked = source.submit("work", BRISK);
        String free = source.submit("work", BRISK);
        source.lock(locked, true);
        fixture.start(stubborn(gate));
        until(() -> source.beatsFor(locked) > 5 && source.beatsFor(free) > 3);
        assertThat(interrupts).hasValue(0);
        source.lock(locked, false);
        gate.countDown();
        until(source::allSucceeded);
    }

    @Test
    void lockedRow_isAskedAboutSoonerThanTheInterval() {
        CountDownLatch gate = fixture.gate();
        String id = source.submit(
                "work",
                JobPolicies.DEFAULT.withHeartbeat(new HeartbeatPolicy(Duration.ofSeconds(5), Duration.ofHours(1))));
        source.lock(id, true);
        fixture.start(stubborn(gate));
        until(() -> source.beatsFor(id) > 3); // the retry delay of these tests is 20 ms
    }

    @Test
    void failedBeats_areRepeated_andInterruptNobody() {
        CountDownLatch gate = fixture.gate();
        String id = source.submit("work", BRISK);
        source.always(Op.BEAT, Fault.down());
        Worker worker = fixture.start(stubborn(gate));
        until(() -> source.beatsFor(id) > 5);
        assertThat(interrupts).hasValue(0);
        assertThat(worker.status().lastError()).contains("out of reach");
        source.heal(Op.BEAT);
        gate.countDown();
        until(source::allSucceeded);
    }

    @Test
    void silenceForLongerThanATimeout_stopsClaims_butNoHandler_andIsOverWithTheFirstAnswer() {
        CountDownLatch gate = fixture.gate();
        JobPolicies shortTimeout =
                JobPolicies.DEFAULT.withHeartbeat(new HeartbeatPolicy(Duration.ofMillis(20), Duration.ofMillis(60)));
        String first = source.submit("work", shortTimeout);
        source.always(Op.BEAT, Fault.down());
        Worker worker = fixture.start(stubborn(gate)); // polls once an hour: it claims again because beats are answered
        until(() -> worker.status().claiming() == Claiming.HEARTBEATS_FAIL);
        assertThat(worker.status().healthy()).isFalse();
        // A claim that was on its way may still have been made; the next ones are not.
        int beats = source.beatsFor(first);
        until(() -> source.beatsFor(first) > beats + 2);
        String second = source.submit("work", shortTimeout);
        worker.wakeUp();
        int later = source.beatsFor(first);
        until(() -> source.beatsFor(first) > later + 5);
        assertThat(source.status(second)).isEqualTo(JobStatus.QUEUED);
        assertThat(interrupts).hasValue(0);
        source.heal(Op.BEAT);
        until(() -> source.status(second) == JobStatus.RUNNING);
        assertThat(worker.status().claiming()).isEqualTo(Claiming.YES);
        gate.countDown();
        until(source::allSucceeded);
    }

    @Test
    void beatThatHangs_stopsClaimsToo() {
        CountDownLatch hang = fixture.gate();
        CountDownLatch gate = fixture.gate();
        source.next(Op.BEAT, Fault.gate(hang));
        JobPolicies shortTimeout =
                JobPolicies.DEFAULT.withHeartbeat(new HeartbeatPolicy(Duration.ofMillis(20), Duration.ofMillis(60)));
        source.submit("work", shortTimeout);
        Worker worker = fixture.start(settings -> settings.withPollInterval(Duration.ofMillis(10)), stubborn(gate));
        until(() -> worker.status().claiming() == Claiming.HEARTBEATS_FAIL);
        int claims = source.calls(Op.CLAIM);
        String second = source.submit("work", BRISK);
        worker.wakeUp();
        // The loop turns every 10 ms meanwhile. One claim may have been on its way.
        Awaitility.await().during(Duration.ofMillis(200)).until(() -> source.calls(Op.CLAIM) <= claims + 1);
        hang.countDown();
        until(() -> source.status(second) == JobStatus.RUNNING);
        assertThat(interrupts).hasValue(0);
        gate.countDown();
        until(source::allSucceeded);
    }

    static List<Supplier<Throwable>> failures() {
        return List.of(
                () -> new IllegalStateException("bug"),
                () -> new StoreException("syntax", null),
                () -> new OutOfMemoryError("large"),
                () -> new StackOverflowError("deep"),
                () -> new AssertionError("wrong"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void oneBadAttempt_doesNotStopTheBeatsOfTheRest(Supplier<Throwable> failure) {
        CountDownLatch gate = fixture.gate();
        String bad = source.submit("work", BRISK);
        String good = source.submit("work", BRISK);
        AtomicInteger answered = new AtomicInteger();
        source.always(Op.BEAT, new Fault() {
            @Override
            public <T> T around(Supplier<T> call) {
                List<Attempt> asked = source.beats.get(source.beats.size() - 1);
                if (asked.stream().anyMatch(attempt -> attempt.jobId().equals(bad))) {
                    return Fault.failing(failure).around(call);
                }
                T answer = call.get();
                answered.incrementAndGet();
                return answer;
            }
        });
        fixture.start(stubborn(gate));
        until(() -> answered.get() > 3);
        assertThat(source.status(good)).matches(JobStatus::isClaimed);
        source.heal(Op.BEAT);
        gate.countDown();
        until(source::allSucceeded);
    }

    // The same job again, on the same worker.

    @Test
    void earlierAttemptOfTheSameJob_cantWriteForTheNewOne() {
        CountDownLatch first = fixture.gate();
        CountDownLatch second = fixture.gate();
        AtomicReference<JobContext> old = new AtomicReference<>();
        AtomicReference<JobContext> current = new AtomicReference<>();
        String id = source.submit("work", BRISK);
        Worker worker =
                fixture.start(settings -> settings.withPollInterval(Duration.ofMillis(10)), (payload, attempt) -> {
                    (attempt.attempt() == 1 ? old : current).set(attempt);
                    ignoringInterrupts(attempt.attempt() == 1 ? first : second);
                });
        until(() -> old.get() != null);
        source.expire(id);
        until(() -> current.get() != null);
        until(() -> old.get().cancelled());

        assertThat(catchThrowable(() -> old.get().progress(99, "late"))).isInstanceOf(AttemptLostException.class);
        current.get().progress(10, "new");
        assertThat(source.progress).containsExactly("10.0 new");
        assertThat(current.get().cancelled()).isFalse();

        first.countDown(); // the earlier handler returns, as if it had succeeded
        until(() -> worker.status().running() == 1);
        assertThat(source.ended).isEmpty();
        second.countDown();
        until(source::allSucceeded);
        assertThat(source.ended).containsExactly(new FakeSource.Ended(id, 2, new Finish.Succeed()));
    }

    @Test
    void twoAttemptsOfOneJob_areNeverBeatenForInOneCall() {
        // The first attempt's outcome is written, but its answers are lost; so it goes on while the second one runs.
        CountDownLatch gate = fixture.gate();
        String id = source.submit("work", attempts(3));
        source.next(Op.FINISH, Fault.lostReply(), Fault.down(), Fault.down(), Fault.down());
        fixture.start(settings -> settings.withPollInterval(Duration.ofMillis(10)), (payload, attempt) -> {
            if (attempt.attempt() == 1) {
                throw new IllegalStateException("failed");
            }
            ignoringInterrupts(gate);
        });
        until(() -> source.status(id) == JobStatus.RUNNING && source.attempts(id) == 2);
        int calls = source.beats.size();
        until(() -> source.beats.size() > calls + 10);
        assertThat(source.beats).allMatch(call -> call.size() == 1);
        assertThat(source.beats.stream()
                        .flatMap(List::stream)
                        .map(Attempt::token)
                        .distinct())
                .hasSize(2);
        gate.countDown();
        until(source::allSucceeded);
        assertThat(source.endings(id)).hasSize(2);
    }

    // Progress.

    @Test
    void progress_isReported_andCountsAsASignOfLife() {
        String id = source.submit("work", BRISK);
        fixture.start((payload, attempt) -> {
            attempt.progress(0);
            attempt.progress(12.5, "resizing");
            attempt.phase("writing");
            attempt.progress(100);
        });
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
        assertThat(source.progress).containsExactly("0.0 null", "12.5 resizing", "null writing", "100.0 null");
    }

    @Test
    void progressThatIsNotAllowed_isRefusedBeforeAnythingIsSent() {
        AtomicReference<List<Throwable>> refused = new AtomicReference<>();
        String id = source.submit("work");
        fixture.start((payload, attempt) -> refused.set(List.of(
                catchThrowable(() -> attempt.progress(Double.NaN)),
                catchThrowable(() -> attempt.progress(-0.001)),
                catchThrowable(() -> attempt.progress(100.001, "x")),
                catchThrowable(() -> attempt.progress(Double.POSITIVE_INFINITY)),
                catchThrowable(() -> attempt.progress(1, "")),
                catchThrowable(() -> attempt.phase("nul \0")),
                catchThrowable(() -> attempt.phase("x".repeat(513))),
                catchThrowable(() -> attempt.phase(null)))));
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
        assertThat(refused.get()).hasSize(8).allSatisfy(e -> assertThat(e).isInstanceOf(InvalidJobException.class));
        assertThat(source.calls(Op.PROGRESS)).isZero();
    }

    @Test
    void progressDuringAnOutage_isDropped_andFailsNoJob() {
        source.next(Op.PROGRESS, Fault.down());
        String id = source.submit("work", attempts(1));
        fixture.start((payload, attempt) -> {
            attempt.progress(1);
            attempt.progress(2);
        });
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
        assertThat(source.progress).containsExactly("2.0 null");
    }
}
