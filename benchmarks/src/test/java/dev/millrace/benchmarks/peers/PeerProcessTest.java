package dev.millrace.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PeerProcessTest {
    private final Random random = new Random(1);

    @Test
    void pauses_haveTheirMean_andNoMinimum() {
        assertThat(pauses().average().orElseThrow()).isCloseTo(80_000, within(2_000.0));
        assertThat(pauses().min().orElseThrow()).isLessThan(100);
        assertThat(pauses().max().orElseThrow()).isEqualTo(400_000);
    }

    private LongStream pauses() {
        return LongStream.range(0, 10_000).map(number -> PeerProcess.pause(80, random.nextDouble()));
    }
}
