package dev.millrace.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
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

    @Test
    void ratiosOfTwo_areThoseOfEqualThings_ofWhichTheSecondTakesLonger() {
        List<Double> first = List.of(1.0, 3.0, 2.0, 8.0);
        List<Double> second = List.of(3.0, 1.0, 8.0, 2.0);
        assertThat(Turns.ratiosOfTwo(first, second)).containsExactly(1.0, 1.0);
        assertThat(Turns.ratiosOfTwo(List.of(8.0, 2.0), List.of(1.0, 1.0))).containsExactly(4.0);
    }

    @Test
    void ratiosOfTwo_needAnEvenNumberOfRounds() {
        assertThatThrownBy(() -> Turns.ratiosOfTwo(List.of(1.0), List.of(1.0)))
                .isInstanceOf(CheckFailedException.class);
    }
}
