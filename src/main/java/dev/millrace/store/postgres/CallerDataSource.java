package dev.millrace.store.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jooq.ConnectionProvider;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * The connection of the transaction that a framework has open, from a data source that hands it out, whose close gives it
 * back to the transaction. An ordinary pool would undo what was written when the connection is closed, and nobody would
 * notice: so whether the transaction is still open after that is looked at, which sends nothing.
 */
final class CallerDataSource implements ConnectionProvider {
    private final DataSource source;
    private final Map<Connection, BaseConnection> physical = new ConcurrentHashMap<>();
    private volatile boolean endsTransactions;

    CallerDataSource(DataSource source) {
        this.source = source;
    }

    @Override
    public Connection acquire() {
        Connection connection = connection();
        try {
            BaseConnection driver = driver(connection);
            if (driver != null) {
                physical.put(connection, driver);
            }
            return connection;
        } catch (SQLException | RuntimeException e) {
            try (connection) {
                throw new OwnConnections.NoConnectionException(e);
            } catch (SQLException onClose) {
                throw new OwnConnections.NoConnectionException(e);
            }
        }
    }

    private Connection connection() {
        try {
            return source.getConnection();
        } catch (SQLException | RuntimeException e) {
            throw new OwnConnections.NoConnectionException(e);
        }
    }

    /** The same for one operation: what the data source does to one transaction says nothing of others. */
    CallerDataSource forOneOperation() {
        return new CallerDataSource(source);
    }

    /** To be asked after an operation: jOOQ swallows what is thrown when a connection is given back. */
    void refuseIfItEndsTransactions() {
        if (endsTransactions) {
            throw new IllegalStateException("The transaction ended when its connection was given back, and what was"
                    + " written in it is lost unless the data source commits on close: it is not one that hands out the"
                    + " connection of a surrounding transaction. Pass such a one, for instance Spring's"
                    + " TransactionAwareDataSourceProxy, or the Connection itself.");
        }
    }

    private static boolean isInTransaction(@Nullable BaseConnection driver) {
        try {
            return driver != null && !driver.isClosed() && driver.getTransactionState() != TransactionState.IDLE;
        } catch (SQLException e) {
            return false; // closed
        }
    }

    private static @Nullable BaseConnection driver(Connection connection) throws SQLException {
        return connection.isWrapperFor(BaseConnection.class) ? connection.unwrap(BaseConnection.class) : null;
    }

    @Override
    public void release(Connection connection) {
        BaseConnection driver = physical.remove(connection);
        boolean wasOpen = isInTransaction(driver);
        try {
            connection.close();
            if (wasOpen && !isInTransaction(driver)) {
                endsTransactions = true;
            }
        } catch (SQLException e) {
            throw new DataAccessException("A connection could not be given back: " + e.getMessage(), e);
        }
    }
}
