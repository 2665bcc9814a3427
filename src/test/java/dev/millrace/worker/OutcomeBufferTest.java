package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.BRISK;
import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.millrace.types.JobStatus;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Outcomes that are gathered, and written together. */
@Timeout(60)
class OutcomeBufferTest {
    private static final Duration LONG = Duration.ofSeconds(10);

    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;
    private final AtomicInteger runs = new AtomicInteger();

    @AfterEach
    void close() {
        fixture.close();
    }

    private Worker start(int concurrency, OutcomeBuffer buffer) {
        return fixture.start(
                settings -> settings.withConcurrency(concurrency).withOutcomeBuffer(buffer),
                (payload, context) -> runs.incrementAndGet());
    }

    private List<String> submitBrisk(int number) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            ids.add(source.submit("work", BRISK));
        }
        return ids;
    }

    @Test
    void outcomes_areWrittenTogether_whenThereAreEnough() {
        source.submit(100, "work");
        start(4, new OutcomeBuffer(10, LONG));
        until(source::allSucceeded);
        assertThat(runs).hasValue(100);
        assertThat(source.finishedTogether).containsOnly(10);
        assertThat(source.calls(Op.FINISH)).isZero();
    }

    @Test
    void outcomes_areWritten_whenTheFirstHasWaitedForTheDelay() {
        source.submit(3, "work");
        start(4, new OutcomeBuffer(1_000, Duration.ofMillis(50)));
        until(source::allSucceeded);
    }

    @Test
    void slot_isFree_onceTheOutcomeIsGathered_andItsJobIsBeatenFor() {
        List<String> ids = submitBrisk(5);
        fixture.tellingAfter(LONG);
        Worker worker = start(1, new OutcomeBuffer(100, LONG));
        until(() -> runs.get() == 5);
        assertThat(ids).allMatch(id -> source.status(id) == JobStatus.PROVISIONING); // nothing is known of their runs
        int beats = source.beatsFor(ids.get(0));
        until(() -> source.beatsFor(ids.get(0)) >= beats + 2);
        assertThat(worker.status().running()).isEqualTo(5);
        worker.close();
        assertThat(source.allSucceeded()).as("written at the end").isTrue();
        assertThat(source.finishedTogether).containsExactly(5);
    }

    @Test
    void whatIsUnwritten_isBounded() {
        CountDownLatch gate = fixture.gate();
        source.next(Op.FINISH_ALL, Fault.gate(gate));
        source.submit(50, "work");
        start(4, new OutcomeBuffer(2, LONG));
        // Two that are being written, two that are gathered, and four that keep their slots.
        until(() -> runs.get() == 8);
        assertThat(source.calls(Op.CLAIM)).isPositive();
        gate.countDown();
        until(source::allSucceeded);
        assertThat(runs).hasValue(50);
    }

    @Test
    void outage_isWaitedOut_andNothingIsLost() {
        source.next(Op.FINISH_ALL, Fault.down(), Fault.lostReply(), Fault.down());
        List<String> ids = submitBrisk(4);
        Worker worker = start(4, new OutcomeBuffer(4, Duration.ofMillis(500)));
        until(source::allSucceeded);
        assertThat(ids).allSatisfy(id -> assertThat(source.endings(id)).hasSize(1));
        until(() -> worker.status().running() == 0);
    }

    @Test
    void callThatFailsOtherwise_hasEachWrittenByItself() {
        source.next(Op.FINISH_ALL, Fault.failing(() -> new AssertionError("boo")));
        List<String> ids = submitBrisk(4);
        Worker worker = start(4, new OutcomeBuffer(4, LONG));
        until(source::allSucceeded);
        assertThat(source.calls(Op.FINISH)).isEqualTo(4);
        assertThat(ids).allSatisfy(id -> assertThat(source.endings(id)).hasSize(1));
        until(() -> worker.status().running() == 0);
    }

    @Test
    void outcomeThatIsRefused_isOnlyThatJobs() {
        source.next(Op.FINISH_ALL, Fault.before(() -> source.failElsewhere(source.firstId())));
        List<String> ids = submitBrisk(3);
        Worker worker = start(3, new OutcomeBuffer(3, LONG));
        until(() -> worker.status().running() == 0 && runs.get() == 3);
        assertThat(source.status(ids.get(0))).isEqualTo(JobStatus.FAILED);
        assertThat(source.status(ids.get(1))).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(source.status(ids.get(2))).isEqualTo(JobStatus.SUCCEEDED);
    }

    @Test
    void outcomeWhoseRowIsLocked_isWrittenByItself_andHoldsUpNoOther() {
        CountDownLatch locked = fixture.gate();
        source.next(Op.FINISH, Fault.gate(locked));
        List<String> ids = submitBrisk(3);
        source.lock(ids.get(0), true);
        Worker worker = start(3, new OutcomeBuffer(3, LONG));
        until(() ->
                source.status(ids.get(1)) == JobStatus.SUCCEEDED && source.status(ids.get(2)) == JobStatus.SUCCEEDED);
        assertThat(source.status(ids.get(0))).matches(JobStatus::isClaimed);
        locked.countDown();
        until(source::allSucceeded);
        until(() -> worker.status().running() == 0);
    }

    @Test
    void outcomesThatAreNeverWritten_keepTheirRoom() {
        CountDownLatch gate = fixture.gate();
        source.always(Op.FINISH_ALL, Fault.failing(() -> new AssertionError("boo")));
        source.always(Op.FINISH, Fault.gate(gate));
        source.submit(50, "work");
        start(2, new OutcomeBuffer(2, LONG));
        until(() -> runs.get() == 6); // two batches, and two that keep their slots
        assertThat(source.ended).isEmpty();
        gate.countDown();
        until(source::allSucceeded);
    }

    @Test
    void databaseThatIsGoneAtTheEnd_doesNotKeepTheWorkerFromClosing() {
        submitBrisk(3);
        Worker worker = fixture.start(
                settings -> settings.withDrainTimeout(Duration.ofMillis(100))
                        .withConcurrency(3)
                        .withOutcomeBuffer(new OutcomeBuffer(100, LONG)),
                (payload, context) -> runs.incrementAndGet());
        until(() -> runs.get() == 3);
        source.down();
        worker.close();
        assertThat(worker.status().claiming()).isEqualTo(WorkerStatus.Claiming.CLOSED);
        source.up();
        assertThat(source.allSucceeded()).isFalse();
    }

    @Test
    void valuesThatAreNotAllowed_areRefused() {
        assertThatExceptionOfType(InvalidWorkerException.class).isThrownBy(() -> new OutcomeBuffer(0, LONG));
        assertThatExceptionOfType(InvalidWorkerException.class)
                .isThrownBy(() -> new OutcomeBuffer(10, Duration.ofSeconds(11)))
                .withMessageContaining("outcomeBuffer.delay");
    }
}
