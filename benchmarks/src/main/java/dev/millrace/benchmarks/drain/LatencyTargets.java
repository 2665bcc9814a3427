package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Quantiles;
import dev.millrace.benchmarks.Results;
import dev.millrace.benchmarks.Turns;
import dev.millrace.benchmarks.peers.Contenders;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How soon a job should begin, in relation to the library that begins it soonest. */
final class LatencyTargets {
    /** The name of what is compared. */
    static final String MEDIAN = "latency, p50";

    /** What the clock can tell, in milliseconds: a handler may begin before its submission has returned. */
    private static final double LEAST_MILLIS = 0.001;

    private LatencyTargets() {}

    /** Adds the target, if both sides were measured. */
    static void add(Results results) {
        Optional<Measurement> woken = results.found(MEDIAN, Map.of("system", Contenders.MILLRACE_WOKEN));
        Optional<Measurement> best = results.measurements(MEDIAN).stream()
                .filter(one -> isOther(one.label("system")))
                .min(Comparator.comparingDouble(Measurement::median));
        if (woken.isPresent() && best.isPresent()) {
            results.target(
                    "p50 of " + Contenders.MILLRACE_WOKEN + ", in relation to the smallest of others ("
                            + best.get().label("system") + ")",
                    ratio(woken.get(), best.get()),
                    "<=",
                    3);
        }
    }

    /** What is no library is nobody's choice. */
    private static boolean isOther(String system) {
        return !system.startsWith(Contenders.MILLRACE_NAME) && !system.startsWith(Contenders.FLOOR_NAME);
    }

    private static double ratio(Measurement woken, Measurement best) {
        List<Double> others = best.values().stream()
                .map(millis -> Math.max(millis, LEAST_MILLIS))
                .toList();
        return Quantiles.of(Turns.ratios(woken.values(), others)).median();
    }
}
