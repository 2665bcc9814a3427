package dev.millrace.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.RetryPolicy;
import dev.millrace.recovery.BackendSettings;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.recovery.RetentionSettings;
import dev.millrace.types.JsonText;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a registry shows of real workers. */
@MillraceDatabase
@Timeout(60)
class MillraceMetricsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final JsonText NOTHING = JsonText.of("{}");

    private final Millrace millrace;
    private final MeterRegistry registry = new SimpleMeterRegistry();

    MillraceMetricsTest(TestDatabase database) {
        this.millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
    }

    private Timer runs(String kind, String outcome) {
        return registry.get("millrace.jobs.run")
                .tags("kind", kind, "queue", "default", "outcome", outcome)
                .timer();
    }

    private double gauge(String name) {
        return registry.get(name).gauge().value();
    }

    @Test
    void meters_countWhatAWorkerDoes_byKindQueueAndOutcome_neverByJob() throws Exception {
        JobType<JsonText> good = JobType.of("good", JsonText.class);
        JobType<JsonText> bad = JobType.of("bad", JsonText.class);
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        Job failing = millrace.submit(bad, NOTHING, SubmitOption.retry(RetryPolicy.fixed(2, Duration.ZERO)));
        MillraceMetrics metrics = MillraceMetrics.of(registry);
        try (metrics;
                var worker = millrace.worker()
                        .handle(good, (payload, context) -> {
                            running.countDown();
                            gate.await();
                        })
                        .handle(bad, (payload, context) -> {
                            throw new IllegalStateException("on purpose");
                        })
                        .concurrency(7)
                        .pollInterval(Duration.ofMillis(20))
                        .with(metrics::observe)
                        .start()) {
            millrace.await(failing, PATIENCE);
            Job succeeding = millrace.submit(good, NOTHING);
            assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
            await().until(() -> gauge("millrace.workers.running") == 1);
            assertThat(gauge("millrace.workers")).isEqualTo(1);
            assertThat(gauge("millrace.workers.claiming")).isEqualTo(1);
            assertThat(gauge("millrace.workers.alive")).isEqualTo(1);
            assertThat(gauge("millrace.workers.concurrency")).isEqualTo(7);
            assertThat(gauge("millrace.workers.lingering")).isZero();
            gate.countDown();
            millrace.await(succeeding, PATIENCE);
            await().until(() -> registry.get("millrace.claims")
                            .tag("result", "empty")
                            .timer()
                            .count()
                    > 0);
            assertThat(worker.status().alive()).isTrue();
        }

        assertThat(runs("good", "succeeded").count()).isEqualTo(1);
        assertThat(runs("good", "succeeded").totalTime(TimeUnit.NANOSECONDS)).isPositive();
        assertThat(runs("bad", "retried").count()).isEqualTo(1);
        assertThat(runs("bad", "failed").count()).isEqualTo(1);
        assertThat(registry.get("millrace.retries")
                        .tags("kind", "bad", "queue", "default")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("millrace.jobs.claimed").counter().count()).isEqualTo(3);
        assertThat(registry.get("millrace.claims").tag("result", "jobs").timer().count())
                .isBetween(1L, 3L);
        Timer waits = registry.get("millrace.jobs.wait").tags("kind", "bad").timer();
        assertThat(waits.count()).isEqualTo(2);
        assertThat(waits.totalTime(TimeUnit.NANOSECONDS)).isPositive();
        assertThat(gauge("millrace.workers")).isZero();
        assertThat(registry.getMeters())
                .flatExtracting(meter -> meter.getId().getTags())
                .extracting(Tag::getKey)
                .isSubsetOf("kind", "queue", "outcome", "result", "how", "loop", "what", "profile");
    }

    @Test
    void meters_countWhatSweepsDo_alsoThoseOfNoWorker() {
        try (MillraceMetrics metrics = MillraceMetrics.of(registry);
                var reconciler = millrace.reconciler(RecoverySettings.DEFAULT);
                var backends = millrace.backendReconciler(BackendSettings.DEFAULT);
                var sweeper = millrace.retentionSweeper(RetentionSettings.DEFAULT)) {
            metrics.observe(reconciler);
            metrics.observe(backends);
            metrics.observe(sweeper);
            reconciler.tick();
            backends.tick();
            sweeper.tick();
            await().until(() -> registry.find("millrace.sweep").timers().size() == 3);
        }
        assertThat(registry.get("millrace.sweep")
                        .tags("loop", "recovery", "result", "ok")
                        .timer()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("millrace.sweep")
                        .tags("loop", "retention", "result", "ok")
                        .timer()
                        .count())
                .isEqualTo(1);
        assertThat(registry.find("millrace.recoveries").counters()).hasSize(5);
        assertThat(registry.get("millrace.sweep")
                        .tags("loop", "backends", "result", "ok")
                        .timer()
                        .count())
                .isEqualTo(1);
        assertThat(registry.find("millrace.backends.attempts").counters()).hasSize(7);
        assertThat(gauge("millrace.backends.waiting")).isZero();
    }

    @Test
    void queues_areShownWithDepthAndAge_untilItIsClosed() {
        JobType<JsonText> waiting = JobType.of("waiting", JsonText.class);
        millrace.submit(waiting, NOTHING, SubmitOption.queue("slow"));
        millrace.submit(waiting, NOTHING, SubmitOption.queue("slow"));
        millrace.submit(waiting, NOTHING, SubmitOption.queue("later"), SubmitOption.delay(Duration.ofHours(1)));
        MillraceMetrics metrics = MillraceMetrics.of(registry);
        metrics.watchQueues(millrace);
        await().until(() ->
                registry.find("millrace.queue.oldest").tag("queue", "later").gauge() != null);

        assertThat(queue("depth", "slow")).isEqualTo(2);
        assertThat(queue("depth", "later")).isZero();
        assertThat(queue("oldest", "slow")).isPositive();
        assertThat(queue("oldest", "later")).isZero();
        assertThatThrownBy(() -> metrics.watchQueues(millrace)).isInstanceOf(IllegalStateException.class);

        metrics.close();
        assertThat(registry.find("millrace.queue.depth").gauges()).isEmpty();
        assertThat(registry.find("millrace.queue.oldest").gauges()).isEmpty();
        assertThatThrownBy(() -> metrics.watchQueues(millrace))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThat(registry.find("millrace.held").gauges()).isEmpty();
    }

    private double queue(String what, String name) {
        return registry.get("millrace.queue." + what)
                .tags("profile", "managed", "queue", name)
                .gauge()
                .value();
    }

    @Test
    void watchQueues_moreOftenThanEvery15Seconds_isRefused() {
        try (MillraceMetrics metrics = MillraceMetrics.of(registry)) {
            assertThatThrownBy(() -> metrics.watchQueues(millrace, Duration.ofSeconds(14)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("PT15S");
        }
    }
}
