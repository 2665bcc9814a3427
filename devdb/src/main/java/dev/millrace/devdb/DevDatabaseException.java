package dev.millrace.devdb;

import org.jspecify.annotations.Nullable;

/** A development database could not be started, reached or changed. The message says what to do about it. */
public class DevDatabaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DevDatabaseException(String message) {
        super(message);
    }

    DevDatabaseException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
