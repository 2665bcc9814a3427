package dev.millrace.worker;

import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.store.WorkSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Puts a {@link Worker} together. For one thread. */
public final class WorkerSetup {
    private WorkSource source;
    private WorkSource beats;
    private WorkSource outcomes;
    private @Nullable JobLogStore logs;
    private @Nullable ResultPackageStore results;
    private final PayloadCodec codec;
    private final Map<String, Route<?>> routes = new LinkedHashMap<>();
    private final List<AutoCloseable> companions = new ArrayList<>();
    private final List<AutoCloseable> helpers = new ArrayList<>();
    private final List<Runnable> beginnings = new ArrayList<>();
    private final List<WorkerListener> listeners = new ArrayList<>();
    private final List<JobInterceptor> interceptors = new ArrayList<>();
    private WorkerSettings settings = WorkerSettings.defaults();
    private Timings timings = Timings.DEFAULT;

    WorkerSetup(WorkSource source, PayloadCodec codec) {
        this.source = Objects.requireNonNull(source, "source");
        this.beats = source;
        this.outcomes = source;
        this.codec = Objects.requireNonNull(codec, "codec");
    }

    /**
     * Runs jobs of this kind with this handler. The worker claims only kinds that have one.
     *
     * @param <T> the payload's type
     * @param type the kind of job, and the type of its payload
     * @param handler runs a job; called by several threads at a time
     * @return this setup
     * @throws InvalidWorkerException if the kind has a handler already
     */
    public <T> WorkerSetup handle(JobType<T> type, JobHandler<? super T> handler) {
        Route.add(routes, type, handler);
        return this;
    }

    /**
     * Claims and starts jobs, and reports their progress, through this source rather than the one that was given first.
     *
     * @param value the source
     * @return this setup
     */
    public WorkerSetup claimsThrough(WorkSource value) {
        this.source = Objects.requireNonNull(value, "source");
        return this;
    }

    /**
     * Makes sure that jobs of this kind can be run.
     *
     * @param kind the kind
     * @throws InvalidWorkerException if it has no handler
     */
    public void checkHandles(String kind) {
        if (!routes.containsKey(kind)) {
            throw new InvalidWorkerException(
                    "handlers",
                    "none for the kind \"" + kind + "\"",
                    "one for it",
                    "There are handlers for: " + (routes.isEmpty() ? "none" : String.join(", ", routes.keySet()))
                            + ". Call handle(type, handler) for the kind.");
        }
    }

    /**
     * Sends heartbeats through this source rather than the one that jobs are claimed from: the same jobs, on a connection that
     * handlers can't starve.
     *
     * @param value the source
     * @return this setup
     */
    public WorkerSetup beatsThrough(WorkSource value) {
        this.beats = Objects.requireNonNull(value, "beats");
        return this;
    }

    /**
     * Writes the ends of attempts through this source rather than the one that jobs are claimed from: the same jobs, on
     * connections that handlers can't starve.
     *
     * @param value the source
     * @return this setup
     */
    public WorkerSetup outcomesThrough(WorkSource value) {
        this.outcomes = Objects.requireNonNull(value, "outcomes");
        return this;
    }

    /**
     * Lets handlers write to their jobs' logs.
     *
     * @param value where the lines go
     * @return this setup
     */
    public WorkerSetup logs(JobLogStore value) {
        this.logs = Objects.requireNonNull(value, "logs");
        return this;
    }

    /**
     * Lets handlers leave results.
     *
     * @param value where they go
     * @return this setup
     */
    public WorkerSetup results(ResultPackageStore value) {
        this.results = Objects.requireNonNull(value, "results");
        return this;
    }

    /**
     * Replaces all settings.
     *
     * @param value the settings
     * @return this setup
     */
    public WorkerSetup settings(WorkerSettings value) {
        this.settings = Objects.requireNonNull(value, "settings");
        return this;
    }

    /**
     * Changes settings, such as {@code settings -> settings.withConcurrency(4)}.
     *
     * @param change makes the new settings of those that are set
     * @return this setup
     */
    public WorkerSetup settings(UnaryOperator<WorkerSettings> change) {
        return settings(change.apply(settings));
    }

    /** {@return the settings so far} */
    public WorkerSettings settings() {
        return settings;
    }

    /**
     * Closes this with the worker, after it has drained; the last given first. What it throws is logged. Its closing
     * should be bounded, as {@link Worker#close} waits for it.
     *
     * @param companion what to close
     * @return this setup
     */
    public WorkerSetup closeWith(AutoCloseable companion) {
        companions.add(Objects.requireNonNull(companion, "companion"));
        return this;
    }

    /**
     * Closes this with the worker, once handlers have had their time, while their last outcomes are written: on a thread of its own,
     * as it may wait for the same database. What it throws is logged. Its closing should be bounded to a few seconds, as {@link
     * Worker#close} waits for it before it closes what is given to {@link #closeWith}.
     *
     * @param helper what to close
     * @return this setup
     */
    public WorkerSetup closeBeside(AutoCloseable helper) {
        helpers.add(Objects.requireNonNull(helper, "helper"));
        return this;
    }

    /**
     * Does this once when the worker starts, beside everything else, on a daemon thread of its own: what it waits for, the worker
     * doesn't. What it throws is logged.
     *
     * @param action what to do
     * @return this setup
     */
    public WorkerSetup beginWith(Runnable action) {
        beginnings.add(Objects.requireNonNull(action, "action"));
        return this;
    }

    /**
     * Tells this listener what the worker does, along with those that were given before.
     *
     * @param listener is told on a thread of its own
     * @return this setup
     */
    public WorkerSetup listener(WorkerListener listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"));
        return this;
    }

    /**
     * Calls this around each run of a handler, within those that were given before.
     *
     * @param interceptor is called on the handler's thread
     * @return this setup
     */
    public WorkerSetup intercept(JobInterceptor interceptor) {
        interceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
        return this;
    }

    WorkerSetup timings(Timings value) {
        this.timings = value;
        return this;
    }

    /**
     * {@return a worker that is not started yet}
     *
     * @throws InvalidWorkerException if there is no handler
     */
    public Worker build() {
        if (routes.isEmpty()) {
            throw new InvalidWorkerException(
                    "handlers",
                    "none",
                    "at least one handler",
                    "Call handle(type, handler) for each kind of job that the worker should run. A process that only looks"
                            + " after backends or after the jobs of others needs no worker: Millrace.backendReconciler(..) and"
                            + " Millrace.reconciler(..).");
        }
        settings.kindConcurrency().forEach(this::checkLimit);
        Map<String, Route<?>> intercepted = new LinkedHashMap<>();
        routes.forEach((kind, route) -> intercepted.put(kind, route.within(interceptors)));
        return new Worker(
                settings,
                new WorkerStores(source, beats, outcomes, logs, results),
                codec,
                Collections.unmodifiableMap(intercepted),
                List.copyOf(beginnings),
                new Companions(List.copyOf(helpers), List.copyOf(companions)),
                List.copyOf(listeners),
                timings);
    }

    private void checkLimit(String kind, int limit) {
        if (!routes.containsKey(kind)) {
            throw new InvalidWorkerException(
                    "kindConcurrency",
                    "the kind \"" + kind + "\", which has no handler",
                    "kinds that the worker runs: " + String.join(", ", routes.keySet()),
                    "Correct the kind, or give it a handler.");
        }
        if (limit > settings.concurrency()) {
            throw new InvalidWorkerException(
                    "kindConcurrency",
                    limit + " for the kind \"" + kind + "\"",
                    "a whole number from 1 to the concurrency, which is " + settings.concurrency(),
                    "Leave a kind out that may have all slots.");
        }
    }

    /** {@return the handlers so far, to be called on the caller's thread} What the test kit uses. */
    public InlineWorker inline() {
        return new InlineWorker(settings, codec, routes);
    }

    /** {@return a worker that is started} As {@link #build}, then {@link Worker#start}. */
    public Worker start() {
        return build().start();
    }
}
