package dev.millrace.devdb;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import org.postgresql.ds.PGSimpleDataSource;

/** Where a database is and who connects to it. */
record Coordinates(String jdbcUrl, String user, String password) {

    private static final String PREFIX = "jdbc:postgresql:";

    /** The same server and user, another database; every parameter of the URL is kept. */
    Coordinates inDatabase(String name) {
        int question = jdbcUrl.indexOf('?');
        String parameters = question < 0 ? "" : jdbcUrl.substring(question);
        String base = question < 0 ? jdbcUrl : jdbcUrl.substring(0, question);
        String server = PREFIX;
        if (base.startsWith(PREFIX + "//")) {
            int slash = base.indexOf('/', PREFIX.length() + 2);
            server = (slash < 0 ? base : base.substring(0, slash)) + "/";
        }
        return new Coordinates(server + URLEncoder.encode(name, StandardCharsets.UTF_8) + parameters, user, password);
    }

    Coordinates as(String otherUser, String otherPassword) {
        return new Coordinates(jdbcUrl, otherUser, otherPassword);
    }

    String databaseName() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(jdbcUrl);
        String name = source.getDatabaseName();
        return name == null || name.isEmpty() ? user : name;
    }

    PGSimpleDataSource dataSource() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(jdbcUrl);
        source.setUser(user);
        source.setPassword(password);
        return source;
    }

    /** Connects straight through the driver, for the few statements that this module runs itself. */
    Connection connect() throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", user);
        properties.setProperty("password", password);
        properties.setProperty("connectTimeout", "10");
        return DriverManager.getConnection(jdbcUrl, properties);
    }

    String serverVersion() {
        try (Connection connection = connect()) {
            return connection.getMetaData().getDatabaseProductVersion();
        } catch (SQLException e) {
            throw new DevDatabaseException("No PostgreSQL could be reached at " + this + ": " + e.getMessage(), e);
        }
    }

    /** Without passwords, which have no place in messages. */
    @Override
    public String toString() {
        return jdbcUrl.replaceFirst("\\?.*", "") + " as " + user;
    }
}
