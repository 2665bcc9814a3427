package dev.millrace.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArgumentsTest {
    @Test
    void run_ofOneFamily_isOfFullSize() {
        assertThat(Arguments.parse(List.of("claim")))
                .isEqualTo(new Arguments(List.of("claim"), Size.FULL, Arguments.DEFAULT_OUT, null));
    }

    @Test
    void run_withOptions_takesThem() {
        assertThat(Arguments.parse(
                        List.of("claim", "--quick", "growth", "--out", "results", "--url", "jdbc:postgresql:x")))
                .isEqualTo(
                        new Arguments(List.of("claim", "growth"), Size.QUICK, Path.of("results"), "jdbc:postgresql:x"));
    }

    @Test
    void run_ofNothing_orWithUnknownWords_isRefused() {
        assertThatThrownBy(() -> Arguments.parse(List.of("--quick"))).hasMessage("Name a family, or all");
        assertThatThrownBy(() -> Arguments.parse(List.of("all", "--fast"))).hasMessage("There is no option --fast");
        assertThatThrownBy(() -> Arguments.parse(List.of("all", "--out")))
                .hasMessage("The option --out lacks its value");
        assertThatThrownBy(() -> Arguments.parse(List.of("all", "--out", "--quick")))
                .hasMessage("The option --out lacks its value");
        assertThatThrownBy(() -> Families.named(List.of("speed")))
                .hasMessageStartingWith("There is no family \"speed\"; there are claim, ");
    }

    @Test
    void families_areRunOnce_andEachNameHasToBeOne() {
        assertThat(Families.named(List.of("growth", "claim", "growth")))
                .extracting(Family::name)
                .containsExactly("growth", "claim");
        assertThat(Families.named(List.of("claim", "all"))).isEqualTo(Families.all());
        assertThatThrownBy(() -> Families.named(List.of("all", "growht")))
                .hasMessageStartingWith("There is no family \"growht\"");
    }

    @Test
    void quickRun_whereTheResultsOfFullOnesAre_isRefused(@TempDir Path folder) throws Exception {
        Arguments quick = new Arguments(List.of("claim"), Size.QUICK, folder, null);
        quick.checkOut();
        ResultFiles files = new ResultFiles(folder);
        files.write(results("growth", Size.QUICK));
        quick.checkOut();
        files.write(results("growth", Size.FULL));
        assertThatThrownBy(quick::checkOut).hasMessageStartingWith("There are results of full runs in " + folder);
        new Arguments(List.of("claim"), Size.FULL, folder, null).checkOut();
    }

    private static FamilyResults results(String family, Size size) {
        return new FamilyResults(
                family, "nothing", size, "2026-01-01", 1, Map.of(), List.of(), List.of(), List.of(), List.of());
    }

    @Test
    void jmh_getsOptionsAndNamesOfBenchmarks_andNoOtherWords() {
        assertThat(JmhArguments.parse(List.of("-l")).shouldList()).isTrue();
        assertThat(JmhArguments.parse(List.of("Claim", "-p", "rows=200000")).getIncludes())
                .containsExactly("Claim");
        for (String word : List.of("rnu", "(")) {
            assertThatThrownBy(() -> JmhArguments.parse(List.of("Claim", word)))
                    .isInstanceOf(UsageException.class)
                    .hasMessageStartingWith("There is no command and no benchmark \"" + word + "\"")
                    .hasMessageContaining("ClaimBenchmark.claim");
        }
    }

    @Test
    void all_takesAtMostAnHour() {
        long minutes = Families.all().stream()
                .mapToLong(family -> family.planned().toMinutes())
                .sum();
        assertThat(minutes).isPositive().isLessThanOrEqualTo(60);
    }
}
