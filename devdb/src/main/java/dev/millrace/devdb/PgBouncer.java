package dev.millrace.devdb;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A PgBouncer in transaction mode in front of a server, made to show what does not bear it.
 *
 * <p>Clients of a database share a few sessions, which take turns: one connection's next transaction is in another
 * session, and what one client leaves in a session is found by the others. Prepared statements are therefore switched
 * off in the JDBC URL, as PgBouncer's own documentation asks for before 1.21.
 *
 * <p>It lets in whomever an embedded server lets in, without a password; before another server it asks for that user's.
 * It ends when its standard input does, and so with this JVM, however that ends.
 */
final class PgBouncer implements AutoCloseable {

    /** The sessions that all clients of a database and user have together, and how many are kept ready for them. */
    private static final int SESSIONS = 8;

    private static final int READY_SESSIONS = 3;

    private static final Logger LOG = LoggerFactory.getLogger(PgBouncer.class);
    private static final String PROGRAM = "pgbouncer";
    private static final int START_ATTEMPTS = 5;
    private static final int WAIT_SECONDS = 60;

    /** Runs a program that is sent SIGTERM when the input ends. */
    private static final String UNTIL_END_OF_INPUT =
            "exec 3<&0; { cat >/dev/null; kill $$ 2>/dev/null; } <&3 & exec \"$@\" </dev/null 3<&-";

    private final ServerFolder folder;
    private final Process process;
    private final Coordinates coordinates;
    private final int port;
    private final Thread shutdownHook = new Thread(this::end, "millrace-devdb-pgbouncer-shutdown");
    private final ReentrantLock lock = new ReentrantLock();
    private boolean ended;

    private PgBouncer(ServerFolder folder, Process process, Coordinates server, int port) {
        this.folder = folder;
        this.process = process;
        this.port = port;
        this.coordinates = new Coordinates(
                        "jdbc:postgresql://localhost:" + port + "/?prepareThreshold=0",
                        server.user(),
                        server.password())
                .inDatabase(server.databaseName());
    }

    /** The program, where packages put it: they take it for a daemon, which ordinary users have not on their path. */
    static Optional<Path> program() {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Stream.concat(Arrays.stream(path.split(File.pathSeparator)), Stream.of("/usr/sbin", "/usr/local/sbin"))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, PROGRAM))
                .filter(Files::isExecutable)
                .findFirst();
    }

    static PgBouncer start(Server server) {
        Path program = program()
                .orElseThrow(() -> new DevDatabaseException("The setting " + Settings.POOLER
                        + " is \"pgbouncer\", but there is no program of that name on the PATH or in /usr/sbin. Install"
                        + " PgBouncer (on Debian: apt-get install pgbouncer), or leave the setting out."));
        try {
            for (int attempt = 1; ; attempt++) {
                try {
                    return start(program, server);
                } catch (DevDatabaseException e) {
                    // Between looking and starting, somebody else may have taken the port.
                    if (attempt == START_ATTEMPTS
                            || !String.valueOf(e.getMessage()).contains("nowhere to listen")) {
                        throw e;
                    }
                }
            }
        } catch (IOException e) {
            throw new DevDatabaseException("PgBouncer has no folder to work in, or could not be run.", e);
        }
    }

    private static PgBouncer start(Path program, Server server) throws IOException {
        ServerFolder folder = ServerFolder.create(ServerFolder.root());
        Process process = null;
        try {
            int port = Ports.free();
            Coordinates coordinates = server.coordinates();
            Path configuration = folder.path().resolve("pgbouncer.ini");
            Path users = folder.path().resolve("users.txt");
            Files.writeString(users, quoted(coordinates.user()) + " " + quoted(coordinates.password()) + "\n");
            Files.writeString(
                    configuration, configuration(coordinates, users, port, server.provider() == Provider.EMBEDDED));
            List<String> command = new ArrayList<>(List.of("sh", "-c", UNTIL_END_OF_INPUT, PROGRAM));
            command.addAll(List.of(program.toString(), configuration.toString()));
            process = new ProcessBuilder(Unprivileged.command(command))
                    .redirectErrorStream(true)
                    .redirectOutput(folder.log().toFile())
                    .start();
            PgBouncer pooler = new PgBouncer(folder, process, coordinates, port);
            pooler.awaitServer();
            Runtime.getRuntime().addShutdownHook(pooler.shutdownHook);
            return pooler;
        } catch (IOException | RuntimeException e) {
            if (process != null) {
                process.destroyForcibly();
            }
            folder.delete();
            throw e;
        }
    }

    private static String configuration(Coordinates server, Path users, int port, boolean trusting) {
        PGSimpleDataSource address = server.dataSource();
        return String.format(
                Locale.ROOT, // digits of other scripts are none to PgBouncer
                """
                ; Written by dev.millrace.devdb
                [databases]
                * = host=%s port=%d auth_user='%s'

                [pgbouncer]
                listen_addr = localhost
                listen_port = %d
                unix_socket_dir =
                auth_type = %s
                auth_file = %s
                pool_mode = transaction
                ; Each transaction in the session that has been idle for longest: nothing stays with its client by luck.
                server_round_robin = 1
                default_pool_size = %d
                min_pool_size = %d
                max_client_conn = 500
                ; What the driver sends and PgBouncer does not know.
                ignore_startup_parameters = extra_float_digits
                ; After an outage clients are let in again soon, as after one of the server alone.
                server_login_retry = 0.1
                ; Whoever gets no session is told so, before tests lose their patience.
                query_wait_timeout = 10
                """,
                address.getServerNames()[0],
                address.getPortNumbers()[0],
                server.user().replace("'", "''"),
                port,
                trusting ? "trust" : "scram-sha-256",
                users,
                SESSIONS,
                READY_SESSIONS);
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\"", "\"\"") + "\"";
    }

    /** The server's own database, through PgBouncer. */
    Coordinates coordinates() {
        return coordinates;
    }

    Path folder() {
        return folder.path();
    }

    String summary() {
        return "PgBouncer on port " + port;
    }

    /** Waits until a client is let in. For a while after the server was away PgBouncer refuses them. */
    void awaitServer() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (true) {
            try (Connection connection = coordinates.connect()) {
                connection.isValid(WAIT_SECONDS);
                return;
            } catch (SQLException e) {
                requireAlive(e);
                if (System.nanoTime() - deadline > 0) {
                    throw new DevDatabaseException(
                            "PgBouncer let nobody in for " + WAIT_SECONDS + " s. Its log says: " + logged(), e);
                }
            }
            pause();
        }
    }

    private void requireAlive(SQLException failure) {
        if (!process.isAlive()) {
            throw new DevDatabaseException("PgBouncer did not start, or has ended. Its log says: " + logged(), failure);
        }
    }

    private String logged() {
        try {
            return Files.readString(folder.log(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "(" + e + ")";
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DevDatabaseException("Interrupted while PgBouncer was starting.", e);
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
            if (!ended) {
                ended = true;
                process.destroy();
                process.waitFor();
                folder.delete();
            }
        } catch (IOException e) {
            LOG.warn(
                    "The folder of the PgBouncer on port {} could not be deleted; the next start tries again", port, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }
}
