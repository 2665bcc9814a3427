package dev.millrace.devdb;

/** The server can't be stopped and started from here, because somebody else runs it. */
public final class ServerNotControllableException extends UnsupportedOperationException {

    private static final long serialVersionUID = 1L;

    private final Provider provider;

    ServerNotControllableException(Provider provider, String message) {
        super(message);
        this.provider = provider;
    }

    /** {@return the provider of the server that was asked to stop or start} */
    public Provider provider() {
        return provider;
    }
}
