package dev.millrace.db;

import org.jspecify.annotations.Nullable;

/**
 * How a schema compares with this release of the library.
 *
 * @param schema the schema
 * @param status the outcome of the comparison
 * @param version the newest version applied to the schema, or null if it is {@link Status#MISSING}
 * @param libraryVersion the newest version of the schema that this release knows
 * @param pendingCount how many migrations {@link Migrator#migrate()} would apply
 */
public record SchemaState(
        String schema, Status status, @Nullable String version, String libraryVersion, int pendingCount) {

    /** The outcome of the comparison. */
    public enum Status {
        /** There is no such schema, or it holds nothing of Millrace yet. */
        MISSING,
        /** Migrations are pending. */
        BEHIND,
        /** The schema is what this release expects. */
        CURRENT,
        /** A newer release has migrated the schema, and this one may go on to use it as it is. */
        NEWER,
        /** The schema says that this release is too old to write to it. */
        TOO_NEW
    }

    SchemaState with(Status other) {
        return new SchemaState(schema, other, version, libraryVersion, pendingCount);
    }
}
