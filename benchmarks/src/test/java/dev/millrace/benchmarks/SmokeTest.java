package dev.millrace.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.DevDatabase;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Each family goes through all that it does, with next to nothing. JMH's benchmarks are one of them. */
class SmokeTest {
    private static DevDatabase server;

    @BeforeAll
    static void start() {
        server = BenchServer.start(null, Size.TINY);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @TestFactory
    Stream<DynamicTest> families_measureSomething_checkIt_andCanBeReported() {
        return Families.all().stream().map(family -> DynamicTest.dynamicTest(family.name(), () -> run(family)));
    }

    private static void run(Family family) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        FamilyResults results;
        try (Bench bench = new Bench(server, Size.TINY, new PrintStream(out, true, StandardCharsets.UTF_8))) {
            family.run(bench);
            results = bench.results().of(family, Size.TINY, Map.of());
        }
        assertThat(results.measurements()).isNotEmpty();
        assertThat(results.checks()).isNotEmpty();
        Rendering rendering = family.render(results);
        assertThat(rendering.markdown()).contains("| --- |");
        rendering.plots().forEach((name, svg) -> {
            assertThat(rendering.markdown()).contains("performance/" + name);
            assertThat(svg).startsWith("<svg").endsWith("</svg>\n").doesNotContain("NaN");
        });
        assertThat(family.planned()).isPositive();
    }
}
