package dev.millrace.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.propagation.Propagator;

/** The tracing handler of docs/metrics.md that gives later attempts a link to the span in which their job was submitted. */
// tag::handler[]
final class LinkingHandler extends PropagatingReceiverTracingObservationHandler<JobRunContext> {
    private final Tracer tracer;

    LinkingHandler(Tracer tracer, Propagator propagator) {
        super(tracer, propagator);
        this.tracer = tracer;
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof JobRunContext;
    }

    @Override
    public Span.Builder customizeExtractedSpan(JobRunContext context, Span.Builder builder) {
        context.link()
                .ifPresent(link -> builder.addLink(new Link(tracer.traceContextBuilder()
                        .traceId(link.traceId())
                        .spanId(link.spanId())
                        .sampled(true)
                        .build())));
        return builder;
    }
}
// end::handler[]
