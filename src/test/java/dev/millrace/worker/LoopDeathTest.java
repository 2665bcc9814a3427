package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import dev.millrace.worker.WorkerStatus.Claiming;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** No loop ends silently. */
@Timeout(60)
class LoopDeathTest {
    @Test
    void loop_thatThrowsAnError_beginsAnew() throws Exception {
        WorkerThreads threads = new WorkerThreads("worker", 1);
        AtomicInteger turns = new AtomicInteger();
        Thread loop = threads.loop("loop", () -> {
            if (turns.incrementAndGet() == 1) {
                throw new AssertionError("on purpose");
            }
        });
        loop.start();
        loop.join();
        assertThat(turns).hasValue(2);
        threads.stop();
    }

    @Test
    void loop_thatEnds_saysSo() throws Exception {
        WorkerThreads threads = new WorkerThreads("worker", 1);
        Thread loop = threads.loop("loop", () -> {});
        assertThat(threads.loopEnded()).isFalse();
        loop.start();
        loop.join();
        assertThat(threads.loopEnded()).isTrue();
        threads.stop();
    }

    @Test
    void status_ofAWorkerWhoseLoopHasEnded_saysSo_andThatItIsNotAlive() {
        try (WorkerFixture fixture = new WorkerFixture()) {
            Worker worker = fixture.start((payload, context) -> {});
            assertThat(worker.status().alive()).isTrue();
            worker.heartbeats().stop(); // behind its back
            until(() -> worker.status().claiming() == Claiming.LOOP_ENDED);
            assertThat(worker.status().alive()).isFalse();
            assertThat(worker.status().healthy()).isFalse();
            worker.close();
            assertThat(worker.status().claiming()).isEqualTo(Claiming.CLOSED);
        }
    }

    @Test
    void errors_ofTheSourceAndOfHandlers_endNoLoop() {
        try (WorkerFixture fixture = new WorkerFixture()) {
            for (Op op : Op.values()) {
                fixture.source.next(op, Fault.failing(() -> new StackOverflowError("on purpose")));
            }
            fixture.source.submit("work", WorkerFixture.attempts(10));
            AtomicInteger runs = new AtomicInteger();
            Worker worker = fixture.start((payload, context) -> {
                context.progress(1);
                int before = fixture.source.calls(Op.BEAT);
                until(() -> fixture.source.calls(Op.BEAT) > before + 1);
                if (runs.incrementAndGet() == 1) {
                    throw new NoClassDefFoundError("on purpose");
                }
            });
            until(() -> {
                worker.wakeUp();
                return fixture.source.allSucceeded();
            });
            assertThat(worker.status().alive()).isTrue();
        }
    }
}
