package dev.millrace.db;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.devdb.Database;
import dev.millrace.devdb.DevDatabase;
import dev.millrace.devdb.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** A database with nothing in it, and roles that end with it. */
final class EmptyDatabase implements AutoCloseable {

    private final Database database;
    private final DevDatabase server;
    private final List<String> roles = new ArrayList<>();

    private EmptyDatabase(Database database, DevDatabase server) {
        this.database = database;
        this.server = server;
    }

    static EmptyDatabase on(TestDatabase neighbour) {
        DevDatabase server = neighbour.server();
        return new EmptyDatabase(server.createDatabase(uniqueName("empty_")), server);
    }

    String name() {
        return database.name();
    }

    DataSource dataSource() {
        return database.dataSource();
    }

    DataSource dataSource(String role) {
        return database.dataSource(role, "secret");
    }

    /** Who waits for a connection does so long enough for seven migrations before his, on a busy machine. */
    HikariDataSource pool(int size) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource());
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(60_000);
        return new HikariDataSource(config);
    }

    /** A role that may connect, and nothing else. */
    String createRole() throws SQLException {
        return createRole("role_");
    }

    String createRole(String prefix) throws SQLException {
        String role = uniqueName(prefix);
        execute("CREATE ROLE " + Identifiers.quoted(role) + " LOGIN PASSWORD 'secret'");
        roles.add(role);
        return role;
    }

    /** For the sessions of all roles that begin after this. */
    void setDefault(String name, String value) throws SQLException {
        // From elsewhere: a pooler would keep the session, which began before.
        execute(server.dataSource(), "ALTER DATABASE " + name() + " SET " + name + " = '" + value + "'");
    }

    void execute(String... statements) throws SQLException {
        execute(dataSource(), statements);
    }

    private static void execute(DataSource dataSource, String... statements) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    /** The rows, their columns joined by a bar. */
    List<String> query(String sql) throws SQLException {
        try (Connection connection = dataSource().getConnection()) {
            return query(connection, sql);
        }
    }

    static List<String> query(Connection connection, String sql) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            int columns = result.getMetaData().getColumnCount();
            while (result.next()) {
                List<String> row = new ArrayList<>();
                for (int column = 1; column <= columns; column++) {
                    row.add(String.valueOf(result.getString(column)));
                }
                rows.add(String.join("|", row));
            }
        }
        return rows;
    }

    /** Every relation, type, function and schema that is not PostgreSQL's own, in these schemas or in all others. */
    List<String> objectsOutside(String schema) throws SQLException {
        return query(
                """
                SELECT n.nspname, 'relation', c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE %1$s
                UNION ALL
                SELECT n.nspname, 'type', t.typname FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
                 WHERE %1$s
                UNION ALL
                SELECT n.nspname, 'function', p.proname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
                 WHERE %1$s
                UNION ALL
                SELECT n.nspname, 'schema', '' FROM pg_namespace AS n WHERE %1$s
                ORDER BY 1, 2, 3
                """.formatted("n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', '" + schema + "')"));
    }

    @Override
    public void close() throws SQLException {
        database.drop();
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String role : roles) {
                statement.execute("DROP ROLE " + Identifiers.quoted(role));
            }
        }
    }

    private static String uniqueName(String prefix) {
        return prefix + UUID.randomUUID().toString().replace("-", "");
    }
}
