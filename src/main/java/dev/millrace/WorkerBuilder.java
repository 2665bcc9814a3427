package dev.millrace;

import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;
import dev.millrace.recovery.JobReconciler;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.recovery.RetentionSettings;
import dev.millrace.recovery.RetentionSweeper;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.worker.JobHandler;
import dev.millrace.worker.Worker;
import dev.millrace.worker.WorkerSetup;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Puts a worker together: its handlers, and what differs from the defaults. For one thread, and one worker.
 *
 * <p>A worker brings a {@link JobReconciler} with it, which recovers the jobs of workers that died, and a {@link
 * RetentionSweeper}, which deletes jobs whose retention is over. Any number of them may run against one database; a process
 * that only submits needs none.
 */
public final class WorkerBuilder {
    private final PostgresStore store;
    private final WorkerSetup setup;
    private @Nullable RecoverySettings recovery = RecoverySettings.DEFAULT;
    private @Nullable RetentionSettings retention = RetentionSettings.DEFAULT;
    private boolean started;

    WorkerBuilder(PostgresStore store, PayloadCodec payloads) {
        this.store = store;
        this.setup = Worker.on(store.work(), payloads).logs(store.logs()).results(store.results());
    }

    /**
     * Runs jobs of this kind with this handler. The worker claims only kinds that have one.
     *
     * @param <T> the payload's type
     * @param type the kind of job, and the type of its payload
     * @param handler runs a job; called by several threads at a time
     * @return this builder
     * @throws dev.millrace.worker.InvalidWorkerException if the kind has a handler already
     */
    public <T> WorkerBuilder handle(JobType<T> type, JobHandler<? super T> handler) {
        setup.handle(type, handler);
        return this;
    }

    /**
     * Who claims, shown with each job: 1 to 512 characters; host, process id and a random number by default.
     *
     * @param name the name
     * @return this builder
     */
    public WorkerBuilder name(String name) {
        setup.settings(settings -> settings.withName(name));
        return this;
    }

    /**
     * How many jobs run at a time: 1 to 10,000; 10 by default.
     *
     * <p>Handlers share the pool with the worker's own statements, heartbeats among them. If they hold connections for
     * long, make the pool larger than this number by four at least, or give Millrace a pool of its own: a worker that
     * gets no connection for a job's heartbeat timeout is taken for dead.
     *
     * @param jobs the number of jobs
     * @return this builder
     */
    public WorkerBuilder concurrency(int jobs) {
        setup.settings(settings -> settings.withConcurrency(jobs));
        return this;
    }

    /**
     * The queues to take jobs from; {@code default} by default.
     *
     * @param queues at least one, no two alike: each 1 to 64 characters
     * @return this builder
     */
    public WorkerBuilder queues(String... queues) {
        setup.settings(settings -> settings.withQueues(List.of(queues)));
        return this;
    }

    /**
     * Whose jobs to take; those for {@code managed} by default.
     *
     * @param profiles at least one, no two alike: each 1 to 64 characters
     * @return this builder
     */
    public WorkerBuilder runtimeProfiles(String... profiles) {
        setup.settings(settings -> settings.withRuntimeProfiles(List.of(profiles)));
        return this;
    }

    /**
     * How many jobs are claimed at most in one call: 1 to 1,000; never more than there are free slots.
     *
     * @param jobs the number of jobs
     * @return this builder
     */
    public WorkerBuilder claimLimit(int jobs) {
        setup.settings(settings -> settings.withClaimLimit(jobs));
        return this;
    }

    /**
     * How long an idle worker waits before it asks again: 10 ms to 1 h; 5 s by default.
     *
     * @param interval the longest wait; it is shortened by up to a quarter at random
     * @return this builder
     */
    public WorkerBuilder pollInterval(Duration interval) {
        setup.settings(settings -> settings.withPollInterval(interval));
        return this;
    }

    /**
     * How long handlers may go on once the worker is closed: 0 to 24 h; 30 s by default.
     *
     * @param timeout the longest time
     * @return this builder
     */
    public WorkerBuilder drainTimeout(Duration timeout) {
        setup.settings(settings -> settings.withDrainTimeout(timeout));
        return this;
    }

    /**
     * How the worker's reconciler looks after the jobs of dead workers.
     *
     * @param settings how often it looks, and how much at once
     * @return this builder
     */
    public WorkerBuilder recovery(RecoverySettings settings) {
        this.recovery = settings;
        return this;
    }

    /**
     * Leaves recovery to other processes. One of them must do it, or the jobs of a killed worker stay claimed.
     *
     * @return this builder
     */
    public WorkerBuilder withoutRecovery() {
        this.recovery = null;
        return this;
    }

    /**
     * How the worker's sweeper deletes what has outlived its retention.
     *
     * @param settings how often it sweeps, and how much at once
     * @return this builder
     */
    public WorkerBuilder retention(RetentionSettings settings) {
        this.retention = settings;
        return this;
    }

    /**
     * Leaves retention to other processes. One of them must do it, or the tables grow for ever.
     *
     * @return this builder
     */
    public WorkerBuilder withoutRetention() {
        this.retention = null;
        return this;
    }

    /**
     * Starts the worker, its reconciler and its sweeper. Closing the worker closes all of them. Once.
     *
     * @return the worker, to be closed by the caller
     * @throws dev.millrace.worker.InvalidWorkerException if a setting is not allowed, or there is no handler
     */
    public Worker start() {
        if (started) {
            throw new IllegalStateException("This builder has started its worker. Make another one by Millrace.worker()"
                    + " for another worker.");
        }
        started = true;
        JobReconciler reconciler =
                recovery == null ? null : new JobReconciler(recovery, store.reconcilable(), store.queue());
        RetentionSweeper sweeper = retention == null ? null : new RetentionSweeper(retention, store.retention());
        if (sweeper != null) {
            setup.closeWith(sweeper);
        }
        if (reconciler != null) {
            setup.closeWith(reconciler);
        }
        Worker worker = setup.build();
        try {
            if (reconciler != null) {
                reconciler.start();
            }
            if (sweeper != null) {
                sweeper.start();
            }
            return worker.start();
        } catch (Throwable e) {
            worker.close(); // and the others with it
            throw e;
        }
    }
}
