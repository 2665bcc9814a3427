package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.BRISK;
import static dev.millrace.worker.WorkerFixture.WORK;
import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import dev.millrace.job.JobType;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.FakeSource.Op;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many run at a time, of all and of a kind, and what was claimed ahead. */
@Timeout(60)
class SlotsTest {
    private static final JobType<String> SLOW = JobType.of("slow", String.class);

    private final WorkerFixture fixture = new WorkerFixture();
    private final FakeSource source = fixture.source;
    private final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
    private final Map<String, Integer> most = new ConcurrentHashMap<>();
    private final List<String> order = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        fixture.close();
    }

    /** Counts how many run at once; waits for the gate. */
    private JobHandler<String> counting(CountDownLatch gate) {
        return (payload, context) -> {
            order.add(context.job().id());
            for (String what : List.of("all", context.job().kind())) {
                int now = running.computeIfAbsent(what, key -> new AtomicInteger())
                        .incrementAndGet();
                most.merge(what, now, Math::max);
            }
            try {
                gate.await();
            } finally {
                for (String what : List.of("all", context.job().kind())) {
                    running.get(what).decrementAndGet();
                }
            }
        };
    }

    private int runningNow(String what) {
        AtomicInteger count = running.get(what);
        return count == null ? 0 : count.get();
    }

    private static CountDownLatch open() {
        return new CountDownLatch(0);
    }

    // By kind.

    @Test
    void kindWithAConcurrencyOfItsOwn_neverHasMore_andOthersHaveTheRest() {
        CountDownLatch gate = fixture.gate();
        source.submit(10, "slow");
        source.submit(3, "work");
        fixture.track(fixture.setup()
                .settings(settings -> settings.withConcurrency(5).withKindConcurrency(Map.of("slow", 2)))
                .handle(SLOW, counting(gate))
                .handle(WORK, counting(gate))
                .start());
        until(() -> runningNow("slow") == 2 && runningNow("work") == 3);
        gate.countDown();
        until(source::allSucceeded);
        assertThat(most.get("slow")).isLessThanOrEqualTo(2);
        assertThat(most.get("all")).isLessThanOrEqualTo(5);
        assertThat(source.claimRequests)
                .filteredOn(request -> request.kinds().contains("slow"))
                .allSatisfy(request -> {
                    assertThat(request.kinds()).containsExactly("slow");
                    assertThat(request.limit()).isLessThanOrEqualTo(2);
                });
    }

    @Test
    void kindAtItsLimit_holdsUpNoOther_whateverStandsFirst() {
        CountDownLatch gate = fixture.gate();
        source.submit(20, "slow");
        List<String> others = source.submit(20, "work");
        fixture.track(fixture.setup()
                .settings(settings -> settings.withConcurrency(3).withKindConcurrency(Map.of("slow", 1)))
                .handle(SLOW, counting(gate))
                .handle(WORK, counting(open()))
                .start());
        until(() -> others.stream().allMatch(id -> source.status(id) == JobStatus.SUCCEEDED));
        assertThat(most.get("slow")).isOne();
    }

    @Test
    void otherKindsThatFillAllSlots_doNotStarveOneWithALimit_alsoNotAhead() {
        source.submit(200, "work");
        List<String> slow = source.submit(3, "slow");
        fixture.track(fixture.setup()
                .settings(
                        settings -> settings.withConcurrency(2).withPrefetch(8).withKindConcurrency(Map.of("slow", 1)))
                .handle(SLOW, counting(open()))
                .handle(WORK, counting(open()))
                .start());
        until(source::allSucceeded);
        assertThat(order.subList(0, 100)).as("the first half").containsAll(slow);
    }

    @Test
    void limitOfAKindThatHasNoHandler_orAboveTheConcurrency_isRefused() {
        WorkerSetup setup = fixture.setup().handle(WORK, counting(open()));
        setup.settings(settings -> settings.withKindConcurrency(Map.of("wrok", 1)));
        assertThatExceptionOfType(InvalidWorkerException.class)
                .isThrownBy(setup::build)
                .withMessageContaining("\"wrok\", which has no handler")
                .withMessageContaining("work");
        setup.settings(settings -> settings.withKindConcurrency(Map.of("work", 11)));
        assertThatExceptionOfType(InvalidWorkerException.class)
                .isThrownBy(setup::build)
                .withMessageContaining("11 for the kind \"work\"");
        setup.settings(settings -> settings.withConcurrency(11)); // the order in which they are said doesn't matter
        assertThatNoException().isThrownBy(setup::build);
    }

    // Ahead.

    @Test
    void jobsClaimedAhead_waitInOrder_andAreBeatenFor() {
        CountDownLatch gate = fixture.gate();
        List<String> ids = submitBrisk(6);
        Worker worker = fixture.start(settings -> settings.withConcurrency(2).withPrefetch(4), counting(gate));
        until(() -> runningNow("all") == 2);
        assertThat(worker.status().waiting()).isEqualTo(4);
        assertThat(worker.status().running()).isEqualTo(6);
        until(() -> ids.stream().allMatch(id -> source.beatsFor(id) >= 2));
        gate.countDown();
        until(source::allSucceeded);
        assertThat(most.get("all")).isEqualTo(2);
        assertThat(order).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(ids.subList(4, 6)).as("the last to start").containsAll(order.subList(4, 6));
    }

    @Test
    void claimsAhead_areNotMadeOneByOne() {
        source.submit(400, "work");
        fixture.start(settings -> settings.withConcurrency(1).withPrefetch(40), counting(open()));
        until(source::allSucceeded);
        assertThat(source.claimRequests)
                .filteredOn(request -> request.limit() < 20)
                .isEmpty();
        assertThat(source.claimRequests)
                .hasSizeLessThan(25)
                .extracting(ClaimRequest::limit)
                .contains(41);
    }

    @Test
    void jobThatIsLostWhileItWaits_neverStarts() {
        CountDownLatch gate = fixture.gate();
        List<String> ids = submitBrisk(2);
        Worker worker = fixture.start(settings -> settings.withConcurrency(1).withPrefetch(1), counting(gate));
        until(() -> runningNow("all") == 1);
        String waiting = ids.get(1);
        source.failElsewhere(waiting);
        until(() -> worker.status().waiting() == 0);
        gate.countDown();
        until(() -> source.status(ids.get(0)) == JobStatus.SUCCEEDED);
        until(() -> worker.status().running() == 0);
        assertThat(order).doesNotContain(waiting);
        assertThat(source.endings(waiting)).isEmpty();
    }

    @Test
    void jobThatIsCancelledWhileItWaits_endsAtOnce_andNeverStarts() {
        CountDownLatch gate = fixture.gate();
        List<String> ids = submitBrisk(2);
        fixture.tellingFirst().start(settings -> settings.withConcurrency(1).withPrefetch(1), counting(gate));
        until(() -> runningNow("all") == 1);
        source.cancel(ids.get(1));
        until(() -> source.status(ids.get(1)) == JobStatus.CANCELLED);
        assertThat(source.endings(ids.get(1))).containsExactly(new Finish.Cancel());
        assertThat(source.calls(Op.START)).isOne();
        assertThat(order).hasSize(1);
    }

    @Test
    void jobThatTimesOutWhileItWaits_fails_andNeverStarts() {
        CountDownLatch gate = fixture.gate();
        source.submit("work", BRISK);
        fixture.start(settings -> settings.withConcurrency(1).withPrefetch(1), counting(gate));
        until(() -> runningNow("all") == 1);
        String late = source.submit("work", BRISK.withMaxDuration(Duration.ofMillis(20)));
        fixture.workers().get(0).wakeUp();
        until(() -> source.status(late) == JobStatus.FAILED);
        gate.countDown();
        assertThat(order).hasSize(1);
    }

    @Test
    void closing_handsBackWhatWaits_withoutFault() {
        CountDownLatch gate = fixture.gate();
        List<String> ids = submitBrisk(3);
        Worker worker = fixture.start(settings -> settings.withConcurrency(1).withPrefetch(2), counting(gate));
        until(() -> runningNow("all") == 1);
        gate.countDown();
        worker.close();
        for (String id : ids) {
            if (!order.contains(id)) {
                assertThat(source.status(id)).isEqualTo(JobStatus.QUEUED);
                assertThat(source.forgiven(id)).isOne();
            }
        }
        assertThat(worker.status().running()).isZero();
    }

    private List<String> submitBrisk(int number) {
        return java.util.stream.Stream.generate(() -> source.submit("work", BRISK))
                .limit(number)
                .toList();
    }
}
