package dev.millrace.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.store.Retention;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RecoveryListenerTest {
    private final List<Object> heard = new CopyOnWriteArrayList<>();
    private final RecoveryListener listener = new RecoveryListener() {
        @Override
        public void swept(SweepReport report, Duration took) {
            assertThat(took).isPositive();
            heard.add(report);
        }

        @Override
        public void retentionSwept(RetentionReport report, Duration took) {
            assertThat(took).isPositive();
            heard.add(report);
        }
    };

    private static final RecoveryListener BAD = new RecoveryListener() {
        @Override
        public void swept(SweepReport report, Duration took) {
            throw new AssertionError("on purpose");
        }

        @Override
        public void retentionSwept(RetentionReport report, Duration took) {
            throw new AssertionError("on purpose");
        }
    };

    @Test
    void sweeps_areTold_whateverAnotherListenerThrows() {
        FakeStore store = new FakeStore(System::nanoTime);
        store.undispatched = 2;
        SweepReport report;
        try (JobReconciler reconciler = new JobReconciler(RecoverySettings.DEFAULT, store, store)
                .listener(BAD)
                .listener(listener)) {
            report = reconciler.tick();
        }
        assertThat(heard).containsExactly(report);
    }

    @Test
    void retentionSweeps_areTold_whateverAnotherListenerThrows() {
        Retention retention = (subject, limit) -> new Retention.Batch(1, 0, null);
        RetentionReport report;
        try (RetentionSweeper sweeper = new RetentionSweeper(RetentionSettings.DEFAULT, retention)
                .listener(BAD)
                .listener(listener)) {
            report = sweeper.tick();
        }
        assertThat(heard).containsExactly(report);
        assertThat(report.jobs()).isEqualTo(1);
    }

    @Test
    void loop_goesOnAfterErrors_andSaysWhetherItRuns() {
        AtomicInteger turns = new AtomicInteger();
        Loop loop = new Loop("a loop", () -> {
            turns.incrementAndGet();
            throw new StackOverflowError("on purpose");
        });
        assertThat(loop.alive()).isFalse();
        loop.start();
        loop.wakeUp();
        await().until(() -> {
            loop.wakeUp();
            return turns.get() >= 3;
        });
        assertThat(loop.alive()).isTrue();
        loop.stop();
        assertThat(loop.awaitEnd(Duration.ofSeconds(20))).isTrue();
        assertThat(loop.alive()).isFalse();
    }
}
