package dev.millrace.benchmarks;

import dev.millrace.devdb.DevDatabase;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** What a family runs with: the server, the size, and where its results go. */
public final class Bench implements AutoCloseable {
    private final DevDatabase server;
    private final Size size;
    private final PrintStream out;
    private final Results results = new Results();
    private final List<BenchDatabase> databases = new ArrayList<>();

    /**
     * @param server runs; closed by whoever has started it
     * @param size how much is to be done
     * @param out where to say how far it is
     */
    public Bench(DevDatabase server, Size size, PrintStream out) {
        this.server = server;
        this.size = size;
        this.out = out;
    }

    /** {@return the server, which nobody else uses} */
    public DevDatabase server() {
        return server;
    }

    /** {@return how much is to be done} */
    public Size size() {
        return size;
    }

    /** {@return where results go} */
    public Results results() {
        return results;
    }

    /**
     * Makes an empty database; {@link BenchDatabase#migrate()} gives it Millrace's tables. It is dropped after the run, or
     * when it is closed.
     *
     * @param name lower case letters and underscores; taken once in a run
     */
    public BenchDatabase database(String name) {
        server.database(name).drop(); // of an earlier run, on a server that is not ours
        BenchDatabase database = new BenchDatabase(server.createDatabase(name));
        databases.add(database);
        return database;
    }

    /** Says how far it is, in one line. */
    public void say(String line) {
        out.println("  " + line);
    }

    /** Drops all databases of the run. */
    @Override
    public void close() {
        databases.forEach(BenchDatabase::close);
        databases.clear();
    }
}
