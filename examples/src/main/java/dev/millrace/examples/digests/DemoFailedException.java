package dev.millrace.examples.digests;

/** The demonstration can't go on; the message says why. */
final class DemoFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    DemoFailedException(String message) {
        super(message);
    }
}
