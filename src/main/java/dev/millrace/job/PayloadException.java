package dev.millrace.job;

import org.jspecify.annotations.Nullable;

/**
 * A job's parameters can't be read as its handler's payload, or its result not as what was asked for. The job keeps them, so
 * it can run, and be read, after a fix.
 */
public final class PayloadException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String kind;

    /**
     * Parameters or a result that don't fit.
     *
     * @param kind the kind of job; null for a result
     * @param message what doesn't fit; must not quote the parameters, which may be secret
     */
    public PayloadException(@Nullable String kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** {@return the kind of job whose parameters don't fit; null for a result} */
    public @Nullable String kind() {
        return kind;
    }
}
