package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/** The schema is not there, or is not of the version that this library needs. Nothing was written. */
public final class SchemaNotReadyException extends StoreException {
    private static final long serialVersionUID = 1L;

    private final String schema;

    public SchemaNotReadyException(String schema, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.schema = schema;
    }

    /** The schema that was looked for. */
    public String schema() {
        return schema;
    }
}
