package dev.millrace.store.postgres;

import java.sql.Connection;
import org.jooq.ConnectionProvider;
import org.jooq.DSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The connection that all statements of one try run on, and how many of them there were. One of the pool's is given back
 * at the end; one that showed that its server is gone, or no longer writable, is ended instead, so that nobody gets it
 * again from a pool whose check it would pass.
 */
final class Session implements ConnectionProvider, AutoCloseable {
    private final ConnectionProvider connections;
    private final @Nullable OwnConnections own;
    private final @Nullable Connection connection;
    private boolean passedGate;
    private int statements; // since then

    /** In a caller's transaction: whatever the caller's provider does. */
    static Session callers(ConnectionProvider connections) {
        return new Session(connections, null, null);
    }

    /**
     * On a connection of the pool.
     *
     * @throws OwnConnections.NoConnectionException if there is none
     */
    static Session own(OwnConnections pool) {
        return new Session(pool, pool, pool.acquire());
    }

    private Session(ConnectionProvider connections, @Nullable OwnConnections own, @Nullable Connection connection) {
        this.connections = connections;
        this.own = own;
        this.connection = connection;
    }

    /** Whether these statements are transactions of ours, which hold no lock once they are done. */
    static boolean isOwn(DSLContext dsl) {
        return dsl.configuration().connectionProvider() instanceof Session session && session.own != null;
    }

    @Override
    public Connection acquire() {
        statements += passedGate ? 1 : 0;
        return connection == null ? connections.acquire() : connection;
    }

    @Override
    public void release(Connection released) {
        if (connection == null) {
            connections.release(released);
        }
    }

    /** What was sent so far was only to ask the schema, and could do nothing. */
    void passedGate() {
        passedGate = true;
    }

    /** Whether a statement may have done something, if the last one failed like this. */
    boolean inDoubt(Failure failure) {
        return own != null && statements > (failure.refused() ? 1 : 0);
    }

    /** Nobody shall get this connection again. */
    void discard() {
        if (own != null && connection != null) {
            own.discard(connection);
        }
    }

    @Override
    public void close() {
        if (own != null && connection != null) {
            own.release(connection);
        }
    }
}
