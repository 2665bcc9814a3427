package dev.millrace.db;

/** A schema name that Millrace can't use. The message says what was found, what is allowed, and what to do. */
public final class InvalidSchemaNameException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String schema;

    InvalidSchemaNameException(String schema, String found) {
        super("The schema name " + found + ". Allowed are 1 to " + SchemaName.MAX_BYTES + " bytes (UTF-8) of any"
                + " characters, upper and lower case told apart, without NUL, double quotes or \"${\"; not"
                + " information_schema and nothing that starts with pg_, which PostgreSQL keeps for itself."
                + " Choose another name, for instance \"" + Migrator.DEFAULT_SCHEMA + "\".");
        this.schema = schema;
    }

    /** {@return the name that was refused} */
    public String schema() {
        return schema;
    }
}
