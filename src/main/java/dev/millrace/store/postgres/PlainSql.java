package dev.millrace.store.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.jooq.DSLContext;
import org.jooq.QueryPart;
import org.jooq.Record;
import org.jooq.ResultQuery;
import org.jooq.RowCountQuery;
import org.postgresql.PGConnection;

/** All that is not composed. */
@AllowPlainSql(reason = "jOOQ has no LISTEN and UNLISTEN, and takes a text that it has rendered itself in no other way")
final class PlainSql {
    private PlainSql() {}

    /** A statement that is this part and nothing else, and returns rows. */
    static ResultQuery<Record> rows(DSLContext dsl, QueryPart statement) {
        return dsl.resultQuery("{0}", statement);
    }

    /** The same of one that changes rows. */
    static RowCountQuery changes(DSLContext dsl, QueryPart statement) {
        return dsl.query("{0}", statement);
    }

    static void listen(Connection connection, String channel) throws SQLException {
        execute(connection, "LISTEN " + connection.unwrap(PGConnection.class).escapeIdentifier(channel));
    }

    static void unlisten(Connection connection) throws SQLException {
        execute(connection, "UNLISTEN *");
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
