package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.BRISK;
import static dev.millrace.worker.WorkerFixture.attempts;
import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.store.Finish;
import dev.millrace.store.StoreException;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The two writes that frame a handler's run, and what happens when they fail. */
@Timeout(60)
class StartAndFinishTest {
    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;
    private final AtomicInteger runs = new AtomicInteger();

    @AfterEach
    void close() {
        fixture.close();
    }

    private Worker counting() {
        return fixture.start((payload, context) -> runs.incrementAndGet());
    }

    // Start.

    @Test
    void startThatFails_isRepeated_andTheHandlerRunsOnce() {
        fixture.tellingFirst();
        source.next(Op.START, Fault.down(), Fault.failing(() -> new StoreException("syntax", null)));
        String id = source.submit("work");
        counting();
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
        assertThat(runs).hasValue(1);
        assertThat(source.calls(Op.START)).isEqualTo(3);
    }

    @Test
    void handler_doesNotRunWhileItsStartIsUnknown() {
        fixture.tellingFirst();
        source.always(Op.START, Fault.down());
        String id = source.submit("work");
        counting();
        until(() -> source.calls(Op.START) >= 3);
        assertThat(runs).hasValue(0);
        source.heal(Op.START);
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
        assertThat(runs).hasValue(1);
    }

    @Test
    void startWhoseReplyIsLost_isAskedAgain_andTheHandlerRunsOnce() {
        fixture.tellingFirst();
        source.next(Op.START, Fault.lostReply());
        String id = source.submit("work");
        counting();
        until(() -> source.status(id) == JobStatus.SUCCEEDED);
        assertThat(runs).hasValue(1);
    }

    @Test
    void jobThatIsToBeCancelled_isCancelledWithoutBeingRun() {
        fixture.tellingFirst();
        CountDownLatch claimed = fixture.gate();
        String id = source.submit("work");
        source.next(Op.START, Fault.before(() -> source.cancel(id)));
        counting();
        until(() -> source.status(id) == JobStatus.CANCELLED);
        assertThat(runs).hasValue(0);
        assertThat(source.endings(id)).containsExactly(new Finish.Cancel());
        claimed.countDown();
    }

    @Test
    void cancellationSeenAtABeat_beforeTheStartIsKnown_isHonoured() {
        fixture.tellingFirst();
        String id = source.submit("work", BRISK);
        source.always(Op.START, Fault.down());
        counting();
        until(() -> source.beatsFor(id) > 0);
        source.cancel(id);
        until(() -> source.status(id) == JobStatus.CANCELLED);
        assertThat(runs).hasValue(0);
    }

    @Test
    void jobThatIsLostBeforeItsStart_isDropped() {
        fixture.tellingFirst();
        String id = source.submit("work");
        source.next(Op.START, Fault.before(() -> source.failElsewhere(id)));
        Worker worker = counting();
        until(() -> source.calls(Op.START) == 1 && worker.status().running() == 0);
        assertThat(runs).hasValue(0);
        assertThat(source.calls(Op.FINISH)).isZero();
    }

    @Test
    void startThatFailsForAReasonOfItsOwn_failsTheJobThroughItsPolicy() {
        fixture.tellingFirst();
        String id = source.submit("work", attempts(1));
        source.next(Op.START, Fault.failing(() -> new IllegalStateException("bug")));
        counting();
        until(() -> source.status(id) == JobStatus.FAILED);
        assertThat(runs).hasValue(0);
    }

    // Finish.

    @Test
    void outcome_isWrittenAfterAnOutage_keepingSlotAndBeatsUntilThen() {
        String id = source.submit("work", BRISK);
        source.always(Op.FINISH, Fault.down());
        Worker worker =
                fixture.start(settings -> settings.withConcurrency(1), (payload, context) -> runs.incrementAndGet());
        until(() -> source.calls(Op.FINISH) >= 2);
        String next = source.submit("work");
        worker.wakeUp();
        int beats = source.beatsFor(id);
        until(() -> source.beatsFor(id) > beats + 3);
        assertThat(worker.status().running()).isEqualTo(1);
        assertThat(source.status(next)).isEqualTo(JobStatus.QUEUED);
        source.heal(Op.FINISH);
        until(() -> source.status(id) == JobStatus.SUCCEEDED && source.status(next) == JobStatus.SUCCEEDED);
        assertThat(runs).hasValue(2);
    }

    @Test
    void outcomeWhoseReplyIsLost_isConfirmed_andBeatsThatFindTheJobEndedChangeNothing() {
        AtomicBoolean interrupted = new AtomicBoolean();
        String id = source.submit("work", BRISK);
        source.next(Op.FINISH, Fault.lostReply(), Fault.before(() -> {
            int beats = source.beatsFor(id);
            until(() -> source.beatsFor(id) > beats + 2); // all of them say that it is lost
            interrupted.set(Thread.interrupted());
        }));
        Worker worker = counting();
        until(() -> source.status(id) == JobStatus.SUCCEEDED && worker.status().running() == 0);
        assertThat(source.ended).hasSize(1);
        assertThat(source.calls(Op.FINISH)).isEqualTo(2);
        assertThat(interrupted).isFalse();
    }

    @Test
    void refusedOutcome_freesTheSlot() {
        String id = source.submit("work");
        Worker worker = fixture.start((payload, context) -> source.failElsewhere(id));
        until(() -> source.calls(Op.FINISH) == 1 && worker.status().running() == 0);
        assertThat(source.status(id)).isEqualTo(JobStatus.FAILED);
        assertThat(source.ended).isEmpty();
    }

    @Test
    void outcomeThatCanNeverBeWritten_isGivenUp_andLeftToExpiry() {
        String id = source.submit("work", BRISK);
        source.always(Op.FINISH, Fault.failing(() -> new IllegalStateException("bug")));
        Worker worker = counting();
        until(() -> source.calls(Op.FINISH) == 1);
        until(() -> worker.status().running() == 0);
        assertThat(source.calls(Op.FINISH)).isEqualTo(5);
        assertThat(source.status(id)).matches(JobStatus::isClaimed);
        assertThat(worker.status().lastError()).contains("bug");
    }

    @Test
    void interruptThatAHandlerLeavesBehind_reachesNeitherItsOutcomeNorTheNextJob() {
        AtomicBoolean seen = new AtomicBoolean();
        source.always(
                Op.FINISH,
                Fault.before(
                        () -> seen.compareAndSet(false, Thread.currentThread().isInterrupted())));
        source.submit("work");
        source.submit("work");
        fixture.start(settings -> settings.withConcurrency(1), (payload, context) -> {
            seen.compareAndSet(false, Thread.currentThread().isInterrupted());
            Thread.currentThread().interrupt();
        });
        until(source::allSucceeded);
        assertThat(seen).isFalse();
    }
}
