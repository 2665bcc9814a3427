package com.example.shop;

import dev.millrace.Millrace;
import dev.millrace.WorkerBuilder;
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
    private volatile Worker worker;

    JobRunner(Millrace millrace, Orders orders) {
        this.millrace = millrace;
        this.orders = orders;
    }

    /** The worker of this application, not started yet. */
    WorkerBuilder worker() {
        return millrace.worker()
                .handle(Orders.CONFIRM, (confirmation, context) -> orders.confirm(confirmation))
                .pollInterval(Duration.ofSeconds(1));
    }

    @Override
    public void start() {
        worker = worker().start();
    }

    /** Lets the handlers finish, for as long as the worker's drain timeout says. */
    @Override
    public void stop() {
        worker.close();
        worker = null;
    }

    @Override
    public boolean isRunning() {
        return worker != null;
    }
}
