package dev.millrace.job;

import org.jspecify.annotations.Nullable;

/**
 * Who asked for a job, and in what context. Each is optional: 1 to 512 characters, at most 2,048 bytes.
 *
 * @param requestedBy who asked for the job
 * @param correlationId what ties it to other work
 * @param traceContext the W3C trace context at submission
 * @param tenantId whose job it is: 1 to 128 characters, at most 512 bytes, since it shares an index row with the id
 * @param cancellation the request to cancel it, if there is one
 */
public record JobAudit(
        @Nullable String requestedBy,
        @Nullable String correlationId,
        @Nullable String traceContext,
        @Nullable String tenantId,
        @Nullable Cancellation cancellation) {
    private static final int MAX_TENANT_CHARACTERS = 128;
    private static final int MAX_TENANT_BYTES = 512;

    /** Nothing said. */
    public static final JobAudit NONE = new JobAudit(null, null, null, null, null);

    public JobAudit {
        Checks.reference("requestedBy", requestedBy);
        Checks.reference("correlationId", correlationId);
        Checks.reference("traceContext", traceContext);
        if (tenantId != null) {
            Checks.text("tenantId", tenantId, MAX_TENANT_CHARACTERS, MAX_TENANT_BYTES);
        }
    }

    public JobAudit withRequestedBy(String value) {
        return new JobAudit(value, correlationId, traceContext, tenantId, cancellation);
    }

    public JobAudit withCorrelationId(String value) {
        return new JobAudit(requestedBy, value, traceContext, tenantId, cancellation);
    }

    public JobAudit withTraceContext(String value) {
        return new JobAudit(requestedBy, correlationId, value, tenantId, cancellation);
    }

    public JobAudit withTenantId(String value) {
        return new JobAudit(requestedBy, correlationId, traceContext, value, cancellation);
    }

    public JobAudit withCancellation(@Nullable Cancellation value) {
        return new JobAudit(requestedBy, correlationId, traceContext, tenantId, value);
    }
}
