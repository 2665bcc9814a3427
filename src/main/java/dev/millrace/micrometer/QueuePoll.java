package dev.millrace.micrometer;

import dev.millrace.store.ClaimRequest.Source;
import dev.millrace.store.Count;
import dev.millrace.store.JobCounts;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks for the queues now and then, on one daemon thread, and shows what it was last told. */
final class QueuePoll {
    /** Reads about 150 pages of the index at most; nobody needs to know by how much it is more. */
    static final int DEPTH_UP_TO = 10_000;

    /** Time series of one meter. */
    static final int MOST_QUEUES = 100;

    private static final Logger LOG = LoggerFactory.getLogger(QueuePoll.class);

    private final JobCounts counts;
    private final Duration interval;
    private final MultiGauge depth;
    private final MultiGauge oldest;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;

    // of the polling thread
    private final Set<Source> shown = new LinkedHashSet<>();
    private boolean failing;
    private boolean saidMany;

    QueuePoll(MeterRegistry registry, JobCounts counts, Duration interval) {
        this.counts = counts;
        this.interval = interval;
        this.depth = MultiGauge.builder("millrace.queue.depth")
                .description("Jobs that wait for a worker and are due, counted up to " + DEPTH_UP_TO)
                .register(registry);
        this.oldest = MultiGauge.builder("millrace.queue.oldest")
                .description("Since when the oldest job is due that waits for a worker")
                .baseUnit("seconds")
                .register(registry);
        this.thread = new Thread(this::run, "millrace-queue-meters");
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Waits a moment for the question that is under way, so that its answer doesn't bring the meters back. */
    void close() {
        closed.countDown();
        thread.interrupt();
        try {
            thread.join(1_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        show(List.of(), source -> Double.NaN, source -> Double.NaN);
    }

    private void run() {
        while (closed.getCount() > 0) {
            try {
                ask();
            } catch (Throwable e) {
                quietly(() -> failed(e));
            }
            rest();
        }
    }

    @SuppressWarnings("UnusedException") // only close() ends the loop
    private void rest() {
        try {
            closed.await(interval.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // closed, or nothing
        }
    }

    /** Asks once and shows the answer. */
    void ask() {
        Map<Source, Count> waiting = counts.waiting(DEPTH_UP_TO);
        Map<Source, Duration> ages = counts.oldestWaiting();
        waiting.keySet().forEach(this::show);
        if (failing) {
            failing = false;
            LOG.info("The queues are shown again.");
        }
        if (closed.getCount() > 0) {
            show(
                    shown,
                    source -> waiting.getOrDefault(source, new Count(0, true)).jobs(),
                    source -> ages.getOrDefault(source, Duration.ZERO).toNanos() / 1e9);
        }
    }

    /** A queue that was shown is shown from then on: an empty one has no jobs, rather than no number. */
    private void show(Source source) {
        if (shown.contains(source)) {
            return;
        }
        if (shown.size() < MOST_QUEUES) {
            shown.add(source);
        } else if (!saidMany) {
            saidMany = true;
            LOG.warn("There are more than {} queues: the meters don't show all of them.", MOST_QUEUES);
        }
    }

    /** What was true a while ago would look as if it still were. */
    private void failed(Throwable failure) {
        if (closed.getCount() > 0) {
            if (!failing) {
                LOG.warn("The queues can't be shown until the database answers: {}", failure.toString());
            }
            failing = true;
            show(shown, source -> Double.NaN, source -> Double.NaN);
        }
    }

    private void show(Collection<Source> sources, Function<Source, Number> depths, Function<Source, Number> ages) {
        depth.register(sources.stream().map(source -> row(source, depths)).toList(), true);
        oldest.register(sources.stream().map(source -> row(source, ages)).toList(), true);
    }

    private static MultiGauge.Row<Number> row(Source source, Function<Source, Number> value) {
        return MultiGauge.Row.of(
                Tags.of("profile", source.runtimeProfile(), "queue", source.queue()), value.apply(source));
    }

    @SuppressWarnings("UnusedException") // there is nowhere left to report it
    private static void quietly(Runnable report) {
        try {
            report.run();
        } catch (Throwable e) {
            // the next question is worth more than this report
        }
    }
}
