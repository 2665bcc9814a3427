package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Quantiles;
import dev.millrace.benchmarks.Results;
import dev.millrace.benchmarks.Turns;
import dev.millrace.benchmarks.peers.Contenders;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What Millrace should reach in relation to db-scheduler, both tuned, by one process and with as many jobs. */
final class DrainTargets {
    /** The name of the ratios of rates. */
    static final String RATIO = "drain, ratio";

    /** The name of what is written for a job in all. */
    static final String WAL = "submit to success, WAL";

    /** Those whom others are compared with, each with those who drain as many jobs. */
    static final List<String> BASES =
            List.of(Contenders.DB_SCHEDULER, Contenders.PG_BOSS, Contenders.DB_SCHEDULER_AS_IT_COMES);

    private DrainTargets() {}

    /**
     * Adds the targets, each if both sides were measured.
     *
     * @param jobs how many were drained
     */
    static void add(Results results, int jobs) {
        Map<String, String> ours = DrainEntry.of(Contenders.MILLRACE_TUNED, 1, jobs);
        Map<String, String> theirs = DrainEntry.of(Contenders.DB_SCHEDULER, 1, jobs);
        results.found(RATIO, against(ours, Contenders.DB_SCHEDULER))
                .ifPresent(ratio ->
                        results.target("jobs a second by one process of " + inRelation(), ratio.median(), ">=", 3));
        Optional<Measurement> wal = results.found(WAL, ours);
        Optional<Measurement> base = results.found(WAL, theirs);
        if (wal.isPresent() && base.isPresent()) {
            results.target(
                    "WAL from a job's submission to its success, without full-page images, of " + inRelation(),
                    Quantiles.of(Turns.ratios(wal.get().values(), base.get().values()))
                            .median(),
                    "<=",
                    1.5);
        }
    }

    private static String inRelation() {
        return Contenders.MILLRACE_TUNED + ", in relation to " + Contenders.DB_SCHEDULER;
    }

    /** {@return what the ratio of these to somebody's is of} */
    static Map<String, String> against(Map<String, String> of, String against) {
        Map<String, String> both = new LinkedHashMap<>(of);
        both.put("against", against);
        return both;
    }
}
