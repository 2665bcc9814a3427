package dev.millrace.db;

import dev.millrace.db.MigrationException.Reason;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** What a schema says of itself, read by the migrator. */
final class SchemaFacts {
    private SchemaFacts() {}

    /**
     * The oldest release that may write to this schema, or null where it is from before it could say that.
     *
     * @throws MigrationException if it should say that, and doesn't
     */
    static @Nullable Version oldestWriter(Connection connection, SchemaName schema) throws SQLException {
        String table = schema.quoted() + ".controls";
        if (!exists(connection, table)) {
            return null;
        }
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT value FROM " + table + " WHERE name = ?")) {
            statement.setString(1, Release.OLDEST_WRITER);
            try (ResultSet row = statement.executeQuery()) {
                return version(schema, row.next() ? row.getString(1) : null);
            }
        }
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

    private static Version version(SchemaName schema, @Nullable String value) {
        try {
            return Version.of(value == null ? "" : value);
        } catch (IllegalArgumentException e) {
            throw new MigrationException(
                    Reason.FAILED,
                    schema.value(),
                    "Schema " + schema.quoted() + " doesn't say which releases may write to it: in its table controls,"
                            + " row \"" + Release.OLDEST_WRITER + "\", " + e.getMessage()
                            + ". Nothing was written. Find out who changed that row, and set it back.",
                    null,
                    e);
        }
    }
}
