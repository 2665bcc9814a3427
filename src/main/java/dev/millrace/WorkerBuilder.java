package dev.millrace;

import dev.millrace.backend.Backend;
import dev.millrace.job.Checks;
import dev.millrace.job.Job;
import dev.millrace.job.JobPolicies;
import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;
import dev.millrace.recovery.BackendReconciler;
import dev.millrace.recovery.BackendSettings;
import dev.millrace.recovery.JobReconciler;
import dev.millrace.recovery.OutageGrace;
import dev.millrace.recovery.RecoveryListener;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.recovery.RetentionSettings;
import dev.millrace.recovery.RetentionSweeper;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.LogSettings;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.store.WorkSource;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.worker.InlineWorker;
import dev.millrace.worker.JobHandler;
import dev.millrace.worker.JobInterceptor;
import dev.millrace.worker.OutcomeBuffer;
import dev.millrace.worker.Worker;
import dev.millrace.worker.WorkerListener;
import dev.millrace.worker.WorkerSetup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts a worker together: its handlers, and what differs from the defaults. For one thread, and one worker.
 *
 * <p>A worker brings a {@link JobReconciler} with it, which recovers the jobs of workers that died, a {@link
 * BackendReconciler}, which looks after the jobs of backends, and a {@link RetentionSweeper}, which deletes jobs whose
 * retention is over. Any number of them may run against one database; a process
 * that only submits needs none.
 */
public final class WorkerBuilder {
    /** How long a heartbeat may take, which waits for no lock: then the network is silent, and another connection may not be. */
    private static final Duration LONGEST_BEAT = Duration.ofSeconds(10);

    /** The same of an outcome, which may wait for a row that someone has locked; it is repeated, and recognises itself. */
    private static final Duration LONGEST_OUTCOME = Duration.ofSeconds(30);

    private static final Logger LOG = LoggerFactory.getLogger(WorkerBuilder.class);

    private final PostgresStore store;
    private final PostgresStore repeating;
    private final WorkerSetup setup;
    private final List<Backend> backends = new ArrayList<>();
    private @Nullable RecoverySettings recovery = RecoverySettings.DEFAULT;
    private BackendSettings backendSettings = BackendSettings.DEFAULT;
    private @Nullable RetentionSettings retention = RetentionSettings.DEFAULT;
    private final @Nullable WakeUps wakeUps;
    private final List<RecoveryListener> recoveryListeners = new ArrayList<>();
    private boolean started;

    /** @param store repeats what passes by itself; the worker's loops don't, as they have a pace of their own */
    WorkerBuilder(PostgresStore store, PayloadCodec payloads, @Nullable WakeUps wakeUps) {
        this.repeating = store;
        this.store = store.forLoops();
        this.wakeUps = wakeUps;
        this.setup =
                Worker.on(this.store.work(), payloads).logs(this.store.logs()).results(this.store.results());
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
     * <p>Handlers may share the pool with the worker. It keeps two of its connections for itself, one for heartbeats and one for
     * the ends of attempts, so that handlers which hold all the others can't make their own jobs look dead; claims and
     * recovery take theirs as they need them. So where handlers hold connections make the pool larger by four than the
     * number of handlers that do.
     *
     * @param jobs the number of jobs
     * @return this builder
     */
    public WorkerBuilder concurrency(int jobs) {
        setup.settings(settings -> settings.withConcurrency(jobs));
        return this;
    }

    /**
     * How many jobs of a kind run at a time, where it is to have fewer slots than all: 1 to the {@link #concurrency}, which may be
     * set later. Each such kind is claimed by a statement of its own.
     *
     * @param type the kind
     * @param jobs the number of jobs
     * @return this builder
     */
    public WorkerBuilder concurrency(JobType<?> type, int jobs) {
        setup.settings(settings -> {
            Map<String, Integer> limits = new LinkedHashMap<>(settings.kindConcurrency());
            limits.put(type.kind(), jobs);
            return settings.withKindConcurrency(limits);
        });
        return this;
    }

    /**
     * How many jobs are claimed ahead, so that the next ones are there when a slot is free: 0, the default, to 10,000. They
     * wait in this process and run nowhere else meanwhile, so it is for jobs that are short and many.
     *
     * @param jobs the number of jobs
     * @return this builder
     */
    public WorkerBuilder prefetch(int jobs) {
        setup.settings(settings -> settings.withPrefetch(jobs));
        return this;
    }

    /**
     * Gathers outcomes, and writes them together rather than one by one, for jobs that are short and many. A slot is free once
     * its job's outcome is gathered. If the process is killed, jobs whose outcomes were not written run once more; see
     * {@link OutcomeBuffer}.
     *
     * @param size how many are written together: 2 to 10,000; up to twice as many may be unwritten
     * @param delay how long one waits for others at most: 1 ms to 10 s
     * @return this builder
     */
    public WorkerBuilder outcomeBuffer(int size, Duration delay) {
        setup.settings(settings -> settings.withOutcomeBuffer(new OutcomeBuffer(size, delay)));
        return this;
    }

    /**
     * For how long what handlers leave by {@code JobContext.resultPackage} can be read: 0 to a century; 7 days by default.
     *
     * @param retention the time
     * @return this builder
     */
    public WorkerBuilder resultRetention(Duration retention) {
        setup.settings(settings -> settings.withResultRetention(retention));
        return this;
    }

    /**
     * How many lines the log of a job keeps that handlers write to by {@code JobContext.log}, and for how long.
     *
     * @param settings the newest 2,000 lines, for 7 days after the last one, by default
     * @return this builder
     */
    public WorkerBuilder logs(LogSettings settings) {
        setup.logs(store.logs(settings));
        return this;
    }

    /**
     * The queues to take jobs from; {@code default} by default.
     *
     * @param queues at least one, no two alike: each 1 to 64 characters
     * @return this builder
     */
    public WorkerBuilder queues(String... queues) {
        setup.settings(settings -> settings.withQueues(Arrays.asList(Checks.given("queues", queues))));
        return this;
    }

    /**
     * Whose jobs to take; those for {@code managed} by default.
     *
     * @param profiles at least one, no two alike: each 1 to 64 characters
     * @return this builder
     */
    public WorkerBuilder runtimeProfiles(String... profiles) {
        setup.settings(
                settings -> settings.withRuntimeProfiles(Arrays.asList(Checks.given("runtimeProfiles", profiles))));
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
     * Has the worker's {@link BackendReconciler} look after jobs of this backend, too. It is not closed with the worker.
     *
     * @param backend a backend, with a name of its own
     * @return this builder
     */
    public WorkerBuilder backend(Backend backend) {
        this.backends.add(Objects.requireNonNull(backend, "backend"));
        return this;
    }

    /**
     * How the worker's reconciler of backends looks after their jobs.
     *
     * @param settings how often it looks, and how much at once
     * @return this builder
     */
    public WorkerBuilder backendRecovery(BackendSettings settings) {
        this.backendSettings = settings;
        return this;
    }

    /**
     * Leaves recovery to other processes, but for jobs of backends that are given. One of them must do it, or the jobs of a
     * killed worker stay claimed.
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
     * Tells this listener what the worker does, along with those that were given before.
     *
     * @param listener is told on a thread of its own
     * @return this builder
     */
    public WorkerBuilder listener(WorkerListener listener) {
        setup.listener(listener);
        return this;
    }

    /**
     * Tells this listener what the worker's reconcilers and sweeper do, along with those that were given before.
     *
     * @param listener is told on a thread of its own
     * @return this builder
     */
    public WorkerBuilder recoveryListener(RecoveryListener listener) {
        recoveryListeners.add(Objects.requireNonNull(listener, "listener"));
        return this;
    }

    /**
     * Calls this around each run of a handler, within those that were given before.
     *
     * @param interceptor is called on the handler's thread
     * @return this builder
     */
    public WorkerBuilder intercept(JobInterceptor interceptor) {
        setup.intercept(interceptor);
        return this;
    }

    /**
     * Lets something add to this worker what belongs together, such as {@code with(metrics::observe)}.
     *
     * @param extension is called at once
     * @return this builder
     */
    public WorkerBuilder with(Consumer<? super WorkerBuilder> extension) {
        extension.accept(this);
        return this;
    }

    /**
     * {@return the handlers so far, to be called on the caller's thread} What the test kit uses, {@code millrace-testkit}: its
     * {@code TestKit.withHandlersOf} takes this builder. Starts nothing.
     */
    public InlineWorker inline() {
        return setup.inline();
    }

    /**
     * Runs the job of this id, whatever its queue, profile and kind, if there is a handler for that; returns when its attempt has
     * ended. For a process that is started for one job, on a pool of 0 to 8 connections. It brings neither reconciler nor sweeper,
     * runs one job at a time, and asks every second at least. The attempt is like any other: after a failure the job waits for its next one,
     * which is not made here.
     *
     * <p>A job that a worker holds is taken from that worker if it gives no sign of life for the job's heartbeat timeout, and a healthy
     * database was watched for as long: so that takes up to twice the timeout.
     *
     * <p>If the waiting thread is interrupted, the worker is closed as by {@link Worker#close}: the handler has the drain timeout, and
     * then the job is handed back.
     *
     * @param jobId the job's id
     * @param patience how long to wait for a job that can't be claimed yet: not due, held by a worker, paused, or on hold; zero to ask
     *     once. While the database is out of reach it is waited for as well, and so long, but some seconds at least
     * @return the job as it stands then, or why it was not run
     * @throws dev.millrace.worker.InvalidWorkerException if a setting is not allowed, or there is no handler for the job's kind
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public AssignedRun runAssigned(String jobId, Duration patience) throws InterruptedException {
        Checks.given("patience", patience);
        Job job = readIfPossible(jobId);
        if (job != null) {
            setup.checkHandles(job.kind());
        }
        Duration timeout =
                (job == null ? JobPolicies.DEFAULT : job.policies()).heartbeat().timeout();
        setup.settings(settings -> {
            Duration often = Duration.ofSeconds(1);
            return settings.withConcurrency(1)
                    .withKindConcurrency(Map.of())
                    .withPrefetch(0)
                    .withOutcomeBuffer(OutcomeBuffer.NONE)
                    .withPollInterval(settings.pollInterval().compareTo(often) < 0 ? settings.pollInterval() : often);
        });
        AssignedClaim request = AssignedClaim.of(setup.settings().name(), jobId);
        try (AssignedJob assigned =
                new AssignedJob(store.queue(), request, () -> new OutageGrace(store.reconcilable(), timeout))) {
            try (Worker worker = startFor(assigned)) {
                assigned.await(patience);
                LOG.debug(
                        "Worker \"{}\" has asked for job \"{}\".",
                        worker.settings().name(),
                        jobId);
            }
            return new AssignedRun(
                    assigned.taken(),
                    assigned.refusal(),
                    repeating.jobs().get(jobId).orElse(null));
        }
    }

    /** Its pool may be as small as one that has a single connection, so none is kept. */
    private Worker startFor(AssignedJob assigned) {
        checkUnused();
        WorkSource source = assigned.seenBy(store.work());
        setup.claimsThrough(source).beatsThrough(source).outcomesThrough(source);
        return withoutRecovery().withoutRetention().startWithCompanions();
    }

    /** Not while the database is out of reach: that is waited for later. */
    private @Nullable Job readIfPossible(String jobId) {
        try {
            return repeating.jobs().get(jobId).orElse(null);
        } catch (StoreUnavailableException e) {
            LOG.warn("It is not known yet what kind of job \"{}\" is: {}", jobId, e.toString());
            return null;
        }
    }

    /**
     * Starts the worker, its reconcilers and its sweeper. Closing the worker closes all of them. Once.
     *
     * @return the worker, to be closed by the caller
     * @throws dev.millrace.worker.InvalidWorkerException if a setting is not allowed, or there is no handler
     * @throws IllegalArgumentException if two backends have the same name, one is named {@code local}, or one does not
     *     tell its name or capabilities
     */
    public Worker start() {
        checkUnused();
        PostgresStore.Reserved beats = store.reserving(LONGEST_BEAT);
        PostgresStore.Reserved outcomes = store.reserving(LONGEST_OUTCOME);
        setup.beatsThrough(beats.store().work()).closeWith(beats);
        setup.outcomesThrough(outcomes.store().work()).closeWith(outcomes);
        setup.beginWith(() -> reserve(beats, outcomes));
        return startWithCompanions();
    }

    private void checkUnused() {
        if (started) {
            throw new IllegalStateException(
                    "This builder was used before, whether or not its worker could be started. Make"
                            + " another one by Millrace.worker() for another worker.");
        }
        started = true;
    }

    /** With its two connections kept the worker needs a third one to claim with, and a pool of two never gives that. */
    private void reserve(PostgresStore.Reserved beats, PostgresStore.Reserved outcomes) {
        boolean kept = beats.reserve() && outcomes.reserve();
        if (kept && !store.hasConnection()) {
            LOG.warn(
                    "Worker \"{}\" keeps two connections, and the pool gave no third one for claims and starts. If it has no more"
                            + " than two, no job will run: make it larger by four than the number of handlers that"
                            + " hold a connection.",
                    setup.settings().name());
        }
    }

    private Worker startWithCompanions() {
        JobReconciler reconciler =
                recovery == null ? null : new JobReconciler(recovery, store.reconcilable(), store.queue());
        RetentionSweeper sweeper = retention == null ? null : new RetentionSweeper(retention, store.retention());
        BackendReconciler remote = recovery == null && backends.isEmpty()
                ? null
                : new BackendReconciler(backendSettings, Millrace.backendStores(store, repeating.leases()), backends);
        if (sweeper != null) {
            setup.closeBeside(sweeper);
        }
        if (remote != null) {
            setup.closeBeside(remote);
        }
        if (reconciler != null) {
            setup.closeBeside(reconciler);
        }
        recoveryListeners.forEach(listener -> {
            if (reconciler != null) {
                reconciler.listener(listener);
            }
            if (remote != null) {
                remote.listener(listener);
            }
            if (sweeper != null) {
                sweeper.listener(listener);
            }
        });
        AtomicReference<@Nullable AutoCloseable> subscription = new AtomicReference<>();
        setup.closeBeside(() -> {
            AutoCloseable open = subscription.get();
            if (open != null) {
                open.close();
            }
        });
        Worker worker = setup.build();
        try {
            if (wakeUps != null) {
                subscription.set(wakeUps.subscribe(worker.settings().queues(), worker::wakeUp));
            }
            if (reconciler != null) {
                reconciler.start();
            }
            if (remote != null) {
                remote.start();
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
