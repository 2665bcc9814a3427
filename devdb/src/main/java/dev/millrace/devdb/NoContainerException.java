package dev.millrace.devdb;

import org.jspecify.annotations.Nullable;

/** A container could not be had, though one was wanted. */
final class NoContainerException extends DevDatabaseException {

    private static final long serialVersionUID = 1L;

    private final String reason;

    /**
     * @param reason as it may follow a colon, or "but"
     */
    NoContainerException(String reason, @Nullable Throwable cause) {
        super(
                "No container could be had: " + reason + ". Check the Docker engine and the setting " + Settings.IMAGE
                        + ", or set " + Settings.PROVIDER + " to embedded.",
                cause);
        this.reason = reason;
    }

    String reason() {
        return reason;
    }
}
