package dev.millrace.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The processes of the server that is measured on, where they are on this machine and its system tells in {@code /proc} what
 * they use.
 */
public final class ServerProcesses {
    private final Path proc;
    private final long postmaster;

    ServerProcesses(Path proc, long postmaster) {
        this.proc = proc;
        this.postmaster = postmaster;
    }

    /**
     * {@return those of the server of this database; nothing where they can't be seen from here}
     *
     * @param database any of that server
     */
    public static Optional<ServerProcesses> of(BenchDatabase database) throws SQLException, IOException {
        return of(database, Path.of("/proc"));
    }

    static Optional<ServerProcesses> of(BenchDatabase database, Path proc) throws SQLException, IOException {
        // No row for whoever may not know it, where the setting itself would be an error.
        Path folder = Path.of(database.text("SELECT max(setting) FROM pg_settings WHERE name = 'data_directory'"));
        Path file = folder.resolve("postmaster.pid");
        if (!Files.isReadable(file)) {
            return Optional.empty();
        }
        long postmaster = Long.parseLong(Files.readAllLines(file).get(0).strip());
        try (Connection connection = database.unpooled().getConnection();
                Statement statement = connection.createStatement();
                ResultSet backend = statement.executeQuery("SELECT pg_backend_pid()")) {
            backend.next();
            boolean here = read(proc.resolve(backend.getString(1)))
                    .filter(one -> one.parent() == postmaster)
                    .isPresent();
            return here ? Optional.of(new ServerProcesses(proc, postmaster)) : Optional.empty();
        }
    }

    /** {@return how long they have kept processors busy so far, those that have ended included, in milliseconds} */
    public double processorMillis() throws IOException {
        long ticks = 0;
        for (ProcessTicks one : all()) {
            if (one.pid() == postmaster) {
                ticks += one.own() + one.ofEnded();
            } else if (one.parent() == postmaster) {
                ticks += one.own();
            }
        }
        return ticks * ProcessTicks.MILLIS;
    }

    private List<ProcessTicks> all() throws IOException {
        List<ProcessTicks> all = new ArrayList<>();
        try (Stream<Path> folders = Files.list(proc)) {
            folders.filter(folder -> folder.getFileName().toString().matches("[0-9]+"))
                    .forEach(folder -> read(folder).ifPresent(all::add));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        return all;
    }

    /** Nothing if it has ended meanwhile. */
    private static Optional<ProcessTicks> read(Path folder) {
        try {
            return Optional.of(ProcessTicks.parse(Files.readString(folder.resolve("stat"))));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
