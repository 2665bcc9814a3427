package dev.millrace.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

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
        assertThatThrownBy(() -> Families.named(List.of("speed")))
                .hasMessageStartingWith("There is no family \"speed\"; there are claim, ");
    }

    @Test
    void all_takesAtMostAnHour() {
        long minutes = Families.all().stream()
                .mapToLong(family -> family.planned().toMinutes())
                .sum();
        assertThat(minutes).isPositive().isLessThanOrEqualTo(60);
    }
}
