package com.example.shop;

import dev.millrace.Millrace;
import dev.millrace.WorkerBuilder;
import dev.millrace.micrometer.MillraceMetrics;
import dev.millrace.micrometer.MillraceObservations;
import dev.millrace.worker.Worker;
import java.time.Duration;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Runs the jobs in this process: from when all beans are there until before the first of them is destroyed, so that
 * handlers and the pool outlive the worker. A process that only submits does without.
 */
@Component
class JobRunner implements SmartLifecycle {
    private final Millrace millrace;
    private final Orders orders;
    private final MillraceMetrics metrics;
    private final MillraceObservations observations;
    private volatile Worker worker;

    JobRunner(Millrace millrace, Orders orders, MillraceMetrics metrics, MillraceObservations observations) {
        this.millrace = millrace;
        this.orders = orders;
        this.metrics = metrics;
        this.observations = observations;
    }

    /** The worker of this application, not started yet. */
    WorkerBuilder worker() {
        return millrace.worker()
                .handle(Orders.CONFIRM, (confirmation, context) -> orders.confirm(confirmation))
                .pollInterval(Duration.ofSeconds(1));
    }

    @Override
    public void start() {
        worker = worker().with(metrics::observe).with(observations::observe).start();
    }

    /** Lets the handlers finish, for as long as the worker's drain timeout says. */
    @Override
    public void stop() {
        worker.close();
        worker = null;
    }

    /** Whether the worker can go on, if it was started. */
    boolean isAlive() {
        Worker running = worker;
        return running == null || running.status().alive();
    }

    @Override
    public boolean isRunning() {
        return worker != null;
    }
}
