package dev.millrace.store.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import org.jooq.ConnectionProvider;
import org.jooq.exception.DataAccessException;

/** The connection of a caller's transaction. Nothing is done to it; one that is in no transaction is refused. */
final class CallerConnection implements ConnectionProvider {
    private final ConnectionProvider caller;

    CallerConnection(ConnectionProvider caller) {
        this.caller = caller;
    }

    @Override
    public Connection acquire() {
        Connection connection = caller.acquire();
        if (connection == null) {
            throw new IllegalStateException("The jOOQ configuration has no connection. Pass the one that"
                    + " DSLContext.transaction(..) hands to its block.");
        }
        try {
            if (connection.getAutoCommit()) {
                caller.release(connection);
                throw new IllegalStateException(
                        "The connection is in no transaction: it is in auto-commit mode, so each"
                                + " statement would be committed by itself. Pass a connection after setAutoCommit(false), the"
                                + " configuration that DSLContext.transaction(..) hands to its block, or a data source that"
                                + " takes part in transactions while one is open; for an operation of its own use Millrace"
                                + " itself.");
            }
            return connection;
        } catch (SQLException e) {
            caller.release(connection);
            throw new DataAccessException("The caller's connection can't be used: " + e.getMessage(), e);
        }
    }

    @Override
    public void release(Connection connection) {
        caller.release(connection);
    }

    /** The same for one operation, to be asked by {@link #check} afterwards. */
    CallerConnection forOneOperation() {
        return caller instanceof CallerDataSource source ? new CallerConnection(source.forOneOperation()) : this;
    }

    /** Refuses, after an operation, a data source that has undone it. */
    void check() {
        if (caller instanceof CallerDataSource source) {
            source.refuseIfItEndsTransactions();
        }
    }
}
