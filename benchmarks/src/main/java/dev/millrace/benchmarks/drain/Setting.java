package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.Size;
import dev.millrace.benchmarks.peers.Contender;
import dev.millrace.benchmarks.peers.Contenders;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

/** What both families have in common: where they may run, and what has to be known of who takes part. */
final class Setting {
    /** How many handlers a worker runs at a time. */
    static final int CONCURRENCY = 16;

    /** What notes of those who don't take part are about. */
    static final String ABSENT = "absent";

    private static final List<String> RELAXED = List.of("synchronous_commit", "full_page_writes");
    private static final List<String> STRICT = List.of("fsync", "synchronous_commit", "full_page_writes");
    private static final Path NODE = Path.of("target", "benchmarks-node");

    private Setting() {}

    /**
     * Refuses a server that loses what it has confirmed: who waits for a commit there does not wait. The smallest size is no
     * evidence, and need not wait.
     */
    static void checkServer(Bench bench) throws SQLException {
        try (BenchDatabase database = bench.database("bench_settings")) {
            for (String setting : bench.size() == Size.TINY ? RELAXED : STRICT) {
                bench.results().check(setting, "on", database.text("SELECT current_setting('" + setting + "')"));
            }
        }
    }

    /** Clears away what was done before, and looks at what is there, whoever's tables it is. */
    static void settle(BenchDatabase database) throws SQLException {
        database.execute("VACUUM ANALYZE", "CHECKPOINT");
    }

    /** Who takes part here. Packages for Node are kept from one run to the next; the smallest size does without. */
    static Contenders contenders(Bench bench) throws IOException, InterruptedException {
        Contenders contenders =
                bench.size() == Size.TINY ? Contenders.onTheJvm() : Contenders.here(NODE.toAbsolutePath());
        contenders.whyAbsent().ifPresent(why -> {
            bench.results().note("pg-boss and graphile-worker", ABSENT, why);
            bench.say("pg-boss and graphile-worker are left out: " + why);
        });
        return contenders;
    }

    /** Keeps what has to be known of each. */
    static void note(Bench bench, List<Contender> contenders) {
        for (Contender contender : contenders) {
            bench.results().note(contender.name(), "version", contender.version());
            bench.results().note(contender.name(), "settings", contender.settings());
            bench.results().note(contender.name(), "fairness", contender.fairness());
        }
    }

    /** The name of a contender's database, which no other run has. */
    static String databaseName(Contender contender, String run) {
        return "bench_" + contender.name().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "_") + "_" + run;
    }
}
