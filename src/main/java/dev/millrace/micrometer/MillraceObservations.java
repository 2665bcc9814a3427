package dev.millrace.micrometer;

import dev.millrace.WorkerBuilder;
import dev.millrace.job.TraceContext;
import dev.millrace.worker.JobContext;
import dev.millrace.worker.JobInterceptor;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.SenderContext;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows runs of handlers as observations of Micrometer, and with Micrometer Tracing as spans that continue the trace in
 * which the job was submitted.
 *
 * <pre>{@code
 * var observations = MillraceObservations.of(observationRegistry);
 * var millrace = Millrace.on(dataSource).withTracing(observations.current());
 * try (var worker = millrace.worker().handle(thumbnail, resize).with(observations::observe).start()) {
 *     ...
 * }
 * }</pre>
 *
 * <p>The first attempt of a job is a child of the span that it was submitted in; a later one begins a trace of its own and
 * refers to that span: {@link JobRunContext#link}. Whatever an observation's handlers throw is logged, and no job fails
 * because of it. Safe for use by many threads.
 */
public final class MillraceObservations {
    /** The observation of one run of a handler. */
    public static final String RUN = "millrace.job.run";

    /** The observation of a submission within another observation; with Micrometer Tracing, the producer's span. */
    public static final String SUBMIT = "millrace.job.submit";

    private static final JobRunConvention CONVENTION = new JobRunConvention();
    private static final Logger LOG = LoggerFactory.getLogger(MillraceObservations.class);

    private final ObservationRegistry registry;

    private MillraceObservations(ObservationRegistry registry) {
        this.registry = Objects.requireNonNull(registry, "registry");
    }

    /**
     * {@return observations in this registry}
     *
     * @param registry where they are made; a {@code GlobalObservationConvention} for {@link JobRunContext} in its
     *     configuration names and tags them in another way
     */
    public static MillraceObservations of(ObservationRegistry registry) {
        return new MillraceObservations(registry);
    }

    /**
     * Observes each run of this worker: {@code builder.with(observations::observe)}.
     *
     * @param worker a worker that is being put together
     */
    public void observe(WorkerBuilder worker) {
        worker.intercept(interceptor());
    }

    /** {@return what observes each run, for a worker that is put together in another way} */
    public JobInterceptor interceptor() {
        return this::around;
    }

    /**
     * {@return the trace context of the calling thread, for {@code Millrace.withTracing}} Null where no observation is the
     * current one, and where no tracing handler is in the registry. Otherwise each call makes one short observation, {@value
     * #SUBMIT}, whose span is the parent of the job's.
     */
    public Supplier<@Nullable TraceContext> current() {
        return this::submitting;
    }

    private @Nullable TraceContext submitting() {
        Observation parent = registry.getCurrentObservation();
        if (parent == null) {
            return null;
        }
        Map<String, String> headers = new HashMap<>();
        SenderContext<Map<String, String>> context =
                new SenderContext<>((carrier, key, value) -> headers.put(key, value), Kind.PRODUCER);
        context.setCarrier(headers);
        Observation.createNotStarted(SUBMIT, () -> context, registry)
                .contextualName("submit job")
                .parentObservation(parent)
                .start()
                .stop();
        return TraceContext.ifValid(headers.get("traceparent"), headers.get("tracestate"))
                .orElse(null);
    }

    private void around(JobContext run, JobInterceptor.Invocation handler) throws Exception {
        JobRunContext context = new JobRunContext(run);
        Observation.Scope before = registry.getCurrentObservationScope();
        Observation observation = begun(context);
        Observation.Scope scope = observation == null ? null : opened(observation);
        try {
            handler.proceed();
            JobRunConvention.outcome(context, "returned");
        } catch (Throwable e) {
            if (run.cancelled()) {
                JobRunConvention.outcome(context, "stopped");
            } else if (observation != null) {
                quietly(() -> observation.error(e));
            }
            throw e;
        } finally {
            if (scope != null) {
                quietly(scope::close);
            }
            // If a handler of the scope's end has thrown, this thread would go on in a run that is over.
            quietly(() -> registry.setCurrentObservationScope(before));
            if (observation != null) {
                quietly(observation::stop);
            }
        }
    }

    private @Nullable Observation begun(JobRunContext context) {
        try {
            return Observation.createNotStarted(null, CONVENTION, () -> context, registry)
                    .start();
        } catch (Throwable e) {
            report(e);
            return null;
        }
    }

    private static Observation.@Nullable Scope opened(Observation observation) {
        try {
            return observation.openScope();
        } catch (Throwable e) {
            report(e);
            return null;
        }
    }

    private static void quietly(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            report(e);
        }
    }

    @SuppressWarnings("UnusedException") // there is nowhere left to report it
    private static void report(Throwable failure) {
        try {
            LOG.warn("A run is not observed as it should be. The job goes on.", failure);
        } catch (Throwable e) {
            // the job is worth more than this report
        }
    }
}
