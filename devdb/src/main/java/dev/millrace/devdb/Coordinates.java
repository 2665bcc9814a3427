package dev.millrace.devdb;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import org.postgresql.ds.PGSimpleDataSource;

/** Where a database is and who connects to it. */
record Coordinates(String jdbcUrl, String user, String password) {

    /** The same server and user, another database; every other parameter of the URL is kept. */
    Coordinates inDatabase(String name) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(jdbcUrl);
        source.setDatabaseName(name);
        return new Coordinates(source.getUrl(), user, password);
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
