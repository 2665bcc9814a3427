package dev.millrace.job;

/** A job's parameters can't be read as its handler's payload. The job keeps them, so it can run after a fix. */
public final class PayloadException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String kind;

    /**
     * Parameters that don't fit.
     *
     * @param kind the kind of job
     * @param message what doesn't fit; must not quote the parameters, which may be secret
     */
    public PayloadException(String kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** {@return the kind of job whose parameters don't fit} */
    public String kind() {
        return kind;
    }
}
