package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.BenchServer;
import dev.millrace.benchmarks.Size;
import dev.millrace.devdb.DevDatabase;
import java.sql.SQLException;

/** The server of a benchmark: that of the whole run, by its URL, where there is one, or else one of this JVM's own. */
public final class JmhServer implements AutoCloseable {
    /** The system property with the URL. */
    public static final String URL = "millrace.benchmarks.server";

    private final DevDatabase server = BenchServer.start(System.getProperty(URL), Size.FULL);

    JmhServer() {}

    /**
     * {@return a database of the run, which stays for the benchmarks that follow}
     *
     * @param name its name
     */
    BenchDatabase database(String name) throws SQLException {
        return BenchDatabase.shared(server, name);
    }

    /** {@return the URL by which other JVMs reach a server} */
    public static String url(DevDatabase server) {
        return server.jdbcUrl() + (server.jdbcUrl().contains("?") ? "&" : "?") + "user=" + server.user() + "&password="
                + server.password();
    }

    @Override
    public void close() {
        server.close();
    }
}
