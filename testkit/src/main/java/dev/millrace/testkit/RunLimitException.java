package dev.millrace.testkit;

/**
 * Jobs were still due after as many runs as the kit allows: probably jobs submit jobs for ever. What was run stays run.
 */
public final class RunLimitException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int limit;

    RunLimitException(int limit, String message) {
        super(message);
        this.limit = limit;
    }

    /** {@return how many jobs were run} */
    public int limit() {
        return limit;
    }
}
