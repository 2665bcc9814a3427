package dev.millrace.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.store.Retention;
import dev.millrace.store.Retention.Batch;
import dev.millrace.store.Retention.Subject;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How the sweeper goes about it, over a store that is none. */
@Timeout(60)
class RetentionSweeperTest {
    private final Map<Subject, Integer> left = new EnumMap<>(Subject.class);
    private final Map<Subject, RuntimeException> broken = new EnumMap<>(Subject.class);
    private final List<String> calls = new CopyOnWriteArrayList<>();

    private Batch sweep(Subject subject, int limit) {
        calls.add(subject + " " + limit);
        if (broken.containsKey(subject)) {
            throw broken.get(subject);
        }
        int size = Math.min(limit, left.getOrDefault(subject, 0));
        left.merge(subject, -size, Integer::sum);
        return new Batch(size, 0, null);
    }

    private RetentionSweeper sweeper() {
        return new RetentionSweeper(RetentionSettings.DEFAULT, this::sweep);
    }

    @Test
    void tick_goesOnWhileBatchesAreFull() {
        left.put(Subject.JOBS, 2_500);
        left.put(Subject.LOGS, 20);

        RetentionReport report = sweeper().tick();

        assertThat(report).isEqualTo(new RetentionReport(2_500, 20, 0, 0, 0, null, 0, 0, null));
        assertThat(calls)
                .containsExactly(
                        "JOBS 1000",
                        "JOBS 1000",
                        "JOBS 1000",
                        "LOGS 10",
                        "LOGS 10",
                        "LOGS 10",
                        "RESULTS 1000",
                        "LEASES 1000");
    }

    @Test
    void tick_countsWhatWasPostponed_andGoesOnBehindIt() {
        AtomicInteger batch = new AtomicInteger();
        Retention held = (subject, limit) -> subject == Subject.JOBS && batch.getAndIncrement() < 2
                ? new Batch(400, 600, "orders_fkey of table shop.orders")
                : new Batch(0, subject == Subject.LOGS ? 3 : 0, null);

        RetentionReport report = new RetentionSweeper(RetentionSettings.DEFAULT, held).tick();

        assertThat(report)
                .isEqualTo(new RetentionReport(800, 0, 0, 0, 1_200, "orders_fkey of table shop.orders", 3, 0, null));
        assertThat(batch.get()).isEqualTo(3);
    }

    @Test
    void tick_withATableThatFails_sweepsTheOthers() {
        StoreException failure = new StoreException("broken", null);
        broken.put(Subject.JOBS, failure);
        broken.put(Subject.RESULTS, new StoreException("too", null));
        left.put(Subject.LOGS, 5);
        left.put(Subject.LEASES, 7);

        RetentionReport report = sweeper().tick();

        assertThat(report).isEqualTo(new RetentionReport(0, 5, 0, 7, 0, null, 0, 2, failure));
    }

    @Test
    void tick_withoutAStore_endsAtOnce() {
        broken.put(Subject.JOBS, new StoreUnavailableException("away", null));

        assertThat(sweeper().tick().errors()).isEqualTo(1);
        assertThat(calls).hasSize(1);
    }

    @Test
    void close_endsASweepAfterItsBatch() throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        Retention endless = (subject, limit) -> {
            inside.countDown();
            return new Batch(limit, 0, null);
        };
        RetentionSweeper sweeper = new RetentionSweeper(RetentionSettings.DEFAULT, endless);
        Thread ticking = new Thread(sweeper::tick);
        ticking.start();
        inside.await();

        sweeper.close();

        ticking.join(30_000);
        assertThat(ticking.isAlive()).isFalse();
        assertThat(sweeper.lastSweep()).isNotNull();
        assertThatThrownBy(sweeper::tick).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(sweeper::start).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void loop_sweepsSoonAfterItsStart_andAgain_alsoAfterFailures() {
        broken.put(Subject.JOBS, new StoreUnavailableException("away", null));
        RetentionSettings often = RetentionSettings.DEFAULT.withRetentionSweepInterval(Duration.ofSeconds(1));
        try (RetentionSweeper sweeper = new RetentionSweeper(often, this::sweep)) {
            sweeper.start();
            sweeper.start();
            await().atMost(Duration.ofSeconds(20)).until(() -> calls.size() >= 2);
            broken.clear();
            left.put(Subject.JOBS, 1);
            await().atMost(Duration.ofSeconds(20)).until(() -> calls.contains("LEASES 1000"));
        }
    }

    @Test
    void rounds_areSpreadAtRandom_andComeSoonerAfterAFailure() {
        RetentionSweeper sweeper = sweeper();
        assertThat(sweeper.round()).isBetween(Duration.ZERO, Duration.ofMinutes(1));
        assertThat(calls).isEmpty();
        assertThat(sweeper.round()).isBetween(Duration.ofSeconds(450), Duration.ofSeconds(600));
        assertThat(calls).hasSize(4);
        broken.put(Subject.LOGS, new StoreException("broken", null));
        assertThat(sweeper.round()).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void settings_outsideOfTheirLimits_areRefused() {
        RetentionSettings usual = RetentionSettings.DEFAULT;
        assertThatThrownBy(() -> usual.withRetentionSweepInterval(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("retentionSweepInterval")
                .hasMessageContaining("10 min");
        assertThatThrownBy(() -> usual.withRetentionSweepBatchSize(0)).hasMessageContaining("retentionSweepBatchSize");
        assertThatThrownBy(() -> usual.withLogStreamBatchSize(1_001)).hasMessageContaining("logStreamBatchSize");
        assertThat(usual).isEqualTo(new RetentionSettings(Duration.ofMinutes(10), 1_000, 10));
    }
}
