package dev.millrace.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsTest {
    private final Results results = new Results();

    /** A family that is not run. */
    private record Named(String name) implements Family {
        @Override
        public String measures() {
            return "nothing";
        }

        @Override
        public Duration planned() {
            return Duration.ofMinutes(1);
        }

        @Override
        public void run(Bench bench) {}

        @Override
        public Rendering render(FamilyResults results) {
            return Rendering.of("");
        }
    }

    @Test
    void runThatMeasuresNothing_fails() {
        results.check("one is one", 1, 1);
        assertThatThrownBy(() -> results.of(new Named("empty"), Size.FULL, Map.of()))
                .isInstanceOf(CheckFailedException.class)
                .hasMessage("empty has measured nothing");
    }

    @Test
    void runThatChecksNothing_fails() {
        results.add("time", Map.of(), "us", List.of(1.0));
        assertThatThrownBy(() -> results.of(new Named("trusting"), Size.FULL, Map.of()))
                .isInstanceOf(CheckFailedException.class)
                .hasMessage("trusting has checked nothing");
    }

    @Test
    void measurementWithoutValues_orOfNoNumber_isRefused() {
        assertThatThrownBy(() -> results.add("time", Map.of(), "us", List.of()))
                .isInstanceOf(CheckFailedException.class);
        assertThatThrownBy(() -> results.add("time", Map.of(), "us", List.of(0.0 / 0.0)))
                .isInstanceOf(CheckFailedException.class);
    }

    @Test
    void checkOfSomethingElse_endsTheRun() {
        assertThatThrownBy(() -> results.check("jobs that succeeded", 10L, 9L))
                .isInstanceOf(CheckFailedException.class)
                .hasMessage("jobs that succeeded: expected 10, found 9");
    }

    @Test
    void medianAndQuantiles_areThoseOfTheValues() {
        assertThat(results.add("time", Map.of(), "us", List.of(3.0, 1.0, 2.0, 10.0))
                        .median())
                .isEqualTo(2.5);
        assertThat(Quantiles.of(List.of(1.0, 2.0, 3.0, 4.0)).at(0.5)).isEqualTo(2);
        assertThat(Quantiles.of(List.of(1.0, 2.0, 3.0, 4.0)).at(0.99)).isEqualTo(4);
    }

    @Test
    void turns_measureEachThingOnceARound_andBeginWithAnotherOne() throws Exception {
        StringBuilder order = new StringBuilder();
        Map<String, List<Double>> values = new Turns()
                .with("a", () -> order.append('a').length())
                .with("b", () -> order.append('b').length())
                .take(1, 2);
        assertThat(order).hasToString("abbaab");
        assertThat(values).isEqualTo(Map.of("a", List.of(4.0, 5.0), "b", List.of(3.0, 6.0)));
    }

    @Test
    void results_areReadAsTheyWereWritten(@TempDir Path folder) throws Exception {
        results.add("time", Map.of("jobs", "1"), "us", List.of(1.5, 2.5));
        results.check("jobs", 1L, 1L);
        results.target("time", 2, "<=", 1);
        FamilyResults written = results.of(new Named("some"), Size.QUICK, Map.of("machine", Map.of("cores", "2")));
        ResultFiles files = new ResultFiles(folder);
        Path file = files.write(written);
        assertThat(files.read("some")).contains(written);
        assertThat(Files.readString(file)).contains("\"median\" : 2.0").contains("\"met\" : false");
        assertThat(files.read("other")).isEmpty();
    }
}
