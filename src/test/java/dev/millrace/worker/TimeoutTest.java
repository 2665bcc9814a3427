package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.ignoringInterrupts;
import static dev.millrace.worker.WorkerFixture.lasting;
import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attempts that take longer than their job allows. */
@Timeout(60)
class TimeoutTest {
    private static final Duration SHORT = Duration.ofMillis(100);

    /** Long enough for a handler to be running by then, on a busy machine as well. */
    private static final Duration LONG_ENOUGH_TO_START = Duration.ofSeconds(2);

    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;
    private final AtomicReference<JobContext> context = new AtomicReference<>();

    @AfterEach
    void close() {
        fixture.close();
    }

    private static void assertTimeout(Finish finish) {
        assertThat(finish).isInstanceOfSatisfying(Finish.Fail.class, fail -> {
            assertThat(fail.reason()).isEqualTo(Finish.Fail.Reason.TIMEOUT);
            assertThat(fail.message()).contains("maximum duration");
        });
    }

    @Test
    void handlerThatObeys_isInterrupted_andItsJobFailsWithoutRetry() {
        String id = source.submit("work", lasting(LONG_ENOUGH_TO_START));
        fixture.start((payload, attempt) -> {
            context.set(attempt);
            fixture.gate().await();
        });
        until(() -> source.status(id) == JobStatus.FAILED);
        assertThat(source.endings(id)).hasSize(1).allSatisfy(TimeoutTest::assertTimeout);
        assertThat(context.get().stopReason()).contains(StopReason.TIMED_OUT);
        assertThat(source.attempts(id)).isEqualTo(1);
    }

    @Test
    void handlerThatIgnoresTheInterrupt_keepsItsSlot_butItsJobEndsAtOnce_andIsNotBeatenForAnyMore() {
        CountDownLatch gate = fixture.gate();
        String id = source.submit("work", lasting(LONG_ENOUGH_TO_START));
        Worker worker = fixture.start(settings -> settings.withConcurrency(1), (payload, attempt) -> {
            if (context.getAndSet(attempt) == null) {
                ignoringInterrupts(gate);
            }
        });
        until(() -> source.status(id) == JobStatus.FAILED);
        until(() -> worker.status().lingering() == 1);
        int beats = source.beatsFor(id);
        String next = source.submit("work");
        worker.wakeUp();
        assertThatExceptionOfType(AttemptLostException.class)
                .isThrownBy(() -> context.get().progress(99));
        assertThat(worker.status().running()).isEqualTo(1);
        assertThat(source.status(next)).isEqualTo(JobStatus.QUEUED);
        gate.countDown(); // it returns normally, which changes nothing but that its slot is free
        until(() -> source.status(next) == JobStatus.SUCCEEDED);
        assertThat(source.endings(id)).hasSize(1).allSatisfy(TimeoutTest::assertTimeout);
        assertThat(source.beatsFor(id)).isEqualTo(beats);
    }

    @Test
    void timeoutDuringAnOutage_isWrittenAfterIt_andTheJobIsBeatenForUntilThen() {
        String id = source.submit("work", lasting(LONG_ENOUGH_TO_START));
        source.always(Op.FINISH, Fault.down());
        fixture.start((payload, attempt) -> fixture.gate().await());
        until(() -> source.calls(Op.FINISH) > 0);
        int beats = source.beatsFor(id);
        until(() -> source.beatsFor(id) > beats + 3);
        assertThat(source.status(id)).matches(JobStatus::isClaimed);
        source.heal(Op.FINISH);
        until(() -> source.status(id) == JobStatus.FAILED);
        assertThat(source.endings(id)).hasSize(1).allSatisfy(TimeoutTest::assertTimeout);
    }

    @Test
    void timeout_comesBeforeCancellation() {
        CountDownLatch gate = fixture.gate();
        String id = source.submit("work", lasting(LONG_ENOUGH_TO_START));
        fixture.start((payload, attempt) -> {
            context.set(attempt);
            ignoringInterrupts(gate);
        });
        until(() -> context.get() != null);
        source.cancel(id);
        until(() -> context.get().cancelled());
        until(() -> source.status(id) == JobStatus.FAILED);
        assertThat(context.get().stopReason()).contains(StopReason.TIMED_OUT);
        assertThat(source.endings(id)).hasSize(1).allSatisfy(TimeoutTest::assertTimeout);
    }

    @Test
    void timeout_comesBeforeShutdown_alsoWhileTheWorkerDrains() {
        CountDownLatch gate = fixture.gate();
        String id = source.submit("work", lasting(LONG_ENOUGH_TO_START));
        Worker worker = fixture.start((payload, attempt) -> {
            context.set(attempt);
            ignoringInterrupts(gate);
        });
        until(() -> context.get() != null);
        worker.close(); // the drain timeout is 20 s, but there is nothing left to wait for after the timeout
        assertThat(source.status(id)).isEqualTo(JobStatus.FAILED);
        assertThat(source.endings(id)).hasSize(1).allSatisfy(TimeoutTest::assertTimeout);
    }

    @Test
    void attemptThatCantBeStarted_timesOut_andItsHandlerNeverRuns() {
        String id = source.submit("work", lasting(SHORT));
        source.always(Op.START, Fault.down());
        Worker worker = fixture.tellingFirst().start((payload, attempt) -> context.set(attempt));
        until(() -> source.status(id) == JobStatus.FAILED);
        source.heal(Op.START);
        until(() -> worker.status().running() == 0);
        assertThat(source.endings(id)).hasSize(1).allSatisfy(TimeoutTest::assertTimeout);
        assertThat(context.get()).isNull();
    }

    // The decisions by themselves, with a clock that is told the time.

    private final AtomicLong now = new AtomicLong();

    /** An attempt of a job that may take a second, claimed at time zero of this clock. */
    static RunningAttempt attempt(Ticker clock) {
        Job job = Job.of("id", JobSpec.of("work", JsonText.of("{}")), Instant.EPOCH)
                .withPolicies(lasting(Duration.ofSeconds(1)));
        return new RunningAttempt(new Claim(job, UUID.randomUUID(), 0), clock, 0, attempt -> {});
    }

    @Test
    void handlerThatReturnsAfterItsTime_hasFailed_evenIfTheTimerWasLate() {
        RunningAttempt attempt = attempt(now::get);
        now.set(Duration.ofSeconds(1).toNanos());
        assertTimeout(Endings.afterHandler(attempt, null));
        assertTimeout(Endings.afterHandler(attempt, new IllegalStateException()));
        assertTimeout(Endings.handBack(attempt, "closing"));
    }

    @Test
    void handlerThatReturnsWithinItsTime_hasNot() {
        RunningAttempt attempt = attempt(now::get);
        now.set(Duration.ofSeconds(1).toNanos() - 1);
        assertThat(Endings.afterHandler(attempt, null)).isEqualTo(new Finish.Succeed());
        assertThat(Endings.afterHandler(attempt, new IllegalStateException())).isInstanceOf(Finish.Retry.class);
        assertThat(Endings.handBack(attempt, "closing")).isEqualTo(new Finish.HandBack(Duration.ZERO, "closing"));
        assertThat(attempt.stop(StopReason.CANCELLED)).isTrue();
        assertThat(Endings.handBack(attempt, "closing")).isEqualTo(new Finish.Cancel());
    }

    @Test
    void handlerDoesNotBegin_onceItsAttemptShouldStopOrIsDecided() {
        RunningAttempt stopped = attempt(now::get);
        stopped.stop(StopReason.CANCELLED);
        assertThat(stopped.begin()).isFalse();
        RunningAttempt decided = attempt(now::get);
        decided.decide(new Finish.Succeed());
        assertThat(decided.begin()).isFalse();
        RunningAttempt lost = attempt(now::get);
        lost.lose();
        assertThat(lost.begin()).isFalse();
        RunningAttempt other = attempt(now::get);
        assertThat(other.begin()).isTrue();
        assertThat(other.begin()).isFalse();
    }

    @Test
    void interrupts_reachTheThreadOnlyWhileTheHandlerRuns() {
        RunningAttempt attempt = attempt(now::get);
        assertThat(attempt.begin()).isTrue();
        attempt.leave();
        attempt.stop(StopReason.CANCELLED);
        assertThat(Thread.interrupted()).isFalse();
        attempt.decide(new Finish.Cancel(), StopReason.SHUTDOWN);
        assertThat(Thread.interrupted()).isFalse();
        assertThat(attempt.ignoresStop(0)).isNull();
    }

    @Test
    void strongerReason_replacesAWeakerOne_neverTheOtherWayRound() {
        RunningAttempt attempt = attempt(now::get);
        assertThat(attempt.stop(StopReason.CANCELLED)).isTrue();
        assertThat(attempt.stop(StopReason.CANCELLED)).isFalse();
        assertThat(attempt.decide(new Finish.Cancel(), StopReason.TIMED_OUT)).isTrue();
        assertThat(attempt.stop(StopReason.CANCELLED)).isFalse();
        assertThat(attempt.stopReason()).isEqualTo(StopReason.TIMED_OUT);
        assertThat(attempt.decide(new Finish.Succeed())).isFalse();
        assertThat(attempt.lose()).isFalse();
        assertThat(attempt.decided()).isEqualTo(new Finish.Cancel());
    }
}
