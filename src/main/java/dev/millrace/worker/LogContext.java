package dev.millrace.worker;

import org.slf4j.MDC;

/** Names the attempt in SLF4J's MDC while something runs for it. */
final class LogContext {
    static final String JOB = "millrace.job";
    static final String KIND = "millrace.kind";
    static final String ATTEMPT = "millrace.attempt";
    static final String WORKER = "millrace.worker";

    private LogContext() {}

    static void enter(RunningAttempt attempt, String worker) {
        MDC.put(JOB, attempt.job().id());
        MDC.put(KIND, attempt.job().kind());
        MDC.put(ATTEMPT, String.valueOf(attempt.number()));
        MDC.put(WORKER, worker);
    }

    static void leave() {
        MDC.remove(JOB);
        MDC.remove(KIND);
        MDC.remove(ATTEMPT);
        MDC.remove(WORKER);
    }
}
