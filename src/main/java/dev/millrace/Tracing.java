package dev.millrace;

import dev.millrace.job.NewJob;
import dev.millrace.job.TraceContext;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives jobs the trace context of whoever submits them. Whatever becomes of that, the job is submitted. */
final class Tracing {
    /** Jobs get none. */
    static final Tracing NONE = new Tracing(() -> null);

    private static final Logger LOG = LoggerFactory.getLogger(Tracing.class);

    private final Supplier<? extends @Nullable TraceContext> current;

    Tracing(Supplier<? extends @Nullable TraceContext> current) {
        this.current = current;
    }

    /** The context of the calling thread, if there is one. Asked once for all jobs of a call. */
    @Nullable
    TraceContext current() {
        try {
            return current.get();
        } catch (RuntimeException | LinkageError | StackOverflowError | AssertionError e) {
            LOG.warn("The trace context of a submission is not known; the job is submitted without one.", e);
            return null;
        }
    }

    static NewJob traced(NewJob job, @Nullable TraceContext context) {
        return context == null ? job : job.withAudit(job.audit().withTrace(context));
    }
}
