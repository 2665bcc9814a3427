package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Numbers;
import dev.millrace.benchmarks.peers.Contenders;
import dev.millrace.benchmarks.report.Markdown;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** What a job costs whom, by one worker process; and what of the machine's processors that is. */
final class DrainCosts {
    /** The name of what the worker uses. */
    static final String WORKER = "drain, processor time";

    /** The name of what the server's processes use; there is none where the system does not tell. */
    static final String SERVER = "drain, server processor time";

    private static final Map<String, String> WARM = Map.of(
            "system", Contenders.MILLRACE_TUNED, "processes", "1", "jobs", Integer.toString(DrainEntry.WARM_JOBS));

    private final FamilyResults results;

    DrainCosts(FamilyResults results) {
        this.results = results;
    }

    String table() {
        Markdown table = new Markdown(
                "",
                "jobs",
                "processor time of the worker, ms",
                "of the server, ms",
                "statements",
                "transactions",
                "WAL of the drain, B",
                "full-page images, B",
                "WAL with its submission, B");
        List<Measurement> all = results.measurements(WORKER).stream()
                .filter(one -> "1".equals(one.of().get("processes")))
                .toList();
        for (Measurement worker : all) {
            Map<String, String> of = worker.of();
            table.row(
                    of.getOrDefault("system", ""),
                    of.getOrDefault("jobs", ""),
                    worker,
                    results.found(SERVER, of),
                    results.measurement("drain, statements", of),
                    results.measurement("drain, transactions", of),
                    results.measurement("drain, WAL", of),
                    results.measurement("drain, full-page images", of),
                    results.found(DrainTargets.WAL, of));
        }
        return table.toString();
    }

    /** A sentence on the processors that a long drain keeps busy; nothing where it was not measured. */
    String processors() {
        Optional<Measurement> worker = results.found(WORKER, WARM);
        Optional<Measurement> server = results.found(SERVER, WARM);
        if (worker.isEmpty() || server.isEmpty()) {
            return "";
        }
        double rate = results.measurement("drain", WARM).median();
        double millis = worker.get().median() + server.get().median();
        return String.format(
                Locale.ROOT,
                "\nProcessor time of worker and server, %s with %,d jobs: %.0f + %.0f us a job, at %s jobs/s %.1f%s cores.\n",
                Contenders.MILLRACE_TUNED,
                DrainEntry.WARM_JOBS,
                worker.get().median() * 1_000,
                server.get().median() * 1_000,
                Numbers.text(rate),
                rate * millis / 1_000,
                cores());
    }

    private String cores() {
        String cores = results.environment().getOrDefault("machine", Map.of()).get("cores");
        return cores == null ? "" : " of " + cores;
    }
}
