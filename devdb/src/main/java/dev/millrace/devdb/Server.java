package dev.millrace.devdb;

/** A running server of one of the three kinds, or one of them behind a pooler. */
sealed interface Server permits GivenServer, ContainerServer, EmbeddedServer, PooledServer {

    Provider provider();

    /** The database that the server has from the start, and a user who may create others if anyone may. */
    Coordinates coordinates();

    /** The same, as clients connect: through a pooler, if there is one. */
    default Coordinates clientCoordinates() {
        return coordinates();
    }

    /** What it is, for people: {@code embedded PostgreSQL 18.4 on port 23456}. */
    String summary();

    int port();

    /** Ends the server but keeps its data; does nothing when it is stopped. */
    void stop(StopMode mode);

    /** Starts a stopped server on the same data and port; does nothing when it runs. */
    void startAgain();

    boolean isRunning();

    /** Ends what was started for this server, for good. */
    void close();
}
