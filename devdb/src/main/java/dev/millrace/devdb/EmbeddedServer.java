package dev.millrace.devdb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server that this process unpacks, configures, starts, stops and deletes. */
final class EmbeddedServer implements Server {

    /** Room for many pools: tests run in parallel, each class with its own. */
    static final int MAX_CONNECTIONS = 300;

    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedServer.class);
    private static final int START_ATTEMPTS = 5;

    private final PgCommands commands;
    private final ServerFolder folder;
    private final int port;
    private final String version;
    private final Thread shutdownHook = new Thread(this::end, "millrace-devdb-shutdown");
    private final ReentrantLock lock = new ReentrantLock();
    private boolean running = true;
    private boolean ended;

    private EmbeddedServer(PgCommands commands, ServerFolder folder, int port) {
        this.commands = commands;
        this.folder = folder;
        this.port = port;
        try {
            Runtime.getRuntime().addShutdownHook(shutdownHook);
            this.version = coordinates().serverVersion();
        } catch (IllegalStateException e) {
            end();
            throw new DevDatabaseException("The JVM is shutting down: no embedded PostgreSQL is started any more.", e);
        } catch (DevDatabaseException e) {
            close();
            throw e;
        }
    }

    /**
     * synchronous_commit and full_page_writes keep their defaults, so that a crash test means something. There are no
     * socket files, so nothing of a killed server is left outside of its folder.
     */
    private static String settings(int port, Flushing flushing, ServerParameters parameters) {
        return String.format(
                        Locale.ROOT, // digits of other scripts are none to PostgreSQL
                        """

                # Written by dev.millrace.devdb
                listen_addresses = 'localhost'
                port = %d
                unix_socket_directories = ''
                max_connections = %d
                fsync = %s
                timezone = 'UTC'
                log_timezone = 'UTC'
                lc_messages = 'C'
                """,
                        port,
                        MAX_CONNECTIONS,
                        flushing.setting())
                + parameters.asConfiguration();
    }

    static EmbeddedServer start(Flushing flushing, ServerParameters parameters) {
        try {
            Path root = ServerFolder.root();
            PgCommands commands = new PgCommands(PostgresBinaries.unpackInto(root));
            ServerFolder.deleteOrphans(root, data -> commands.stop(data, StopMode.IMMEDIATE));
            return start(commands, ServerFolder.create(root), flushing, parameters);
        } catch (IOException e) {
            throw new DevDatabaseException("The embedded PostgreSQL has no folder to work in.", e);
        }
    }

    private static EmbeddedServer start(
            PgCommands commands, ServerFolder folder, Flushing flushing, ServerParameters parameters)
            throws IOException {
        try {
            commands.initialize(folder.data());
            Path configuration = folder.data().resolve("postgresql.conf");
            String original = Files.readString(configuration);
            for (int attempt = 1; ; attempt++) {
                int port = Ports.free();
                Files.writeString(configuration, original + settings(port, flushing, parameters));
                try {
                    commands.start(folder.data(), folder.log());
                    return new EmbeddedServer(commands, folder, port);
                } catch (DevDatabaseException e) {
                    // Between looking and starting, somebody else may have taken the port.
                    if (attempt == START_ATTEMPTS || !logOf(folder).contains("could not bind")) {
                        throw new DevDatabaseException(
                                "The embedded PostgreSQL did not start. Its log says: " + logOf(folder), e);
                    }
                }
            }
        } catch (IOException | DevDatabaseException e) {
            folder.delete();
            throw e;
        }
    }

    private static String logOf(ServerFolder folder) throws IOException {
        return Files.exists(folder.log()) ? Files.readString(folder.log(), StandardCharsets.UTF_8) : "(nothing)";
    }

    @Override
    public Provider provider() {
        return Provider.EMBEDDED;
    }

    @Override
    public Coordinates coordinates() {
        return new Coordinates("jdbc:postgresql://localhost:" + port + "/postgres", "postgres", "postgres");
    }

    @Override
    public String summary() {
        return "embedded PostgreSQL " + version + " on port " + port;
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void stop(StopMode mode) {
        lock.lock();
        try {
            requireNotEnded();
            if (running) {
                commands.stop(folder.data(), mode);
                running = false;
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void startAgain() {
        lock.lock();
        try {
            requireNotEnded();
            if (!running) {
                commands.start(folder.data(), folder.log());
                running = true;
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isRunning() {
        lock.lock();
        try {
            return running && !ended;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException e) {
            LOG.trace("The JVM is shutting down; the hook may run at the same time", e);
        }
        end();
    }

    private void end() {
        lock.lock();
        try {
            if (ended) {
                return;
            }
            ended = true;
            if (running) {
                // The data is deleted next: nothing needs to be written out.
                commands.stop(folder.data(), StopMode.IMMEDIATE);
            }
            folder.delete();
        } catch (IOException | DevDatabaseException e) {
            LOG.warn(
                    "The embedded PostgreSQL on port {} could not be ended and deleted; the next start tries again",
                    port,
                    e);
        } finally {
            lock.unlock();
        }
    }

    private void requireNotEnded() {
        if (ended) {
            throw new IllegalStateException("The embedded PostgreSQL on port " + port + " has been closed.");
        }
    }
}
