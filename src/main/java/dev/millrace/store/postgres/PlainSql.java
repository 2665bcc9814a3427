package dev.millrace.store.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jooq.DSLContext;
import org.jooq.Param;
import org.jooq.QueryPart;
import org.jooq.Record;
import org.jooq.RenderContext;
import org.jooq.ResultQuery;
import org.jooq.impl.CustomQueryPart;
import org.postgresql.PGConnection;

/** All that is not composed. */
@AllowPlainSql(reason = "jOOQ has no LISTEN and UNLISTEN, and takes a text that it has rendered itself in no other way")
final class PlainSql {
    private PlainSql() {}

    /**
     * A statement of this text, with a parameter after each piece but the last, that returns rows. Of one that returns none
     * jOOQ would render the text once more for each execution, to see by its words what it does.
     */
    static ResultQuery<Record> rows(DSLContext dsl, List<String> pieces, List<Param<?>> parameters) {
        return dsl.resultQuery("{0}", text(pieces, parameters));
    }

    private static QueryPart text(List<String> pieces, List<Param<?>> parameters) {
        return CustomQueryPart.of(context -> {
            context.sql(pieces.get(0));
            for (int i = 0; i < parameters.size(); i++) {
                context.visit(parameters.get(i)).sql(pieces.get(i + 1));
            }
        });
    }

    /** A parameter, as jOOQ has rendered it before. */
    static void parameter(RenderContext context, String rendered) {
        context.sql(rendered);
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
