package dev.millrace.benchmarks;

/** A benchmark has done something else than it measures: its numbers are worth nothing. */
public final class CheckFailedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message what was expected and what was found
     */
    public CheckFailedException(String message) {
        super(message);
    }
}
