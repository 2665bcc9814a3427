package dev.millrace.db;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Names the sessions that stand in a migration's way. */
final class LockHolders {

    /** The turn to migrate a schema, as an advisory lock that ends with its transaction. */
    static final String TURN_KEY = "hashtextextended('dev.millrace.db.Migrator ' || ?, 0)";

    private static final String QUERY = """
            SELECT a.pid, a.application_name, a.state, h.held,
                   extract(epoch FROM clock_timestamp() - a.xact_start)::bigint
              FROM pg_stat_activity AS a
              JOIN (SELECT l.pid, l.mode || ' on ' || c.relname AS held
                      FROM pg_locks AS l
                      JOIN pg_class AS c ON c.oid = l.relation AND c.relkind IN ('r', 'p')
                      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = ?
                      JOIN pg_database AS d ON d.oid = l.database AND d.datname = current_database()
                     WHERE l.granted
                    UNION ALL
                    SELECT l.pid, 'the turn to migrate'
                      FROM pg_locks AS l
                      JOIN pg_database AS d ON d.oid = l.database AND d.datname = current_database()
                     WHERE l.granted AND l.locktype = 'advisory' AND l.objsubid = 1
                       AND (l.classid::bigint << 32 | l.objid::bigint) = %s
                   ) AS h ON h.pid = a.pid
             WHERE a.pid <> pg_backend_pid()
             ORDER BY a.xact_start NULLS LAST, a.pid, h.held
             LIMIT 5
            """.formatted(TURN_KEY);

    private LockHolders() {}

    /** One sentence, with a space before it; empty if nobody is to be seen. */
    static String describe(Connection connection, SchemaName schema) throws SQLException {
        List<String> holders = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(QUERY)) {
            statement.setString(1, schema.value());
            statement.setString(2, schema.value());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    holders.add("pid " + rows.getInt(1) + " (application \"" + rows.getString(2) + "\", "
                            + rows.getString(3) + ", in a transaction for " + rows.getLong(5) + " s) holds "
                            + rows.getString(4));
                }
            }
        }
        return holders.isEmpty() ? "" : " " + String.join("; ", holders) + ".";
    }
}
