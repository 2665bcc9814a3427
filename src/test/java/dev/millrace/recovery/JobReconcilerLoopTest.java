package dev.millrace.recovery;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.store.StoreUnavailableException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** That the loop runs, and goes on whatever happens, in real time. */
class JobReconcilerLoopTest {
    private static final HeartbeatPolicy QUICK = new HeartbeatPolicy(ofMillis(100), ofMillis(400));
    private static final RecoverySettings OFTEN = RecoverySettings.DEFAULT.withJobSweepInterval(ofMillis(20));
    private static final RecoverySettings SELDOM = RecoverySettings.DEFAULT.withJobSweepInterval(ofHours(1));

    private final FakeStore store = new FakeStore(System::nanoTime);
    private final AtomicInteger sweeps = new AtomicInteger();
    private final AtomicInteger probes = new AtomicInteger();
    private JobReconciler reconciler;

    @AfterEach
    void close() {
        reconciler.close();
        assertThat(reconciler.status().running()).isFalse();
    }

    @Test
    void start_sweepsAtOnce_andAtEachInterval() {
        store.onSuspects = sweeps::incrementAndGet;
        start(OFTEN);
        await().until(() -> sweeps.get() >= 3);
        assertThat(reconciler.status().running()).isTrue();
        assertThat(reconciler.status().lastSweep()).isNotNull();
    }

    @Test
    void startedTwice_sweepsOnOneDaemonThread() {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        store.onSuspects = () -> {
            threads.add(Thread.currentThread());
            sweeps.incrementAndGet();
        };
        start(OFTEN);
        reconciler.start();
        await().until(() -> sweeps.get() >= 5);
        assertThat(threads).singleElement().satisfies(thread -> {
            assertThat(thread.isDaemon()).isTrue();
            assertThat(thread.getName()).isEqualTo("millrace-job-reconciler");
        });
    }

    @Test
    void jobOfADeadWorker_isRequeued() {
        start(OFTEN);
        store.claimed("a", QUICK);
        await().until(() -> store.finished.containsKey("a"));
    }

    @Test
    void jobThatIsHeld_isLookedAtAgainWhenTheWatchHasLasted_notAtTheNextRegularSweep() {
        store.claimed("a", QUICK);
        start(SELDOM);
        await().until(() -> store.finished.containsKey("a"));
    }

    @Test
    void jobsThatAreHeldForDifferentTimes_areEachLookedAtAgainInTheirTime() {
        // Its row stays locked, so this is the shortest timeout all the time.
        store.claimed("a", QUICK).locked();
        store.claimed("b", new HeartbeatPolicy(ofMillis(300), ofMillis(1_800)));
        await().until(() -> store.suspects("", 2).size() == 2);
        start(SELDOM);
        await().until(() -> store.finished.containsKey("b"));
    }

    @Test
    void storeThatIsDownAtTheStart_isSweptWhenItIsUp() {
        store.claimed("a", QUICK);
        store.down();
        start(SELDOM);
        await().until(() ->
                reconciler.status().outage() != null && reconciler.status().lastSweep() != null);
        store.up();
        await().until(() -> store.finished.containsKey("a"));
        assertThat(reconciler.status().outage()).isNull();
    }

    @Test
    void outageBetweenTwoSweeps_isFollowedByASweepOfItsOwn() {
        store.claimed("a", new HeartbeatPolicy(ofMillis(200), ofSeconds(2)));
        start(SELDOM);
        await().until(() -> {
            store.beat("a");
            return !reconciler.status().suspended();
        });
        store.down();
        await().until(() -> reconciler.status().outage() != null);
        store.up();
        await().until(() -> store.finished.containsKey("a"));
    }

    @Test
    void shortTimeoutThatTurnsUp_isProbedForAtItsOwnPace() {
        store.onProbe = () -> {
            if (Thread.currentThread().getName().equals("millrace-store-watch")) {
                probes.incrementAndGet();
            }
        };
        store.claimed("a", QUICK).locked();
        start(SELDOM);
        // Six in each timeout; at a pace of one in a second it would take 20 seconds.
        await().atMost(ofSeconds(10)).until(() -> probes.get() > 20);
    }

    @Test
    void errorInASweep_doesNotEndTheLoop() {
        store.onSuspects = () -> {
            sweeps.incrementAndGet();
            throw new OutOfMemoryError("a sweep");
        };
        start(OFTEN);
        await().until(() -> sweeps.get() >= 3);
        assertThat(reconciler.status().lastSweep().failure()).isInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void errorInAProbe_endsNeitherLoop() {
        store.onProbe = () -> {
            probes.incrementAndGet();
            throw new LinkageError("a probe");
        };
        start(OFTEN);
        await().until(() -> probes.get() >= 4);
        store.onSuspects = sweeps::incrementAndGet;
        store.onProbe = probes::incrementAndGet;
        await().until(() -> sweeps.get() >= 2 && reconciler.status().outage() == null);
    }

    @Test
    void interruptOfItsThread_doesNotEndTheLoop() {
        AtomicInteger interrupts = new AtomicInteger();
        store.onSuspects = () -> {
            sweeps.incrementAndGet();
            if (interrupts.incrementAndGet() <= 3) {
                Thread.currentThread().interrupt();
            }
        };
        start(OFTEN);
        await().until(() -> sweeps.get() >= 6);
    }

    @Test
    void close_whileTheStoreHangs_endsInTime_andEndsItsThreads() {
        CountDownLatch hanging = new CountDownLatch(1);
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        store.onSuspects = () -> {
            threads.add(Thread.currentThread());
            hanging.countDown();
            hangUntilInterrupted();
        };
        start(OFTEN);
        await().until(() -> hanging.getCount() == 0);
        long began = System.nanoTime();
        reconciler.close();
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(ofSeconds(9));
        assertThat(threads)
                .singleElement()
                .satisfies(thread -> assertThat(thread.isAlive()).isFalse());
    }

    @Test
    void close_endsASweepAfterTheJobThatItIsAt() {
        reconciler = new JobReconciler(OFTEN, store, store);
        HeartbeatPolicy heartbeat = FakeStore.HEARTBEAT;
        store.claimed("a", heartbeat).maxDuration(ofMillis(1)).beforeExpiry(reconciler::close);
        store.claimed("b", heartbeat).maxDuration(ofMillis(1));
        await().until(() -> store.suspects("", 10).size() == 2);
        assertThat(reconciler.tick().timedOut()).isOne();
        assertThat(store.has("b")).isTrue();
    }

    private void start(RecoverySettings settings) {
        reconciler = new JobReconciler(settings, store, store);
        reconciler.start();
    }

    private static void hangUntilInterrupted() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            throw new StoreUnavailableException("interrupted", e);
        }
    }
}
