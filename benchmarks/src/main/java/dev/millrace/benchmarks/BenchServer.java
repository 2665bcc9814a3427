package dev.millrace.benchmarks;

import dev.millrace.devdb.DevDatabase;
import org.jspecify.annotations.Nullable;

/**
 * Starts the server that is measured on: an embedded one, with the settings below and all else as PostgreSQL ships it, so
 * with {@code fsync} and {@code synchronous_commit} on; or, by its URL, one that somebody else runs.
 */
public final class BenchServer {
    /** Memory and room for WAL as for a small server, and the modules that count statements and look into the WAL. */
    static final String PARAMETERS =
            "shared_buffers=1GB; effective_cache_size=4GB; max_wal_size=8GB; wal_keep_size=4GB;"
                    + " checkpoint_timeout=15min; shared_preload_libraries=pg_stat_statements;"
                    + " pg_stat_statements.track_utility=off";

    private BenchServer() {}

    /**
     * {@return the running server, to be closed}
     *
     * @param url the JDBC URL of a database whose user may create others, or null for an embedded server, which for {@link
     *     Size#TINY} does not wait for the disk
     * @param size how much is to be done there
     */
    public static DevDatabase start(@Nullable String url, Size size) {
        if (url != null) {
            System.setProperty("millrace.devdb", "url");
            System.setProperty("millrace.devdb.url", url);
            System.clearProperty("millrace.devdb.parameters");
        } else {
            System.setProperty("millrace.devdb", "embedded");
            System.setProperty(
                    "millrace.devdb.parameters",
                    size == Size.TINY ? PARAMETERS + "; fsync=off; shared_buffers=64MB" : PARAMETERS);
        }
        return DevDatabase.start();
    }
}
