package dev.millrace.micrometer;

import dev.millrace.Millrace;
import dev.millrace.WorkerBuilder;
import dev.millrace.recovery.BackendReconciler;
import dev.millrace.recovery.JobReconciler;
import dev.millrace.recovery.RetentionSweeper;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Shows workers, their recovery and the queues as meters in a Micrometer registry. {@code docs/metrics.md} lists them, with
 * the alerts to set.
 *
 * <pre>{@code
 * var metrics = MillraceMetrics.of(meterRegistry);
 * metrics.watchQueues(millrace);
 * try (var worker = millrace.worker().handle(thumbnail, resize).with(metrics::observe).start()) {
 *     ...
 * }
 * }</pre>
 *
 * <p>Workers are counted on the listeners' threads, and the queues are asked for by a thread of this object's, so neither
 * a slow registry nor a scrape costs a job or the database anything. Make one for each registry, and use it for all workers
 * of the process. No tag holds an id of a job or the name of a worker: there are as many time series as there are
 * combinations of kinds that have a handler, queues that a worker serves, and outcomes; and two for each queue that is
 * watched.
 *
 * <p>Safe for use by many threads.
 */
public final class MillraceMetrics implements AutoCloseable {
    /** Queues are asked for no more often than this. */
    public static final Duration SHORTEST_POLL = Duration.ofSeconds(15);

    private final MeterRegistry registry;
    private final WorkerMeters workers;
    private final RecoveryMeters recovery;
    private final List<QueuePoll> polls = new ArrayList<>();
    private final AtomicBoolean closed = new AtomicBoolean();

    private MillraceMetrics(MeterRegistry registry) {
        this.registry = Objects.requireNonNull(registry, "registry");
        Counter missed = Counter.builder("millrace.events.missed")
                .description("Events that these meters have missed, since there were more than they could count")
                .register(registry);
        this.workers = new WorkerMeters(registry, missed);
        this.recovery = new RecoveryMeters(registry, missed);
    }

    /**
     * {@return the meters of this process, with nothing counted yet}
     *
     * @param registry where they are registered
     */
    public static MillraceMetrics of(MeterRegistry registry) {
        return new MillraceMetrics(registry);
    }

    /**
     * Shows this worker, its reconcilers and its sweeper: {@code builder.with(metrics::observe)}.
     *
     * @param worker a worker that is being put together
     */
    public void observe(WorkerBuilder worker) {
        worker.listener(workers).recoveryListener(recovery);
    }

    /**
     * Shows a reconciler that is no worker's.
     *
     * @param reconciler the reconciler
     */
    public void observe(JobReconciler reconciler) {
        reconciler.listener(recovery);
    }

    /**
     * Shows a reconciler of backends that is no worker's.
     *
     * @param reconciler the reconciler
     */
    public void observe(BackendReconciler reconciler) {
        reconciler.listener(recovery);
    }

    /**
     * Shows a sweeper that is no worker's.
     *
     * @param sweeper the sweeper
     */
    public void observe(RetentionSweeper sweeper) {
        sweeper.listener(recovery);
    }

    /**
     * Shows how many jobs wait in each queue, since when the oldest one is due, and what is held or paused, by asking every 15
     * seconds; see {@link #watchQueues(Millrace, Duration)}.
     *
     * @param millrace whose queues
     */
    public void watchQueues(Millrace millrace) {
        watchQueues(millrace, SHORTEST_POLL);
    }

    /**
     * Shows how many jobs wait in each queue, up to 10,000, since when the oldest one is due, whether claims are on hold, and how
     * many queues and kinds are paused. The database is asked by four statements whose cost is bounded, on a daemon thread that ends when this object is closed. Every process that
     * watches a queue shows the same, so one or two of them are enough. While the database doesn't answer, the values are
     * {@code NaN}. A queue is shown once a job has waited in it, and from then on. Of more than 100 queues the first 100 are shown
     * that were seen.
     *
     * @param millrace whose queues
     * @param interval from one question to the next; 15 seconds to a day
     * @throws IllegalArgumentException if the interval is not allowed
     * @throws IllegalStateException if this object is closed, or watches queues already
     */
    public void watchQueues(Millrace millrace, Duration interval) {
        if (interval.compareTo(SHORTEST_POLL) < 0 || interval.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException("Invalid interval: found " + interval + ", allowed is a duration from "
                    + SHORTEST_POLL + " to " + Duration.ofDays(1) + ". Queues are not asked for at each scrape.");
        }
        watch(() -> new QueuePoll(registry, millrace.counts(), millrace.controls(), interval));
    }

    private synchronized void watch(Supplier<QueuePoll> made) {
        if (closed.get() || !polls.isEmpty()) {
            throw new IllegalStateException(
                    closed.get()
                            ? "These metrics are closed. Make new ones to go on."
                            : "These metrics watch queues already. Their meters can't tell two databases apart: make"
                                    + " others on a registry with a common tag.");
        }
        QueuePoll poll = made.get(); // which registers its meters
        polls.add(poll);
        poll.start();
    }

    /** Ends the watch of the queues, and removes its meters. Counts of workers stay. Repeatable. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            synchronized (this) {
                polls.forEach(QueuePoll::close);
            }
        }
    }
}
