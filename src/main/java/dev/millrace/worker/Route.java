package dev.millrace.worker;

import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A kind of job with the handler for it.
 *
 * @param <T> the payload's type, which ties the two together
 */
record Route<T>(JobType<T> type, JobHandler<? super T> handler) {
    String kind() {
        return type.kind();
    }

    /**
     * Adds a handler to those of other kinds.
     *
     * @throws InvalidWorkerException if the kind has one already
     */
    static <T> void add(Map<String, Route<?>> routes, JobType<T> type, JobHandler<? super T> handler) {
        Objects.requireNonNull(handler, "handler");
        if (routes.putIfAbsent(type.kind(), new Route<T>(type, handler)) != null) {
            throw new InvalidWorkerException(
                    "handlers",
                    "a second handler for the kind \"" + type.kind() + "\"",
                    "one handler for each kind",
                    "Remove one of them, or give its jobs another kind.");
        }
    }

    /** The same, called by these interceptors, the first one outermost. */
    Route<T> within(List<JobInterceptor> interceptors) {
        JobHandler<? super T> innermost = handler;
        for (int i = interceptors.size() - 1; i >= 0; i--) {
            innermost = intercepted(interceptors.get(i), innermost);
        }
        return new Route<>(type, innermost);
    }

    private static <P> JobHandler<P> intercepted(JobInterceptor interceptor, JobHandler<P> handler) {
        return (payload, context) -> interceptor.around(context, () -> handler.handle(payload, context));
    }

    /** Decodes the payload and runs the handler. */
    void run(PayloadCodec codec, Job job, JobContext context) throws Exception {
        handler.handle(codec.decode(type, job.spec().parameters()), context);
    }
}
