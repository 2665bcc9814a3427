package dev.millrace.worker;

import dev.millrace.job.Job;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Names the attempt in SLF4J's MDC while something is done for it, on whatever thread. Closed, it leaves the MDC as it was:
 * one may be entered within another.
 */
final class LogContext implements AutoCloseable {
    static final String JOB = "millrace.job";
    static final String KIND = "millrace.kind";
    static final String ATTEMPT = "millrace.attempt";
    static final String WORKER = "millrace.worker";
    static final String TRACE = "millrace.traceparent";

    private record Before(String key, @Nullable String value) {}

    private final List<Before> before = new ArrayList<>(5);

    private LogContext() {}

    static LogContext enter(RunningAttempt attempt, String worker) {
        Job job = attempt.job();
        LogContext context = new LogContext();
        context.put(JOB, job.id());
        context.put(KIND, job.kind());
        context.put(ATTEMPT, String.valueOf(attempt.number()));
        context.put(WORKER, worker);
        context.put(TRACE, job.audit().traceContext());
        return context;
    }

    /** The same, where the worker's name is known by the claim only. */
    static LogContext enter(RunningAttempt attempt) {
        String worker = attempt.job().state().claimedBy();
        return enter(attempt, worker == null ? "" : worker);
    }

    private void put(String key, @Nullable String value) {
        before.add(new Before(key, MDC.get(key)));
        set(key, value);
    }

    private static void set(String key, @Nullable String value) {
        if (value == null) {
            MDC.remove(key);
        } else {
            MDC.put(key, value);
        }
    }

    @Override
    public void close() {
        before.forEach(entry -> set(entry.key(), entry.value()));
    }
}
