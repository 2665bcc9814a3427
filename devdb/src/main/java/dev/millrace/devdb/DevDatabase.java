package dev.millrace.devdb;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A PostgreSQL server for code generation, tests and demos; never for production.
 *
 * <pre>{@code
 * try (DevDatabase database = DevDatabase.start()) {
 *     Migrator.of(database.dataSource()).migrate();
 * }
 * }</pre>
 *
 * <p><b>Which server.</b> {@link #start()} uses, in this order: the server that the setting {@code millrace.devdb.url}
 * names; a container, where a Docker engine answers within 2 s, has the image or pulls it within 5 min, and has the
 * container up within 90 s; an embedded server. An engine that can't reach a registry says so at once.
 * The setting {@code millrace.devdb} forces one: {@code url}, {@code testcontainers}, {@code embedded}, or {@code auto}
 * (the default). Builds in CI should say which. Further settings: {@code millrace.devdb.user} and {@code .password}
 * (else what the URL says), and {@code millrace.devdb.image} (default {@code postgres:18-alpine}). Each is a system
 * property or an environment variable ({@code MILLRACE_DEVDB_URL}); the property wins. Which server is used and why is
 * logged, and is what {@link #description()} says.
 *
 * <p><b>The embedded server</b> is unpacked into the temporary folder, listens on the loopback interface only, lets
 * every local user in without a password, and takes up to 300 connections. It is as durable as a server in production
 * ({@code fsync} is on), so that a crash in a test is a crash; {@link #stop(StopMode)} and {@link #startAgain()} make
 * one, on the same data and port. It ends, and its data is deleted, with {@link #close()} or with the JVM, also by
 * {@code System.exit}. When the JVM is killed, the server runs on until the same user's next {@code start()} on this
 * machine, which ends and deletes what has lost its owner. It needs no root rights, and runs under root where
 * {@code unshare -U} works.
 *
 * <p>Containers, too, run with {@code fsync} on and 300 connections. In both, text is ordered bytewise and encoded in
 * UTF-8, whatever the machine's locale.
 *
 * <p><b>For tests under other conditions.</b> {@code millrace.devdb.parameters} gives a server that is started here
 * other defaults for its sessions: {@code search_path=nowhere; IntervalStyle=sql_standard}. With {@code
 * millrace.devdb.pooler=pgbouncer} clients reach the server through a PgBouncer in transaction mode, which must be
 * installed and is started and stopped with the server; what makes and drops databases here goes past it. All clients
 * of a database then share a few sessions that take turns, and have no prepared statements.
 *
 * <p>Instances can be shared between threads.
 */
public final class DevDatabase implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DevDatabase.class);

    private final Server server;
    private final Database database;
    private final String description;

    DevDatabase(Server server, String reason) {
        this.server = server;
        Coordinates coordinates = server.coordinates();
        this.database = new Database(coordinates.databaseName(), server.clientCoordinates(), coordinates);
        this.description = "Using " + server.summary() + " (" + reason + ")";
        LOG.info(description);
    }

    /**
     * Starts, or connects to, the server that the settings call for.
     *
     * @return the running server, to be closed
     * @throws DevDatabaseException if a setting is not allowed, or the server can't be had
     */
    public static DevDatabase start() {
        return start(Settings.ofSurroundings(), Flushing.ON);
    }

    /** A server for tests, which make and drop many databases and measure nothing. */
    static DevDatabase startForTests() {
        return start(Settings.ofSurroundings(), Flushing.OFF);
    }

    static DevDatabase start(Settings settings, Flushing flushing) {
        if (settings.provider().isPresent()) {
            Provider provider = settings.provider().get();
            return behindPooler(
                    settings, start(provider, settings, flushing), Settings.PROVIDER + " is " + provider.settingName());
        }
        if (settings.url().isPresent()) {
            return behindPooler(settings, start(Provider.URL, settings, flushing), Settings.URL + " is given");
        }
        if (!DockerProbe.engineAnswers()) {
            return behindPooler(
                    settings,
                    start(Provider.EMBEDDED, settings, flushing),
                    "no JDBC URL given, no Docker engine answered");
        }
        Server server;
        String reason;
        try {
            server = ContainerServer.start(settings.image(), flushing, settings.parameters());
            reason = "no JDBC URL given, a Docker engine answered";
        } catch (NoContainerException e) {
            LOG.debug("No container", e);
            server = start(Provider.EMBEDDED, settings, flushing);
            reason = "no JDBC URL given; a Docker engine answered, but " + e.reason();
        }
        return behindPooler(settings, server, reason);
    }

    /** Behind the pooler that the settings call for, if they do. */
    private static DevDatabase behindPooler(Settings settings, Server server, String reason) {
        return new DevDatabase(settings.pooler().inFrontOf(server), reason);
    }

    /**
     * Starts, or connects to, a server of that kind, whatever {@code millrace.devdb} says. {@link Provider#EMBEDDED}
     * gives a test a server of its own that it may stop.
     *
     * @param provider what kind of server
     * @return the running server, to be closed
     * @throws DevDatabaseException if a setting is not allowed, or the server can't be had
     */
    public static DevDatabase start(Provider provider) {
        Settings settings = Settings.ofSurroundings();
        return behindPooler(
                settings, start(provider, settings, Flushing.ON), provider.settingName() + " asked for by the program");
    }

    private static Server start(Provider provider, Settings settings, Flushing flushing) {
        return switch (provider) {
            case URL -> given(settings);
            case TESTCONTAINERS -> ContainerServer.start(settings.image(), flushing, settings.parameters());
            case EMBEDDED -> EmbeddedServer.start(flushing, settings.parameters());
        };
    }

    private static Server given(Settings settings) {
        String url = settings.url()
                .orElseThrow(
                        () -> new DevDatabaseException("There is no JDBC URL: give the setting " + Settings.URL + "."));
        if (!settings.parameters().isEmpty()) {
            throw new DevDatabaseException("The setting " + Settings.PARAMETERS + " is given for the server of "
                    + Settings.URL + ", which runs already. Set its parameters there, or use an embedded server.");
        }
        return GivenServer.connect(url, settings.user(), settings.password());
    }

    /** {@return what kind of server it is} */
    public Provider provider() {
        return server.provider();
    }

    /**
     * {@return one line for people, such as {@code Using embedded PostgreSQL 18.4 on port 23456 (no JDBC URL given, no
     * Docker engine answered)}}
     */
    public String description() {
        return description;
    }

    /** {@return the JDBC URL of the server's own database: {@code postgres}, or the one that the given URL names} */
    public String jdbcUrl() {
        return database.jdbcUrl();
    }

    /** {@return the user to connect as; a superuser of a container and of an embedded server} */
    public String user() {
        return database.user();
    }

    /** {@return the user's password} An embedded server does not ask for one. */
    public String password() {
        return database.password();
    }

    /** {@return an unpooled data source for the server's own database} */
    public DataSource dataSource() {
        return database.dataSource();
    }

    /**
     * {@return the TCP port on which the server itself listens, not one of a pooler's} It stays the same when an embedded
     * server is started again.
     */
    public int port() {
        return server.port();
    }

    /**
     * Creates an empty database.
     *
     * @param name any identifier, taken as it is
     * @return the database
     * @throws DevDatabaseException if that fails, for instance because the name is taken or the user lacks CREATEDB
     */
    public Database createDatabase(String name) {
        Database created = database(name);
        try (Connection connection = server.coordinates().connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + Identifiers.quote(name));
        } catch (SQLException e) {
            throw new DevDatabaseException("Database " + name + " could not be created: " + e.getMessage(), e);
        }
        return created;
    }

    /**
     * {@return a database of that name, which need not exist yet}
     *
     * @param name its name, taken as it is
     */
    public Database database(String name) {
        return new Database(name, server.clientCoordinates().inDatabase(name), server.coordinates());
    }

    /**
     * Stops an embedded server and keeps its data; does nothing if it is stopped.
     *
     * @param mode in an orderly way, or as a crash would
     * @throws ServerNotControllableException if it is not embedded
     */
    public void stop(StopMode mode) {
        server.stop(mode);
    }

    /**
     * Starts a stopped embedded server on the same data and port, and returns when it takes connections; does nothing
     * if it runs.
     *
     * @throws ServerNotControllableException if it is not embedded
     */
    public void startAgain() {
        server.startAgain();
    }

    /** {@return whether the server was started and not stopped since; of a given one, always} */
    public boolean isRunning() {
        return server.isRunning();
    }

    /** Ends and deletes a server that was started here; leaves a given one alone. Repeating it does nothing. */
    @Override
    public void close() {
        server.close();
    }

    Server server() {
        return server;
    }
}
