package dev.millrace.benchmarks;

/** The command line asks for something that there is not. */
public final class UsageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message what there is not
     */
    public UsageException(String message) {
        super(message);
    }
}
