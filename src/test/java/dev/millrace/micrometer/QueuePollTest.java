package dev.millrace.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.store.ClaimRequest.Source;
import dev.millrace.store.Controls;
import dev.millrace.store.Count;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class QueuePollTest {
    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final FakeCounts counts = new FakeCounts();
    private final FakeControls controls = new FakeControls();
    private final QueuePoll poll = new QueuePoll(registry, counts, controls, Duration.ofMillis(5));

    @AfterEach
    void close() {
        poll.close();
    }

    private Collection<Gauge> depths() {
        return registry.find("millrace.queue.depth").gauges();
    }

    private List<Double> values() {
        return depths().stream().map(Gauge::value).toList();
    }

    @Test
    void poll_showsWhatItIsTold_andWhatChanged_andNothingWhileTheDatabaseIsAway() {
        counts.waiting.put(new Source("managed", "a"), new Count(3, true));
        counts.waiting.put(new Source("gpu", "a"), new Count(10_000, false));
        poll.start();
        await().until(() -> values().containsAll(List.of(3.0, 10_000.0)));
        assertThat(registry.get("millrace.queue.oldest")
                        .tags("profile", "gpu", "queue", "a")
                        .gauge()
                        .value())
                .isEqualTo(1.5);
        counts.down = true;
        await().until(() -> values().equals(List.of(Double.NaN, Double.NaN)));
        counts.down = false;
        await().until(() -> values().contains(3.0));
    }

    @Test
    void poll_ofMoreQueuesThanItShows_showsTheFirst() {
        for (int i = 0; i < QueuePoll.MOST_QUEUES + 1; i++) {
            counts.waiting.put(new Source("managed", "queue-" + i), new Count(1, true));
        }
        poll.ask();
        assertThat(depths())
                .hasSize(QueuePoll.MOST_QUEUES)
                .extracting(gauge -> gauge.getId().getTag("queue"))
                .contains("queue-0", "queue-99")
                .doesNotContain("queue-100");
    }

    @Test
    void queue_thatIsEmptyAgain_isShownAsEmpty() {
        counts.waiting.put(new Source("managed", "a"), new Count(3, true));
        poll.ask();
        counts.waiting.clear();
        poll.ask();
        assertThat(values()).containsExactly(0.0);
        assertThat(registry.get("millrace.queue.oldest").gauge().value()).isZero();
    }

    @Test
    void switches_areShown_andUnknownWhileTheDatabaseIsAway() {
        assertThat(gauge("millrace.held")).isNaN();
        poll.ask();
        assertThat(gauge("millrace.held")).isZero();
        assertThat(gauge("millrace.paused", "type", "queue")).isZero();
        controls.hold("me", null);
        controls.pause(Controls.Scope.queue("a"), "me", null);
        controls.pause(Controls.Scope.queue("b"), "me", null);
        controls.pause(Controls.Scope.kind("c"), "me", null);
        poll.ask();
        assertThat(gauge("millrace.held")).isOne();
        assertThat(gauge("millrace.paused", "type", "queue")).isEqualTo(2);
        assertThat(gauge("millrace.paused", "type", "kind")).isOne();
        counts.down = true;
        poll.start();
        await().until(() -> Double.isNaN(gauge("millrace.held"))
                && Double.isNaN(gauge("millrace.paused", "type", "queue"))
                && Double.isNaN(gauge("millrace.paused", "type", "kind")));
    }

    /** A reader between two answers must not find that a queue is gone. */
    @Test
    void meters_ofAQueue_areTheSameFromThenOn() {
        counts.waiting.put(new Source("managed", "a"), new Count(3, true));
        poll.ask();
        Gauge depth = registry.get("millrace.queue.depth").gauge();
        counts.waiting.put(new Source("managed", "a"), new Count(4, true));
        poll.ask();
        assertThat(registry.get("millrace.queue.depth").gauge()).isSameAs(depth);
        assertThat(depth.value()).isEqualTo(4);
        poll.close();
        assertThat(registry.getMeters()).isEmpty();
    }

    private double gauge(String name, String... tags) {
        return registry.get(name).tags(tags).gauge().value();
    }

    @Test
    void scrapes_askNoDatabase() {
        counts.waiting.put(new Source("managed", "a"), new Count(3, true));
        poll.ask();
        for (int i = 0; i < 10; i++) {
            assertThat(values()).containsExactly(3.0);
        }
        assertThat(counts.asked).hasValue(1);
    }
}
