package dev.millrace.benchmarks.peers;

import dev.millrace.benchmarks.BenchDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * In processes of Node.
 *
 * @param folder where the scripts and their packages are
 * @param script which of the scripts
 * @param variant {@code default} or {@code tuned}
 */
record NodeLaunch(Path folder, String script, String variant) implements Launch {
    /** The library makes its tables when it is started for the first time. */
    @Override
    public void prepare(BenchDatabase database) throws IOException, InterruptedException {
        start(database, Role.SUBMIT, 1, 0).close();
    }

    @Override
    public Peer start(BenchDatabase database, Role role, int concurrency, int capacity)
            throws IOException, InterruptedException {
        List<String> command = List.of(
                "node",
                folder.resolve(script).toString(),
                variant,
                role.name().toLowerCase(Locale.ROOT),
                Integer.toString(concurrency));
        return Peer.start(script, command, environment(database));
    }

    private static Map<String, String> environment(BenchDatabase database) {
        PGSimpleDataSource parts = new PGSimpleDataSource();
        parts.setUrl(database.jdbcUrl());
        Map<String, String> environment = new HashMap<>();
        environment.put("PGHOST", parts.getServerNames()[0]);
        environment.put("PGPORT", Integer.toString(parts.getPortNumbers()[0] == 0 ? 5432 : parts.getPortNumbers()[0]));
        environment.put("PGDATABASE", String.valueOf(parts.getDatabaseName()));
        environment.put("PGUSER", database.user());
        environment.put("PGPASSWORD", database.password());
        return environment;
    }
}
