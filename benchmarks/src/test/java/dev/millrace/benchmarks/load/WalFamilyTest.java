package dev.millrace.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.benchmarks.Results;
import dev.millrace.benchmarks.Size;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WalFamilyTest {
    private final Results results = new Results();

    @Test
    void sums_areThoseOfTheStepsTogether() {
        for (String tables : List.of(
                "as it is",
                "without the five indexes of lists",
                "and without those of recovery and retention",
                "and without that of claims by kind")) {
            step(tables, "submitted 200 at once", 700);
            step(tables, "claimed 200 at once", 200);
            step(tables, "finished 200 at once", 300);
            step(tables, "submitted one by one", 5_000);
        }
        results.check("one is one", 1, 1);
        WalFamily family = new WalFamily();
        assertThat(family.render(results.of(family, Size.TINY, Map.of())).markdown())
                .contains("| submitted 200 at once | 700 | 20 | 3 | 723 |", "| as it is | 1,200 | 1,269 |");
    }

    private void step(String tables, String step, double rows) {
        Map<String, Double> kinds = Map.of("rows", rows, "indexes", 20.0, "all else", 3.0, "sum", rows + 23);
        kinds.forEach((kind, bytes) ->
                results.add("WAL", Map.of("tables", tables, "step", step, "kind", kind), "B/job", List.of(bytes)));
    }
}
