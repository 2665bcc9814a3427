package dev.millrace.benchmarks.drain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Results;
import dev.millrace.benchmarks.Size;
import dev.millrace.benchmarks.Target;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LatencyTargetsTest {
    private final Results results = new Results();

    @Test
    void target_isTheMedianOfTheRoundsRatios_toTheOtherThatIsSoonest() {
        median("Millrace, woken", 6.0, 9.0, 4.0);
        median("Millrace tuned, woken", 1.0, 1.0, 1.0);
        median("floor, woken", 0.5, 0.5, 0.5);
        median("db-scheduler, same process", 4.0, 2.0, 2.0);
        median("pg-boss, polling each 0.5 s", 250.0, 0.5, 230.0);
        assertThat(targets())
                .containsExactly(new Target(
                        "p50 of Millrace, woken, in relation to the smallest of others (db-scheduler, same process)",
                        2,
                        "<=",
                        3));
    }

    @Test
    void target_needsBothSides() {
        median("Millrace, woken", 6.0);
        median("Millrace tuned, woken", 1.0);
        median("floor, woken", 1.0);
        assertThat(targets()).isEmpty();
        Results others = new Results();
        others.add(LatencyTargets.MEDIAN, Map.of("system", "graphile-worker, woken"), "ms", List.of(1.0));
        LatencyTargets.add(others);
        others.check("one is one", 1, 1);
        assertThat(others.of(new LatencyFamily(), Size.TINY, Map.of()).targets())
                .isEmpty();
    }

    @Test
    void handlerThatBeginsBeforeItsSubmissionReturns_isNoReasonForTheTargetToBeMet() {
        median("Millrace, woken", 6.0);
        median("db-scheduler, same process", -0.5);
        assertThat(targets()).singleElement().matches(target -> !target.met());
    }

    @Test
    void report_showsTheTarget_ifThereIsOne() {
        median("Millrace, woken", 6.0);
        assertThat(LatencyReport.of(found()).markdown()).doesNotContain("| target |");
        median("db-scheduler, same process", 2.0);
        assertThat(LatencyReport.of(found()).markdown()).contains("same process) | 3 | <= 3 | met |");
    }

    @Test
    void report_saysHowManyJobsCameBefore_andCountsFromTheCallToo() {
        Map<String, String> of =
                Map.of("system", "Millrace, woken", "submitted by", "x", "samples", "3", LatencyFamily.WARM_UP, "500");
        results.add(LatencyTargets.MEDIAN, of, "ms", List.of(6.0));
        results.add(LatencyFamily.FROM_CALL, of, "ms", List.of(8.0));
        results.add("latency, longest", of, "ms", List.of(9.0));
        median("of an earlier run", 5.0);
        assertThat(LatencyReport.of(found()).markdown())
                .contains(
                        "| Millrace, woken | x | 3 | 500 |  | 6 |  |  | 9 | 8 |",
                        "| of an earlier run |  |  |  |  | 5 |  |  | 1,000 |  |");
    }

    private void median(String system, Double... values) {
        Map<String, String> of = Map.of("system", system);
        results.add(LatencyTargets.MEDIAN, of, "ms", Arrays.asList(values));
        results.add("latency, longest", of, "ms", List.of(1_000.0));
    }

    private List<Target> targets() {
        return found().targets();
    }

    private FamilyResults found() {
        LatencyTargets.add(results);
        results.check("one is one", 1, 1);
        return results.of(new LatencyFamily(), Size.TINY, Map.of());
    }
}
