package dev.millrace.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ContendersTest {
    private final Contenders contenders = Contenders.onTheJvm();

    @Test
    void latency_isThatOfMillraceWoken_untunedAndTuned_amongOthers() {
        assertThat(names(contenders.latency()))
                .startsWith(Contenders.MILLRACE_WOKEN, "Millrace tuned, woken")
                .contains("db-scheduler, same process", Contenders.FLOOR_WOKEN)
                .doesNotHaveDuplicates();
    }

    @Test
    void drain_isOfMillraceAndDbScheduler_bothTuned() {
        assertThat(names(contenders.drain()))
                .contains(Contenders.MILLRACE_TUNED, Contenders.DB_SCHEDULER)
                .doesNotHaveDuplicates();
    }

    @Test
    void millrace_tunedOrNot_beginsHandlersOfNewClaimsWithoutAStatement() {
        assertThat(contenders.latency())
                .filteredOn(contender -> contender.name().startsWith(Contenders.MILLRACE_NAME))
                .hasSize(4)
                .allSatisfy(contender -> assertThat(contender.fairness()).contains("begin without a statement"));
    }

    private static List<String> names(List<Contender> contenders) {
        return contenders.stream().map(Contender::name).toList();
    }
}
