package dev.millrace.recovery;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BackendWorkTest {
    private final CountDownLatch gate = new CountDownLatch(1);
    private final AtomicInteger hanging = new AtomicInteger();
    private final AtomicInteger clockReads = new AtomicInteger();
    private final BackendWork work = new BackendWork(2, ofSeconds(30), () -> {
        clockReads.incrementAndGet();
        return System.nanoTime();
    });

    @AfterEach
    void end() {
        gate.countDown();
        work.close(ofSeconds(20));
    }

    /** Does not mind interrupts. */
    private void hang(TimedTask task) {
        assertThatCode(() -> task.call(() -> {
                    hanging.incrementAndGet();
                    while (gate.getCount() > 0) {
                        LockSupport.parkNanos(1_000_000);
                    }
                    return true;
                }))
                .satisfiesAnyOf(
                        none -> assertThat(none).isNull(),
                        late -> assertThat(late).isInstanceOf(TimedTask.CallTimeoutException.class));
    }

    @Test
    void awaitEnd_whileACallHangs_doesNotLookThroughAllAtEachEnd() throws InterruptedException {
        work.give("hanging", "job", this::hang);
        for (int i = 0; i < 400; i++) {
            work.give("quick", "job-" + i, task -> LockSupport.parkNanos(2_000_000));
        }
        await().until(() -> hanging.get() == 1);
        clockReads.set(0);
        work.awaitEnd(ofMillis(500));
        assertThat(clockReads).as("two for each look of 50 ms").hasValueLessThan(60);
        await().until(() -> work.inHand() == 1);
    }

    @Test
    void awaitEnd_returnsSoonAfterTheLastEnd() throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            work.give("quick", "job-" + i, task -> LockSupport.parkNanos(2_000_000));
        }
        work.awaitEnd(ofSeconds(50));
        assertThat(work.inHand()).isZero();
    }

    @Test
    void close_waitsNoLongerForManyBackendsThanForOne() {
        for (int i = 0; i < 10; i++) {
            work.give("hanging-" + i, "job-" + i, this::hang);
        }
        await().until(() -> hanging.get() == 10);
        long began = System.nanoTime();
        assertThat(work.close(ofMillis(300))).isFalse();
        assertThat(System.nanoTime() - began).isBetween(600_000_000L, 2_500_000_000L);
        gate.countDown();
        assertThat(work.close(ofSeconds(20))).isTrue();
    }
}
