package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.report.BarPlot;
import dev.millrace.benchmarks.report.Markdown;
import java.util.Map;

/** The table of the latencies. */
final class LatencyReport {
    private static final String PLOT = "latency.svg";

    private LatencyReport() {}

    static Rendering of(FamilyResults results) {
        Markdown table = new Markdown(
                "",
                "submitted by",
                "jobs",
                "jobs before",
                "mean pause",
                "p50, ms",
                "p95, ms",
                "p99, ms",
                "longest, ms",
                "p50 from the call, ms");
        BarPlot plot = new BarPlot("From the return of a submission to its handler, median", "ms");
        for (Measurement median : results.measurements(LatencyTargets.MEDIAN)) {
            Map<String, String> of = median.of();
            String system = of.getOrDefault("system", "");
            table.row(
                    system,
                    of.getOrDefault("submitted by", ""),
                    of.getOrDefault("samples", ""),
                    of.getOrDefault(LatencyFamily.WARM_UP, ""),
                    of.getOrDefault("mean pause", ""),
                    median,
                    results.found("latency, p95", of),
                    results.found("latency, p99", of),
                    results.measurement("latency, longest", of),
                    results.found(LatencyFamily.FROM_CALL, of));
            plot.bar(system, Math.max(0, median.median()));
        }
        String text =
                "From the return of a submission to the begin of its handler, or, in the last column, from the moment before its"
                        + " call. Jobs come at random, in each round as many, some of them before the one before is done; those"
                        + " before come so as well, at shorter intervals, but at once where polls are seconds apart. Medians"
                        + " are those of each round, all else of all rounds together.\n\n" + table + "\n"
                        + Markdown.plot("How soon single jobs are begun", PLOT)
                        + "\nWhat has to be known when comparing:\n\n"
                        + PeerNotes.of(results)
                        + PeerTargets.of(results);
        return new Rendering(text, Map.of(PLOT, plot.svg()));
    }
}
