package dev.millrace.devdb;

/** A running server of one of the three kinds. */
sealed interface Server permits GivenServer, ContainerServer, EmbeddedServer {

    Provider provider();

    /** The database that the server has from the start, and a user who may create others if anyone may. */
    Coordinates coordinates();

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
