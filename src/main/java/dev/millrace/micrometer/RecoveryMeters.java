package dev.millrace.micrometer;

import dev.millrace.recovery.BackendReport;
import dev.millrace.recovery.RecoveryListener;
import dev.millrace.recovery.RetentionReport;
import dev.millrace.recovery.SweepReport;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts what reconcilers and sweepers do. */
final class RecoveryMeters implements RecoveryListener {
    private final MeterRegistry registry;
    private final Counter missed;
    private final AtomicInteger held = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();

    RecoveryMeters(MeterRegistry registry, Counter missed) {
        this.registry = registry;
        this.missed = missed;
        Gauge.builder("millrace.recoveries.held", held, AtomicInteger::get)
                .description("Jobs with a stale heartbeat that is not trusted yet, since the database was out of reach")
                .strongReference(true)
                .register(registry);
        Gauge.builder("millrace.backends.waiting", waiting, AtomicInteger::get)
                .description("Jobs that are due and stay queued, since their backend has no room")
                .strongReference(true)
                .register(registry);
    }

    @Override
    public void swept(SweepReport report, Duration took) {
        sweep("recovery", report.errors()).record(took);
        recovered("timed_out", report.timedOut());
        recovered("requeued", report.requeued());
        recovered("failed", report.failed());
        recovered("cancelled", report.cancelled());
        recovered("repaired", report.repaired());
        held.set(report.held());
    }

    @Override
    public void backendSwept(BackendReport report, Duration took) {
        sweep("backends", report.errors()).record(took);
        atBackend("begun", report.begun());
        atBackend("succeeded", report.succeeded());
        atBackend("retried", report.retried());
        atBackend("failed", report.failed());
        atBackend("cancelled", report.cancelled());
        atBackend("missing", report.missing());
        atBackend("orphaned", report.orphans());
        Counter.builder("millrace.backends.overdue")
                .description("Calls of backends that took too long, and were interrupted")
                .register(registry)
                .increment(report.overdue());
        waiting.set(report.waiting());
    }

    @Override
    public void retentionSwept(RetentionReport report, Duration took) {
        sweep("retention", report.errors()).record(took);
        deleted("jobs", report.jobs());
        deleted("logs", report.logs());
        deleted("results", report.results());
        deleted("leases", report.leases());
    }

    private Timer sweep(String loop, int errors) {
        return Timer.builder("millrace.sweep")
                .description("Sweeps of the recovery, for backends, and of the retention, and how long they took")
                .tag("loop", loop)
                .tag("result", errors == 0 ? "ok" : "failed")
                .register(registry);
    }

    /** All of them are registered by the first sweep, so that a rate sees the first recovery as well. */
    private void recovered(String how, int jobs) {
        Counter.builder("millrace.recoveries")
                .description("Jobs that a sweep has dealt with because nobody else did")
                .tag("how", how)
                .register(registry)
                .increment(jobs);
    }

    private void atBackend(String how, int attempts) {
        Counter.builder("millrace.backends.attempts")
                .description("Attempts at jobs of backends that began or ended")
                .tag("how", how)
                .register(registry)
                .increment(attempts);
    }

    private void deleted(String what, long rows) {
        Counter.builder("millrace.retention.deleted")
                .description("What was deleted since its retention was over")
                .tag("what", what)
                .register(registry)
                .increment((double) rows);
    }

    @Override
    public void missed(long events) {
        missed.increment((double) events);
    }
}
