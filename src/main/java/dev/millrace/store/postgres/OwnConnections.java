package dev.millrace.store.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jooq.ConnectionProvider;
import org.jooq.exception.DataAccessException;

/**
 * A connection of the pool for each statement, in auto-commit: one statement is one transaction. A pool that hands out
 * connections without auto-commit would roll our writes back on their return, so it is switched on, and off again
 * before that.
 */
final class OwnConnections implements ConnectionProvider {
    private final DataSource pool;
    private final Set<Connection> switchedOn = ConcurrentHashMap.newKeySet();

    OwnConnections(DataSource pool) {
        this.pool = pool;
    }

    @Override
    public Connection acquire() {
        try {
            Connection connection = pool.getConnection();
            try {
                if (!connection.getAutoCommit()) {
                    connection.setAutoCommit(true);
                    switchedOn.add(connection);
                }
                return connection;
            } catch (SQLException e) {
                connection.close();
                throw e;
            }
        } catch (SQLException e) {
            throw new DataAccessException("No connection to the database: " + e.getMessage(), e);
        }
    }

    @Override
    public void release(Connection connection) {
        try (connection) {
            if (switchedOn.remove(connection)) {
                connection.setAutoCommit(false);
            }
        } catch (SQLException e) {
            throw new DataAccessException("A connection could not be given back: " + e.getMessage(), e);
        }
    }
}
