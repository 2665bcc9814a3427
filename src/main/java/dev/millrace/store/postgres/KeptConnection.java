package dev.millrace.store.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection of the pool that is not given back between statements, so that no one else who holds all the others can keep
 * these from the database. While it is in use others who come take one of the pool as ever. One that broke is replaced by
 * the next that the pool gives.
 *
 * <p>What its pool does for connections that lie idle is done here: after {@value #IDLE_SECONDS} s without use it is asked
 * whether it lives. It can also be told to answer within a time: then a statement on a connection whose other end is silent
 * fails, rather than to wait for as long as the network likes.
 *
 * <p>Safe for use by many threads.
 */
final class KeptConnection {
    private static final Logger LOG = LoggerFactory.getLogger(KeptConnection.class);
    private static final int IDLE_SECONDS = 5;
    private static final int VALID_WITHIN_SECONDS = 5;

    private final OwnConnections connections;
    private final @Nullable Duration answerWithin;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Connection free;
    private @Nullable Connection taken;
    private final Set<Connection> broken = Collections.newSetFromMap(new IdentityHashMap<>());
    private int networkTimeout;
    private long freeSince;
    private boolean closed;

    /** @param answerWithin how long a statement on it may take; null if as long as it likes */
    KeptConnection(OwnConnections pool, @Nullable Duration answerWithin) {
        this.connections = pool.keeping(this);
        this.answerWithin = answerWithin;
    }

    OwnConnections connections() {
        return connections;
    }

    /** Gets a connection from the pool now, rather than with the first statement. Whether there is one. */
    boolean reserve() {
        return connections.available();
    }

    /** The connection, if it is here and lives. */
    @Nullable
    Connection take() {
        Connection connection;
        boolean idle;
        lock.lock();
        try {
            connection = free;
            idle = System.nanoTime() - freeSince > IDLE_SECONDS * 1_000_000_000L;
            if (connection != null) {
                free = null;
                taken = connection;
            }
        } finally {
            lock.unlock();
        }
        if (connection != null && idle && !lives(connection)) {
            connections.discard(connection);
            connections.release(connection);
            return null;
        }
        return connection;
    }

    private static boolean lives(Connection connection) {
        try {
            return connection.isValid(VALID_WITHIN_SECONDS);
        } catch (SQLException | RuntimeException e) {
            return false;
        }
    }

    /** It broke: it isn't kept when it is given back, whatever its pool says of it. */
    void forget(Connection connection) {
        lock.lock();
        try {
            broken.add(connection);
        } finally {
            lock.unlock();
        }
    }

    /** Keeps this connection, if it is the one that was taken from here, or there is none. False if it goes to the pool. */
    boolean keep(Connection connection) {
        lock.lock();
        try {
            boolean ours = taken == connection;
            if (broken.remove(connection)
                    || closed
                    || (!ours && (taken != null || free != null))
                    || !usable(connection)) {
                if (ours) {
                    taken = null;
                    reset(connection);
                }
                return false;
            }
            if (!ours) {
                limit(connection);
            }
            free = connection;
            taken = null;
            freeSince = System.nanoTime();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Gives the connection back to its pool; one that is in use when its statement is done. */
    void close() {
        Connection connection;
        lock.lock();
        try {
            closed = true;
            connection = free;
            free = null;
        } finally {
            lock.unlock();
        }
        if (connection != null) {
            reset(connection);
            connections.giveBack(connection);
        }
    }

    private static boolean usable(Connection connection) {
        try {
            return !connection.isClosed();
        } catch (SQLException | RuntimeException e) {
            return false;
        }
    }

    private void limit(Connection connection) {
        if (answerWithin != null) {
            try {
                networkTimeout = connection.getNetworkTimeout();
                connection.setNetworkTimeout(Runnable::run, (int) answerWithin.toMillis());
            } catch (SQLException | RuntimeException e) {
                LOG.debug("This driver or pool sets no limit to how long an answer may take.", e);
            }
        }
    }

    private void reset(Connection connection) {
        if (answerWithin != null) {
            try {
                connection.setNetworkTimeout(Runnable::run, networkTimeout);
            } catch (SQLException | RuntimeException e) {
                LOG.debug("A connection that goes back to its pool keeps its limit; it is broken, most likely.", e);
            }
        }
    }
}
