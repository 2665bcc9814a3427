package dev.millrace.devdb;

import java.util.Optional;
import org.postgresql.ds.PGSimpleDataSource;

/** A server that somebody else runs. */
final class GivenServer implements Server {

    private final Coordinates coordinates;
    private final int port;
    private final String summary;

    private GivenServer(Coordinates coordinates, String host, int port) {
        this.coordinates = coordinates;
        this.port = port;
        this.summary = "PostgreSQL " + coordinates.serverVersion() + " at " + host + ":" + port + ", database "
                + coordinates.databaseName();
    }

    /** What the URL itself says about user and password counts where nothing else is given. */
    static GivenServer connect(String url, Optional<String> user, Optional<String> password) {
        PGSimpleDataSource parsed = new PGSimpleDataSource();
        try {
            parsed.setUrl(url);
        } catch (IllegalArgumentException e) {
            throw new DevDatabaseException("The JDBC URL in " + Settings.URL + " can't be understood.", e);
        }
        Coordinates coordinates = new Coordinates(
                url,
                user.or(() -> Optional.ofNullable(parsed.getUser())).orElseGet(() -> System.getProperty("user.name")),
                password.or(() -> Optional.ofNullable(parsed.getPassword())).orElse(""));
        return new GivenServer(coordinates, parsed.getServerNames()[0], parsed.getPortNumbers()[0]);
    }

    @Override
    public Provider provider() {
        return Provider.URL;
    }

    @Override
    public Coordinates coordinates() {
        return coordinates;
    }

    @Override
    public String summary() {
        return summary;
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void stop(StopMode mode) {
        throw new ServerNotControllableException(
                provider(),
                "The server was given by " + Settings.URL + ": who runs it, stops it. Use"
                        + " DevDatabase.start(Provider.EMBEDDED) where a test stops its server.");
    }

    @Override
    public void startAgain() {
        stop(StopMode.FAST);
    }

    /** As far as this process has a say: it never stops it. */
    @Override
    public boolean isRunning() {
        return true;
    }

    @Override
    public void close() {
        // Nothing was started.
    }
}
