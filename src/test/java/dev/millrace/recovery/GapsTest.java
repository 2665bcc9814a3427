package dev.millrace.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class GapsTest {
    private static final long NONE = -1;

    @Test
    void endOfLastLongerThan_findsTheLatestOfThoseThatAreLonger() {
        Gaps gaps = new Gaps();
        gaps.add(100, 50);
        gaps.add(200, 10);
        gaps.add(210, 30);
        gaps.add(220, 20);
        assertThat(gaps.endOfLastLongerThan(9, NONE)).isEqualTo(220);
        assertThat(gaps.endOfLastLongerThan(20, NONE)).isEqualTo(210);
        assertThat(gaps.endOfLastLongerThan(30, NONE)).isEqualTo(100);
        assertThat(gaps.endOfLastLongerThan(50, NONE)).isEqualTo(NONE);
    }

    @Test
    void gapThatIsLongOver_isForgotten() {
        Gaps gaps = new Gaps();
        gaps.add(100, 50);
        gaps.forgetBefore(100 + 20 * 50);
        assertThat(gaps.size()).isEqualTo(1);
        gaps.forgetBefore(100 + 21 * 50);
        assertThat(gaps.size()).isZero();
    }

    @Test
    void gapsOfAllLengths_foreverRemainFew() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Gaps gaps = new Gaps();
        long now = 0;
        for (int i = 0; i < 200_000; i++) {
            long length = 1_000 + (long) Math.exp(random.nextDouble() * 20);
            now += length;
            gaps.add(now, length);
            assertThat(gaps.size()).as("seed %d", seed).isLessThan(100);
        }
    }
}
