package dev.millrace.micrometer;

import dev.millrace.store.ClaimRequest.Source;
import dev.millrace.store.Controls;
import dev.millrace.store.Count;
import dev.millrace.store.JobCounts;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks for the queues and the switches now and then, on one daemon thread, and shows what it was last told. */
final class QueuePoll {
    /** Reads about 150 pages of the index at most; nobody needs to know by how much it is more. */
    static final int DEPTH_UP_TO = 10_000;

    /** Time series of one meter. */
    static final int MOST_QUEUES = 100;

    private static final Count NONE = new Count(0, true);
    private static final Logger LOG = LoggerFactory.getLogger(QueuePoll.class);

    private final MeterRegistry registry;
    private final JobCounts counts;
    private final Controls controls;
    private final Duration interval;
    private final Map<Source, Waiting> shown = new ConcurrentHashMap<>();
    private final List<Meter> meters = new CopyOnWriteArrayList<>();
    private volatile double held = Double.NaN;
    private volatile double pausedQueues = Double.NaN;
    private volatile double pausedKinds = Double.NaN;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;

    // of the polling thread
    private boolean failing;
    private boolean saidMany;

    /** What was last told of one queue. */
    private static final class Waiting {
        volatile double depth;
        volatile double oldest;
    }

    QueuePoll(MeterRegistry registry, JobCounts counts, Controls controls, Duration interval) {
        this.registry = registry;
        this.counts = counts;
        this.controls = controls;
        this.interval = interval;
        this.thread = new Thread(this::run, "millrace-queue-meters");
        thread.setDaemon(true);
        String paused = "millrace.paused";
        String whatIsPaused = "Queues or kinds of which no job is claimed, since someone has paused them";
        gauge(Gauge.builder("millrace.held", this, poll -> poll.held)
                .description("1 while someone has stopped all claims and recovery, otherwise 0"));
        gauge(Gauge.builder(paused, this, poll -> poll.pausedQueues)
                .description(whatIsPaused)
                .tag("type", "queue"));
        gauge(Gauge.builder(paused, this, poll -> poll.pausedKinds)
                .description(whatIsPaused)
                .tag("type", "kind"));
    }

    private void gauge(Gauge.Builder<?> gauge) {
        meters.add(gauge.strongReference(true).register(registry));
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
        meters.forEach(registry::remove);
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
        boolean hold = controls.held().isPresent();
        List<Controls.Pause> pauses = controls.pauses();
        if (failing) {
            failing = false;
            LOG.info("The queues are shown again.");
        }
        if (closed.getCount() > 0) {
            waiting.keySet().forEach(this::show);
            shown.forEach((source, values) -> {
                values.depth = waiting.getOrDefault(source, NONE).jobs();
                values.oldest = ages.getOrDefault(source, Duration.ZERO).toNanos() / 1e9;
            });
            held = hold ? 1 : 0;
            pausedQueues = count(pauses, Controls.Scope.Type.QUEUE);
            pausedKinds = count(pauses, Controls.Scope.Type.KIND);
        }
    }

    private static double count(List<Controls.Pause> pauses, Controls.Scope.Type type) {
        return pauses.stream().filter(pause -> pause.scope().type() == type).count();
    }

    /** A queue that was shown is shown from then on: an empty one has no jobs, rather than no number. */
    private void show(Source source) {
        if (shown.containsKey(source)) {
            return;
        }
        if (shown.size() < MOST_QUEUES) {
            Waiting values = new Waiting();
            shown.put(source, values);
            register(source, values);
        } else if (!saidMany) {
            saidMany = true;
            LOG.warn("There are more than {} queues: the meters don't show all of them.", MOST_QUEUES);
        }
    }

    private void register(Source source, Waiting values) {
        Tags tags = Tags.of("profile", source.runtimeProfile(), "queue", source.queue());
        gauge(Gauge.builder("millrace.queue.depth", values, it -> it.depth)
                .description("Jobs that wait for a worker and are due, counted up to " + DEPTH_UP_TO)
                .tags(tags));
        gauge(Gauge.builder("millrace.queue.oldest", values, it -> it.oldest)
                .description("Since when the oldest job is due that waits for a worker")
                .baseUnit("seconds")
                .tags(tags));
    }

    /** What was true a while ago would look as if it still were. */
    private void failed(Throwable failure) {
        if (closed.getCount() > 0) {
            if (!failing) {
                LOG.warn("The queues can't be shown until the database answers: {}", failure.toString());
            }
            failing = true;
            shown.values().forEach(values -> {
                values.depth = Double.NaN;
                values.oldest = Double.NaN;
            });
            held = Double.NaN;
            pausedQueues = Double.NaN;
            pausedKinds = Double.NaN;
        }
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
