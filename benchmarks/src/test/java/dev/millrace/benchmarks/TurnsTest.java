package dev.millrace.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TurnsTest {
    private static final List<String> THINGS = List.of("a", "b", "c", "d", "e");

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 4})
    void order_ofEverySecondRound_isTheOppositeOne(int round) {
        List<String> order = Turns.order(THINGS, round);
        List<String> next = new ArrayList<>(Turns.order(THINGS, round + 1));
        Collections.reverse(next);
        assertThat(order).containsExactlyInAnyOrderElementsOf(THINGS).isEqualTo(next);
    }
}
