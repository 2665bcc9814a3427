package dev.millrace.benchmarks;

import dev.millrace.devdb.DevDatabase;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs a family on a server of its own, and keeps its results. */
public final class Runs {
    private final @Nullable String url;
    private final Size size;
    private final ResultFiles files;
    private final PrintStream out;

    /**
     * @param url the JDBC URL of a server, or null for an embedded one
     * @param size how much is to be done
     * @param folder where the files of results go
     * @param out where to say how far it is
     */
    public Runs(@Nullable String url, Size size, Path folder, PrintStream out) {
        this.url = url;
        this.size = size;
        this.files = new ResultFiles(folder);
        this.out = out;
    }

    /**
     * Runs one.
     *
     * @return what it has found, which is in its file as well
     * @throws CheckFailedException if something else was done than was asked for
     * @throws Exception if it can't be done
     */
    public FamilyResults run(Family family) throws Exception {
        out.println(family.name() + ": " + family.measures());
        double loadBefore = Environment.load();
        try (DevDatabase server = BenchServer.start(url, size);
                Bench bench = new Bench(server, size, out)) {
            family.run(bench);
            BenchDatabase database = bench.database("bench_environment");
            if (size != Size.TINY) {
                bench.results().check("fsync", "on", database.text("SELECT current_setting('fsync')"));
                bench.results()
                        .check(
                                "synchronous_commit",
                                "on",
                                database.text("SELECT current_setting('synchronous_commit')"));
            }
            Map<String, Map<String, String>> environment = Environment.of(database, loadBefore);
            FamilyResults results = bench.results().of(family, size, environment);
            results.measurements()
                    .forEach(one -> bench.say(one.name() + " " + one.of() + ": "
                            + Numbers.text(one.median()) + " " + one.unit() + " (" + Numbers.text(one.min()) + " to "
                            + Numbers.text(one.max()) + ")"));
            results.targets().forEach(target -> bench.say(target.toString()));
            out.println(family.name() + ": " + Numbers.text(results.seconds()) + " s, " + files.write(results));
            return results;
        }
    }
}
