package dev.millrace.devdb;

/** A server that clients reach through a PgBouncer only; what administrates it goes straight to it. */
final class PooledServer implements Server {

    private final Server server;
    private final PgBouncer pooler;

    private PooledServer(Server server, PgBouncer pooler) {
        this.server = server;
        this.pooler = pooler;
    }

    static PooledServer start(Server server) {
        try {
            return new PooledServer(server, PgBouncer.start(server));
        } catch (DevDatabaseException e) {
            server.close();
            throw e;
        }
    }

    @Override
    public Provider provider() {
        return server.provider();
    }

    @Override
    public Coordinates coordinates() {
        return server.coordinates();
    }

    @Override
    public Coordinates clientCoordinates() {
        return pooler.coordinates();
    }

    @Override
    public String summary() {
        return server.summary() + " behind " + pooler.summary();
    }

    @Override
    public int port() {
        return server.port();
    }

    @Override
    public void stop(StopMode mode) {
        server.stop(mode);
    }

    /** PgBouncer goes on to refuse clients for a moment, until it has seen for itself that the server is back. */
    @Override
    public void startAgain() {
        server.startAgain();
        pooler.awaitServer();
    }

    @Override
    public boolean isRunning() {
        return server.isRunning();
    }

    @Override
    public void close() {
        pooler.close();
        server.close();
    }
}
