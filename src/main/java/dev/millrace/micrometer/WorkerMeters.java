package dev.millrace.micrometer;

import dev.millrace.worker.Worker;
import dev.millrace.worker.WorkerListener;
import dev.millrace.worker.WorkerStatus;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.ToDoubleFunction;

/** Counts what workers do. For all workers of a process, each of which has a thread that calls it. */
final class WorkerMeters implements WorkerListener {
    private static final String KIND = "kind";
    private static final String QUEUE = "queue";

    private final MeterRegistry registry;
    private final List<Worker> open = new CopyOnWriteArrayList<>();
    private final Timer claimsWithJobs;
    private final Timer emptyClaims;
    private final Timer failedClaims;
    private final Counter claimed;
    private final Counter failedHeartbeats;
    private final Counter missed;

    WorkerMeters(MeterRegistry registry, Counter missed) {
        this.registry = registry;
        this.claimsWithJobs = claims("jobs");
        this.emptyClaims = claims("empty");
        this.failedClaims = claims("failed");
        this.claimed = Counter.builder("millrace.jobs.claimed")
                .description("Jobs that claims brought")
                .register(registry);
        this.failedHeartbeats = Counter.builder("millrace.heartbeats.failed")
                .description("Heartbeats that could not be sent")
                .register(registry);
        this.missed = missed;
        gauge("millrace.workers", "Workers that are open", status -> 1);
        gauge("millrace.workers.claiming", "Workers that claim jobs", status -> status.healthy() ? 1 : 0);
        gauge("millrace.workers.alive", "Workers whose loops run", status -> status.alive() ? 1 : 0);
        gauge("millrace.workers.concurrency", "Jobs that workers may run at a time", WorkerStatus::concurrency);
        gauge("millrace.workers.running", "Jobs that workers hold", WorkerStatus::running);
        gauge(
                "millrace.workers.lingering",
                "Slots that are held by handlers which ignore that they should stop",
                WorkerStatus::lingering);
    }

    private Timer claims(String result) {
        return Timer.builder("millrace.claims")
                .description("Claims, and how long their answers took")
                .tag("result", result)
                .register(registry);
    }

    private void gauge(String name, String description, ToDoubleFunction<WorkerStatus> value) {
        Gauge.builder(
                        name,
                        open,
                        workers -> workers.stream()
                                .map(Worker::status)
                                .filter(status -> status.claiming() != WorkerStatus.Claiming.CLOSED)
                                .mapToDouble(value)
                                .sum())
                .description(description)
                .strongReference(true)
                .register(registry);
    }

    @Override
    public void opened(Worker worker) {
        // An end may have been missed, or come before this.
        open.removeIf(other -> other.status().claiming() == WorkerStatus.Claiming.CLOSED);
        open.add(worker);
    }

    @Override
    public void closed(Worker worker) {
        open.remove(worker);
    }

    @Override
    public void claimed(Claimed event) {
        (event.got() > 0 ? claimsWithJobs : emptyClaims).record(event.took());
        claimed.increment(event.got());
    }

    @Override
    public void claimFailed(ClaimFailed event) {
        failedClaims.record(event.took());
    }

    @Override
    public void started(Started event) {
        if (event.waited() != null) {
            Timer.builder("millrace.jobs.wait")
                    .description("From when a job is due until its handler starts")
                    .tag(KIND, event.attempt().kind())
                    .tag(QUEUE, event.attempt().queue())
                    .register(registry)
                    .record(event.waited());
        }
    }

    @Override
    public void ended(Ended event) {
        run(event.attempt(), event.how().name().toLowerCase(Locale.ROOT)).record(event.ran());
        if (event.how() == End.RETRIED) {
            count("millrace.retries", "Attempts that failed and are followed by another one", event.attempt());
        }
    }

    @Override
    public void lost(Lost event) {
        run(event.attempt(), "lost").record(event.ran());
        count("millrace.heartbeats.lost", "Attempts that were no longer their job's", event.attempt());
    }

    private Timer run(JobAttempt attempt, String outcome) {
        return Timer.builder("millrace.jobs.run")
                .description("From the start of a handler until its outcome is decided, once that is written")
                .tag(KIND, attempt.kind())
                .tag(QUEUE, attempt.queue())
                .tag("outcome", outcome)
                .register(registry);
    }

    private void count(String name, String description, JobAttempt attempt) {
        Counter.builder(name)
                .description(description)
                .tag(KIND, attempt.kind())
                .tag(QUEUE, attempt.queue())
                .register(registry)
                .increment();
    }

    @Override
    public void heartbeatsFailed(HeartbeatsFailed event) {
        failedHeartbeats.increment(event.attempts());
    }

    @Override
    public void missed(long events) {
        missed.increment((double) events);
    }
}
