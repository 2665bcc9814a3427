package dev.millrace.db;

import dev.millrace.db.MigrationException.Reason;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a schema says of itself, read by the migrator.
 *
 * @param version which version it is of
 * @param oldestWriter the oldest release that may write to it
 */
record SchemaFacts(Version version, Version oldestWriter) {

    /**
     * The facts, or null where the schema is from before it could say them.
     *
     * @throws MigrationException if it should say them, and doesn't
     */
    static @Nullable SchemaFacts read(Connection connection, SchemaName schema) throws SQLException {
        String table = schema.quoted() + ".controls";
        if (!exists(connection, table)) {
            return null;
        }
        Map<String, @Nullable String> values = new HashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(
                        "SELECT name, value FROM " + table + " WHERE name LIKE 'schema.%'");
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                values.put(row.getString(1), row.getString(2));
            }
        }
        return new SchemaFacts(
                version(schema, Release.SCHEMA_VERSION, values), version(schema, Release.OLDEST_WRITER, values));
    }

    private static boolean exists(Connection connection, String table) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT pg_catalog.to_regclass(?) IS NOT NULL")) {
            statement.setString(1, table);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    private static Version version(SchemaName schema, String name, Map<String, @Nullable String> values) {
        String value = values.get(name);
        if (value == null) {
            throw unclear(schema, "its table controls has no value for \"" + name + "\"", null);
        }
        try {
            return Version.of(value);
        } catch (IllegalArgumentException e) {
            throw unclear(schema, "in its table controls, row \"" + name + "\", " + e.getMessage(), e);
        }
    }

    /** What it says, or doesn't, can't be so. Nodes would be refused, and migrating does not help. */
    static MigrationException unclear(SchemaName schema, String why, @Nullable Throwable cause) {
        return new MigrationException(
                Reason.FAILED,
                schema.value(),
                "Schema " + schema.quoted() + " doesn't say which releases may write to it: " + why
                        + ". Nothing was written. Find out who changed that, and set it back; docs/upgrades.md says how.",
                null,
                cause);
    }
}
