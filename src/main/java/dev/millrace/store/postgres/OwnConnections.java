package dev.millrace.store.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jooq.ConnectionProvider;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections of the pool, in auto-commit: one statement is one transaction. A pool that hands out
 * connections without auto-commit would roll our writes back on their return, so it is switched on, and off again
 * before that.
 */
final class OwnConnections implements ConnectionProvider {
    private static final Logger LOG = LoggerFactory.getLogger(OwnConnections.class);

    private final DataSource pool;
    private final @Nullable KeptConnection kept;
    private final Set<Connection> switchedOn = ConcurrentHashMap.newKeySet();

    OwnConnections(DataSource pool) {
        this(pool, null);
    }

    private OwnConnections(DataSource pool, @Nullable KeptConnection kept) {
        this.pool = pool;
        this.kept = kept;
    }

    /** The same pool; one of the connections that are given back stays there, for who comes next. */
    OwnConnections keeping(KeptConnection connection) {
        return new OwnConnections(pool, connection);
    }

    @Override
    public Connection acquire() {
        Connection ours = kept == null ? null : kept.take();
        return ours == null ? inAutoCommit() : ours;
    }

    /** Whether there is a connection. Waits for one as long as the pool does. */
    boolean available() {
        try {
            release(acquire());
            return true;
        } catch (DataAccessException e) {
            LOG.debug("There is no connection.", e);
            return false;
        }
    }

    private Connection inAutoCommit() {
        Connection connection = fromPool();
        try {
            if (!connection.getAutoCommit()) {
                refuseOpenTransaction(connection);
                connection.setAutoCommit(true);
                switchedOn.add(connection);
            }
            return connection;
        } catch (SQLException | RuntimeException e) {
            try (connection) {
                throw e instanceof IllegalStateException refused ? refused : new NoConnectionException(e);
            } catch (SQLException onClose) {
                throw new NoConnectionException(e);
            }
        }
    }

    /** Whatever a pool throws, of whatever class and state, means that there is no connection now. */
    private Connection fromPool() {
        try {
            return pool.getConnection();
        } catch (SQLException | RuntimeException e) {
            throw new NoConnectionException(e);
        }
    }

    /** There is no connection, so nothing was sent. */
    static final class NoConnectionException extends DataAccessException {
        private static final long serialVersionUID = 1L;

        NoConnectionException(Exception cause) {
            super("No connection to the database: " + cause.getMessage(), cause);
        }
    }

    /** Switching auto-commit on commits what is open, and that would be someone else's transaction. */
    private static void refuseOpenTransaction(Connection connection) throws SQLException {
        if (connection.isWrapperFor(BaseConnection.class)
                && connection.unwrap(BaseConnection.class).getTransactionState() != TransactionState.IDLE) {
            throw new IllegalStateException("The data source hands out a connection with an open transaction, which is"
                    + " not ours to commit. Give Millrace a data source that takes part in no surrounding transaction,"
                    + " and use Millrace.in(..) for what belongs to yours.");
        }
    }

    /** Ends the physical connection, so that its pool drops it: whatever the pool checks, it is closed. */
    void discard(Connection connection) {
        if (kept != null) {
            kept.forget(connection);
        }
        try {
            connection.abort(Runnable::run);
        } catch (SQLException | RuntimeException e) {
            LOG.debug("A pool's connection can't be aborted; what is behind it is.", e);
            abortPhysical(connection);
        }
    }

    private static void abortPhysical(Connection connection) {
        try {
            if (connection.isWrapperFor(BaseConnection.class)) {
                connection.unwrap(BaseConnection.class).abort(Runnable::run);
            }
        } catch (SQLException | RuntimeException e) {
            LOG.debug("A connection that failed can't be ended; its pool has to find out.", e);
        }
    }

    /** Throws nothing: by now the answer is there, or the failure is known. What can't be given back is of no more use. */
    @Override
    public void release(Connection connection) {
        if (kept == null || !kept.keep(connection)) {
            giveBack(connection);
        }
    }

    /** To the pool, as it was. */
    void giveBack(Connection connection) {
        try (connection) {
            if (switchedOn.remove(connection)) {
                connection.setAutoCommit(false);
            }
        } catch (SQLException | RuntimeException e) {
            LOG.debug("A connection could not be given back.", e);
        }
    }
}
