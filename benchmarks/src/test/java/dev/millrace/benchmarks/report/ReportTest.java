package dev.millrace.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.benchmarks.Families;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
    private static final Path FOLDER = Path.of("../docs/performance");
    private static final Path DOCUMENT = Path.of("../docs/performance.md");

    @Test
    void document_isWhatTheReportMakesOfTheResults() throws IOException {
        String document = Files.readString(DOCUMENT);
        assertThat(document)
                .as("docs/performance.md; after new results, java -jar benchmarks/target/benchmarks.jar report")
                .isEqualTo(new Report(FOLDER).in(document));
    }

    @Test
    void plots_areThoseThatTheReportMakes_andNoOthers() throws IOException {
        Map<String, String> plots = new Report(FOLDER).plots();
        for (Map.Entry<String, String> plot : plots.entrySet()) {
            assertThat(FOLDER.resolve(plot.getKey())).hasContent(plot.getValue());
        }
        try (Stream<Path> files = Files.list(FOLDER)) {
            List<String> drawn = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".svg"))
                    .toList();
            assertThat(drawn).containsExactlyInAnyOrderElementsOf(plots.keySet());
        }
    }

    @Test
    void document_hasAPlaceForEachFamily() throws IOException {
        assertThat(Files.readString(DOCUMENT))
                .contains(Families.all().stream()
                        .map(Family::name)
                        .map(name -> "<!-- begin:" + name + " -->\n")
                        .toList())
                .contains("<!-- begin:environment -->\n", "<!-- begin:targets -->\n");
    }

    @Test
    void report_leavesTheTextAround_andSaysWhatWasNotRun(@TempDir Path empty) throws IOException {
        String document = "Before.\n<!-- begin:claim -->\nold\n<!-- end:claim -->\nAfter.\n";
        assertThat(new Report(empty).in(document))
                .isEqualTo("Before.\n<!-- begin:claim -->\n\n*Not run yet.*\n\n<!-- end:claim -->\nAfter.\n");
    }

    @Test
    void report_ofAFolderWithoutResults_isNotWritten(@TempDir Path empty) throws IOException {
        Path document = Files.writeString(empty.resolve("page.md"), "<!-- begin:claim -->\nold\n<!-- end:claim -->\n");
        assertThatThrownBy(() -> new ReportFiles(empty, document).write())
                .isInstanceOf(UsageException.class)
                .hasMessage("There are no results in " + empty);
        assertThat(document).content().contains("old");
    }

    @Test
    void linePlot_onPowersOfTen_putsThemAtEqualDistances() {
        Scale scale = Scale.of(List.of(10_000.0, 10_000_000.0), true, 0, 300);
        assertThat(scale.ticks()).containsExactly(1e4, 1e5, 1e6, 1e7);
        assertThat(scale.at(1e5)).isCloseTo(100, org.assertj.core.data.Offset.offset(0.01));
    }

    @Test
    void linearScale_beginsAtZero_andEndsAtARoundNumber() {
        Scale scale = Scale.of(List.of(430.0, 170.0), false, 0, 100);
        assertThat(scale.ticks()).containsExactly(0.0, 100.0, 200.0, 300.0, 400.0, 500.0);
    }
}
