package dev.millrace.job;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who asked for a job, and in what context. Each is optional: 1 to 512 characters, at most 2,048 bytes.
 *
 * @param requestedBy who asked for the job
 * @param correlationId what ties it to other work
 * @param traceContext the W3C trace context at submission: its {@code traceparent}
 * @param traceState what tracing systems have added to it, of the same specification; jobs can't be found by it
 * @param tenantId whose job it is: 1 to 128 characters, at most 512 bytes, since it shares an index row with the id
 * @param cancellation the request to cancel it, if there is one
 * @param retried that it was retried by hand after it had ended, if it was; the last time counts
 */
public record JobAudit(
        @Nullable String requestedBy,
        @Nullable String correlationId,
        @Nullable String traceContext,
        @Nullable String traceState,
        @Nullable String tenantId,
        @Nullable Cancellation cancellation,
        @Nullable ManualRetry retried) {
    private static final int MAX_TENANT_CHARACTERS = 128;
    private static final int MAX_TENANT_BYTES = 512;

    /** Nothing said. */
    public static final JobAudit NONE = new JobAudit(null, null, null, null, null, null, null);

    /**
     * Checks the values.
     *
     * @param requestedBy see {@link #requestedBy()}
     * @param correlationId see {@link #correlationId()}
     * @param traceContext see {@link #traceContext()}
     * @param traceState see {@link #traceState()}
     * @param tenantId see {@link #tenantId()}
     * @param cancellation see {@link #cancellation()}
     * @param retried see {@link #retried()}
     * @throws InvalidJobException if a value is not allowed
     */
    public JobAudit {
        Checks.reference("requestedBy", requestedBy);
        Checks.reference("correlationId", correlationId);
        Checks.reference("traceContext", traceContext);
        Checks.reference("traceState", traceState);
        if (tenantId != null) {
            Checks.text("tenantId", tenantId, MAX_TENANT_CHARACTERS, MAX_TENANT_BYTES);
        }
    }

    /**
     * {@return this context with another requester}
     *
     * @param value see {@link #requestedBy()}
     */
    public JobAudit withRequestedBy(String value) {
        return new JobAudit(value, correlationId, traceContext, traceState, tenantId, cancellation, retried);
    }

    /**
     * {@return this context with another correlation id}
     *
     * @param value see {@link #correlationId()}
     */
    public JobAudit withCorrelationId(String value) {
        return new JobAudit(requestedBy, value, traceContext, traceState, tenantId, cancellation, retried);
    }

    /**
     * {@return this context with another trace context, and without a {@code tracestate}}
     *
     * @param value see {@link #traceContext()}
     */
    public JobAudit withTraceContext(String value) {
        return new JobAudit(requestedBy, correlationId, value, null, tenantId, cancellation, retried);
    }

    /**
     * {@return this context with another trace context, and its {@code tracestate}}
     *
     * @param value the trace context
     */
    public JobAudit withTrace(TraceContext value) {
        return new JobAudit(
                requestedBy, correlationId, value.traceparent(), value.tracestate(), tenantId, cancellation, retried);
    }

    /** {@return the trace context, if there is one and it is of the form that W3C asks for} */
    public Optional<TraceContext> trace() {
        return TraceContext.ifValid(traceContext, traceState);
    }

    /**
     * {@return this context with another tenant}
     *
     * @param value see {@link #tenantId()}
     */
    public JobAudit withTenantId(String value) {
        return new JobAudit(requestedBy, correlationId, traceContext, traceState, value, cancellation, retried);
    }

    /**
     * {@return this context with another request to cancel it}
     *
     * @param value see {@link #cancellation()}
     */
    public JobAudit withCancellation(@Nullable Cancellation value) {
        return new JobAudit(requestedBy, correlationId, traceContext, traceState, tenantId, value, retried);
    }

    /**
     * {@return this context with another retry by hand, or none}
     *
     * @param value see {@link #retried()}
     */
    public JobAudit withRetried(@Nullable ManualRetry value) {
        return new JobAudit(requestedBy, correlationId, traceContext, traceState, tenantId, cancellation, value);
    }
}
