package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.BenchServer;
import dev.millrace.benchmarks.Size;
import dev.millrace.devdb.DevDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The server of a benchmark: that of the whole run, by its URL, where there is one, or else one of this JVM's own. */
public final class JmhServer implements AutoCloseable {
    /** The system property with the URL. */
    public static final String URL = "millrace.benchmarks.server";

    /**
     * The system property with the file that has the URL in it. Others on the machine see the arguments of a JVM, and the
     * URL has a password in it.
     */
    static final String FILE = "millrace.benchmarks.server.file";

    private final DevDatabase server = BenchServer.start(given(), Size.FULL);

    JmhServer() {}

    private static @Nullable String given() {
        String file = System.getProperty(FILE);
        try {
            return file == null ? System.getProperty(URL) : Files.readString(Path.of(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * {@return a database of the run, which stays for the benchmarks that follow}
     *
     * @param name its name
     */
    BenchDatabase database(String name) throws SQLException {
        return BenchDatabase.shared(server, name);
    }

    /** {@return a file that only this user can read, with the URL by which other JVMs reach a server; deleted with this JVM} */
    static Path file(DevDatabase server) {
        try {
            Path file = Files.createTempFile("benchmarks", ".url"); // for its owner alone
            file.toFile().deleteOnExit();
            return Files.writeString(file, url(server.jdbcUrl(), server.user(), server.password()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@return the URL with user and password} */
    static String url(String jdbcUrl, String user, String password) {
        return jdbcUrl + (jdbcUrl.contains("?") ? "&" : "?") + "user=" + encoded(user) + "&password="
                + encoded(password);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        server.close();
    }
}
