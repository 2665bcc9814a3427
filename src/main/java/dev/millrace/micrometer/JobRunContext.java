package dev.millrace.micrometer;

import dev.millrace.job.Job;
import dev.millrace.job.TraceContext;
import dev.millrace.worker.JobContext;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the observation {@value MillraceObservations#RUN} is about: one run of a handler. For conventions, filters and
 * handlers of yours.
 *
 * <p>As a {@link ReceiverContext} it carries the job, of which it gives {@code traceparent} and {@code tracestate}; so a
 * tracing handler makes the run a child of the span that the job was submitted in. That is so for the first attempt only.
 * A later one comes minutes or days after, and begins a trace of its own; the one that the job was submitted in is its
 * {@link #link}.
 */
public final class JobRunContext extends ReceiverContext<Job> {
    private final JobContext run;

    JobRunContext(JobContext run) {
        super((job, key) -> run.attempt() == 1 ? header(job, key) : null, Kind.CONSUMER);
        this.run = run;
        setCarrier(run.job());
    }

    private static @Nullable String header(Job job, String key) {
        return job.audit()
                .trace()
                .map(trace -> switch (key) {
                    case "traceparent" -> trace.traceparent();
                    case "tracestate" -> trace.tracestate();
                    default -> null;
                })
                .orElse(null);
    }

    /** {@return the run, as its handler sees it} */
    public JobContext run() {
        return run;
    }

    /** {@return what a later attempt than the first should link to: the span that the job was submitted in} */
    public Optional<TraceContext> link() {
        return run.attempt() == 1 ? Optional.empty() : run.traceContext();
    }
}
