package dev.millrace.devdb;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * One database on a {@link DevDatabase}'s server. Its data sources are unpooled: each connection is a new one, and who
 * wants a pool puts one around. Instances are immutable and can be shared between threads.
 */
public final class Database {

    private final Coordinates coordinates;
    private final Coordinates maintenance;
    private final String name;

    /**
     * @param maintenance another database of the server, from which this one can be dropped
     */
    Database(String name, Coordinates coordinates, Coordinates maintenance) {
        this.name = name;
        this.coordinates = coordinates;
        this.maintenance = maintenance;
    }

    /** {@return the name of the database} */
    public String name() {
        return name;
    }

    /** {@return the JDBC URL of the database} */
    public String jdbcUrl() {
        return coordinates.jdbcUrl();
    }

    /** {@return the user to connect as, who may do everything in a container and in an embedded server} */
    public String user() {
        return coordinates.user();
    }

    /** {@return the user's password} An embedded server does not ask for one. */
    public String password() {
        return coordinates.password();
    }

    /** {@return an unpooled data source for {@link #user()}} */
    public DataSource dataSource() {
        return coordinates.dataSource();
    }

    /**
     * {@return an unpooled data source for another user} An embedded server takes any password.
     *
     * @param user any role of the server
     * @param password its password
     */
    public DataSource dataSource(String user, String password) {
        return coordinates.as(user, password).dataSource();
    }

    /**
     * Drops the database, and ends the sessions in it; does nothing if it is gone.
     *
     * @throws DevDatabaseException if that fails
     */
    public void drop() {
        try (Connection connection = maintenance.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("DROP DATABASE IF EXISTS " + Identifiers.quote(name) + " WITH (FORCE)");
        } catch (SQLException e) {
            throw new DevDatabaseException("Database " + name + " could not be dropped: " + e.getMessage(), e);
        }
    }

    /** The same database for another user; it is still dropped by the server's. */
    Database as(String user, String password) {
        return new Database(name, coordinates.as(user, password), maintenance);
    }

    Coordinates coordinates() {
        return coordinates;
    }
}
