package dev.millrace.roles;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.devdb.Database;
import dev.millrace.devdb.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/** An empty database in which nobody may do anything unless it is granted, and roles that end with it. */
public final class RoleDatabase implements AutoCloseable {
    private static final String PASSWORD = "secret";

    private final Database database;
    private final DataSource server;
    private final String suffix = "_" + UUID.randomUUID().toString().substring(0, 8);
    private final List<String> roles = new ArrayList<>();
    private final Map<String, HikariDataSource> pools = new ConcurrentHashMap<>();

    private RoleDatabase(TestDatabase neighbour) {
        this.server = neighbour.server().dataSource();
        this.database = neighbour.server().createDatabase("roles" + suffix);
        execute("REVOKE ALL ON DATABASE " + name() + " FROM PUBLIC");
    }

    /** On the same server. */
    public static RoleDatabase on(TestDatabase neighbour) {
        return new RoleDatabase(neighbour);
    }

    public String name() {
        return database.name();
    }

    /** What makes the names of roles, which are the server's, different from those of other tests. */
    String suffix() {
        return suffix;
    }

    /** A role that may connect, and nothing else. */
    public String createRole(String name) {
        String role = name + suffix;
        execute(
                "CREATE ROLE " + quoted(role) + " LOGIN",
                "GRANT CONNECT ON DATABASE " + name() + " TO " + quoted(role));
        adopt(role);
        return role;
    }

    /** Takes on a role that was created otherwise: gives it its password, and drops it in the end. */
    void adopt(String role) {
        roles.add(role);
        execute("ALTER ROLE " + quoted(role) + " PASSWORD '" + PASSWORD + "'");
    }

    /** A pool for the server's user. */
    public DataSource admin() {
        return pools.computeIfAbsent("", none -> pool(database.dataSource()));
    }

    /** A pool for this role. */
    public DataSource as(String role) {
        return pools.computeIfAbsent(role, name -> pool(unpooled(name)));
    }

    public DataSource unpooled(String role) {
        return database.dataSource(role, PASSWORD);
    }

    private static HikariDataSource pool(DataSource dataSource) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(dataSource);
        config.setMinimumIdle(0);
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }

    public void execute(String... statements) {
        execute(admin(), statements);
    }

    static void execute(DataSource dataSource, String... statements) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new AssertionError(String.join("; ", statements), e);
        }
    }

    /** The SQLSTATE with which this fails; empty if it works. What it does is undone. */
    static String refusal(DataSource dataSource, String sql) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
            connection.rollback();
            return "";
        } catch (SQLException e) {
            return e.getSQLState();
        }
    }

    public List<String> query(String sql) {
        return query(admin(), sql);
    }

    static List<String> query(DataSource dataSource, String sql) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    public static String quoted(String name) {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }

    @Override
    public void close() {
        pools.values().forEach(HikariDataSource::close);
        database.drop();
        roles.forEach(role -> execute(server, "DROP ROLE " + quoted(role)));
    }
}
