package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.report.Markdown;
import java.util.Map;
import java.util.Optional;

/** How fast jobs are submitted, and how many that was measured of. */
final class DrainSubmissions {
    /** The name of how many were measured one by one. */
    static final String ONE_BY_ONE = "submitted one by one";

    /** The name of how many were measured in bulk. */
    static final String IN_BULK = "submitted in bulk";

    /** Of fewer in bulk, most are submitted by code that is not compiled. */
    private static final int LEAST_IN_BULK = 1_000;

    private DrainSubmissions() {}

    static String table(FamilyResults results) {
        Markdown table = new Markdown("", "one by one, jobs", "jobs/s", "WAL, B", "in bulk, jobs", "jobs/s", "WAL, B");
        for (Measurement one : results.measurements("submit one by one")) {
            Map<String, String> of = one.of();
            Optional<Measurement> inBulk = results.found(IN_BULK, of);
            boolean few = inBulk.isPresent() && inBulk.get().median() < LEAST_IN_BULK;
            table.row(
                    of.getOrDefault("system", ""),
                    results.found(ONE_BY_ONE, of).map(Measurement::median),
                    one,
                    results.measurement("submit one by one, WAL", of),
                    inBulk.map(Measurement::median),
                    few ? "" : results.measurement("submit in bulk", of),
                    results.measurement("submit in bulk, WAL", of));
        }
        return table.toString();
    }
}
