package dev.millrace.devdb;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Set;
import java.util.TreeSet;

/**
 * Watches that a test class, and so the library, makes nothing outside of its schema that it leaves there: no relation,
 * type, function or schema, whether the search path leads there, a default does, or a name that was not qualified.
 *
 * <p>Tables of TOAST are passed over: PostgreSQL keeps those of every schema in one place. So are the schemas, not the
 * contents, that it makes for temporary tables and keeps.
 */
final class Strays {

    private static final String QUERY = """
            SELECT n.nspname || '.' || o.name || ' (' || o.what || ')'
              FROM (SELECT relnamespace AS namespace, relname AS name, 'relation' AS what FROM pg_catalog.pg_class
                    UNION ALL SELECT typnamespace, typname, 'type' FROM pg_catalog.pg_type
                    UNION ALL SELECT pronamespace, proname, 'function' FROM pg_catalog.pg_proc) AS o
              JOIN pg_catalog.pg_namespace AS n ON n.oid = o.namespace
             WHERE n.nspname <> ? AND n.nspname !~ '^pg_toast'
            UNION ALL
            SELECT nspname || ' (schema)' FROM pg_catalog.pg_namespace WHERE nspname <> ? AND nspname !~ '^pg_'
            """;

    private final Database database;
    private final String schema;
    private final Set<String> before;

    private Strays(Database database, String schema) {
        this.database = database;
        this.schema = schema;
        this.before = outside();
    }

    /** From now on, in that database, whose user sees all of it. */
    static Strays watch(Database database, String schema) {
        return new Strays(database, schema);
    }

    /** What is there now that was not there when the watch began. */
    Set<String> found() {
        Set<String> found = outside();
        found.removeAll(before);
        return found;
    }

    private Set<String> outside() {
        Set<String> names = new TreeSet<>();
        try (Connection connection = database.coordinates().connect();
                PreparedStatement statement = connection.prepareStatement(QUERY)) {
            statement.setString(1, schema);
            statement.setString(2, schema);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    names.add(rows.getString(1));
                }
            }
        } catch (SQLException e) {
            throw new DevDatabaseException(
                    "Database " + database.name() + " could not be looked through: " + e.getMessage(), e);
        }
        return names;
    }
}
