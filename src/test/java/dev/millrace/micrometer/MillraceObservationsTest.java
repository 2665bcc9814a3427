package dev.millrace.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.TraceContext;
import dev.millrace.types.JsonText;
import dev.millrace.worker.StopReason;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingSenderTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.micrometer.tracing.propagation.Propagator;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs as spans of a real tracer: OpenTelemetry's, behind Micrometer Tracing. */
class MillraceObservationsTest {
    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final SdkTracerProvider provider = SdkTracerProvider.builder()
            .addSpanProcessor(SimpleSpanProcessor.create(exporter))
            .build();
    private final ObservationRegistry registry = ObservationRegistry.create();
    private final io.opentelemetry.api.trace.Tracer otel = provider.get("test");
    private final OtelTracer tracer = new OtelTracer(otel, new OtelCurrentTraceContext(), event -> {});
    private final Propagator propagator =
            new OtelPropagator(ContextPropagators.create(W3CTraceContextPropagator.getInstance()), otel);
    private final MillraceObservations observations = MillraceObservations.of(registry);

    private void trace() {
        registry.observationConfig()
                .observationHandler(new ObservationHandler.FirstMatchingCompositeObservationHandler(
                        new PropagatingSenderTracingObservationHandler<>(tracer, propagator),
                        new PropagatingReceiverTracingObservationHandler<>(tracer, propagator),
                        new DefaultTracingObservationHandler(tracer)));
    }

    @AfterEach
    void close() {
        provider.close();
    }

    private static Job job(UnaryOperator<Job> change) {
        return change.apply(Job.of("job-1", JobSpec.of("thumbnail", JsonText.of("{}")), Instant.EPOCH));
    }

    private static Job job(@Nullable TraceContext context) {
        return job(job -> context == null ? job : job.withAudit(job.audit().withTrace(context)));
    }

    private @Nullable TraceContext submitWithin(String name) {
        AtomicReference<@Nullable TraceContext> context = new AtomicReference<>();
        Observation.createNotStarted(name, registry)
                .observe(() -> context.set(observations.current().get()));
        return context.get();
    }

    private SpanData span(String name) {
        return exporter.getFinishedSpanItems().stream()
                .filter(span -> span.getName().equals(name))
                .reduce((first, last) -> last)
                .orElseThrow();
    }

    @Test
    void firstAttempt_isAChildOfTheSpanThatSubmittedIt() throws Exception {
        trace();
        TraceContext context = submitWithin("order");
        assertThat(context).isNotNull();
        SpanData order = span("order");
        SpanData submission = span("submit job");
        assertThat(submission.getKind()).isEqualTo(SpanKind.PRODUCER);
        assertThat(submission.getParentSpanId()).isEqualTo(order.getSpanId());
        assertThat(context.spanId()).isEqualTo(submission.getSpanId());

        AtomicReference<String> inHandler = new AtomicReference<>();
        observations
                .interceptor()
                .around(
                        new FakeRun(job(context), 1, null),
                        () -> inHandler.set(tracer.currentSpan().context().spanId()));

        SpanData run = span("run thumbnail");
        assertThat(run.getTraceId()).isEqualTo(order.getTraceId());
        assertThat(run.getParentSpanId()).isEqualTo(submission.getSpanId());
        assertThat(run.getKind()).isEqualTo(SpanKind.CONSUMER);
        assertThat(inHandler).hasValue(run.getSpanId());
        assertThat(run.getAttributes().asMap())
                .containsEntry(AttributeKey.stringKey("millrace.job"), "job-1")
                .containsEntry(AttributeKey.stringKey("millrace.attempt"), "1")
                .containsEntry(AttributeKey.stringKey("millrace.worker"), "worker")
                .containsEntry(AttributeKey.stringKey("kind"), "thumbnail")
                .containsEntry(AttributeKey.stringKey("outcome"), "returned")
                .doesNotContainKey(AttributeKey.stringKey("millrace.link"));
        assertThat(tracer.currentSpan()).isNull();
    }

    @Test
    void laterAttempt_beginsATraceOfItsOwn_andSaysWhichItBelongsTo() throws Exception {
        trace();
        TraceContext context = submitWithin("order");

        observations.interceptor().around(new FakeRun(job(context), 2, null), () -> {});

        SpanData run = span("run thumbnail");
        assertThat(run.getTraceId()).isNotEqualTo(span("order").getTraceId());
        assertThat(run.getParentSpanContext().isValid()).isFalse();
        assertThat(run.getAttributes().get(AttributeKey.stringKey("millrace.link")))
                .isEqualTo(context.traceparent());
    }

    /** As docs/metrics.md shows it. */
    @Test
    void laterAttempt_hasALinkProper_whereTheTracingHandlerMakesOne() throws Exception {
        registry.observationConfig().observationHandler(new LinkingHandler(tracer, propagator));
        TraceContext context = TraceContext.of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

        observations.interceptor().around(new FakeRun(job(context), 2, null), () -> {});

        assertThat(span("run thumbnail").getLinks()).singleElement().satisfies(link -> {
            assertThat(link.getSpanContext().getTraceId()).isEqualTo(context.traceId());
            assertThat(link.getSpanContext().getSpanId()).isEqualTo(context.spanId());
        });
    }

    @Test
    void run_thatFails_isAnError_butNotOneThatStopsAsItWasAsked() throws Exception {
        trace();
        Exception failure = new IllegalStateException("on purpose");
        assertThatThrownBy(() -> observations.interceptor().around(new FakeRun(job(job -> job), 1, null), () -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(span("run thumbnail").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(span("run thumbnail").getAttributes().get(AttributeKey.stringKey("outcome")))
                .isEqualTo("failed");

        assertThatThrownBy(() -> observations
                        .interceptor()
                        .around(new FakeRun(job(job -> job), 1, StopReason.CANCELLED), () -> {
                            throw failure;
                        }))
                .isSameAs(failure);
        assertThat(span("run thumbnail").getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
        assertThat(span("run thumbnail").getAttributes().get(AttributeKey.stringKey("outcome")))
                .isEqualTo("stopped");
    }

    @Test
    void run_ofAJobWithoutAContext_orWithOneOfAnotherForm_isATraceOfItsOwn() throws Exception {
        trace();
        Job odd = job(job -> job.withAudit(job.audit().withTraceContext("b3: something else")));
        for (Job job : List.of(job(job -> job), odd)) {
            observations.interceptor().around(new FakeRun(job, 1, null), () -> {});
            assertThat(span("run thumbnail").getParentSpanContext().isValid()).isFalse();
        }
    }

    @Test
    void current_outsideOfAnObservation_orWithoutATracer_isNull() {
        assertThat(submitWithin("order")).isNull();
        trace();
        assertThat(observations.current().get()).isNull();
        assertThat(exporter.getFinishedSpanItems()).isEmpty();
    }

    @Test
    void observationHandler_thatThrows_failsNoJob() throws Exception {
        class Broken implements ObservationHandler<Observation.Context> {
            private final String where;

            Broken(String where) {
                this.where = where;
            }

            private void at(String place) {
                if (place.equals(where)) {
                    throw new AssertionError("on purpose");
                }
            }

            @Override
            public void onStart(Observation.Context context) {
                at("start");
            }

            @Override
            public void onScopeOpened(Observation.Context context) {
                at("open");
            }

            @Override
            public void onScopeClosed(Observation.Context context) {
                at("close");
            }

            @Override
            public void onStop(Observation.Context context) {
                at("stop");
            }

            @Override
            public void onError(Observation.Context context) {
                at("error");
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        }
        for (String where : List.of("start", "open", "close", "stop", "error")) {
            ObservationRegistry broken = ObservationRegistry.create();
            broken.observationConfig().observationHandler(new Broken(where));
            AtomicReference<String> ran = new AtomicReference<>();
            MillraceObservations.of(broken)
                    .interceptor()
                    .around(new FakeRun(job(job -> job), 1, null), () -> ran.set(where));
            assertThat(ran).hasValue(where);
            assertThat(broken.getCurrentObservationScope()).isNull();
            IllegalStateException failure = new IllegalStateException("on purpose");
            assertThatThrownBy(() -> MillraceObservations.of(broken)
                            .interceptor()
                            .around(new FakeRun(job(job -> job), 1, null), () -> {
                                throw failure;
                            }))
                    .isSameAs(failure);
        }
    }
}
