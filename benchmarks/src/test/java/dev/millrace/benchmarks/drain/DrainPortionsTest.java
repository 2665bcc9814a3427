package dev.millrace.benchmarks.drain;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DrainPortionsTest {
    /** Of all sizes that contenders have. */
    @ParameterizedTest
    @CsvSource({
        "20000, 1000, 1000, 2000, 3800, 16200",
        "4000, 1000, 1000, 2000, 2200, 1800",
        "1000, 1000, 250, 500, 550, 450",
        "160, 1000, 40, 80, 88, 72",
        "400, 100, 100, 200, 220, 180",
        "32, 100, 8, 16, 17, 15",
        "60, 10, 10, 20, 24, 36",
        "16, 10, 4, 8, 9, 7"
    })
    void asManyAreSubmittedFirst_asAreMeasured(int jobs, int most, int one, int oneEnd, int manyBegin, int many) {
        DrainPortions portions = DrainPortions.of(jobs, most);
        assertThat(portions.oneByOne()).isEqualTo(one);
        assertThat(portions.oneEnd()).isEqualTo(oneEnd);
        assertThat(portions.manyBegin()).isEqualTo(manyBegin);
        assertThat(portions.many()).isEqualTo(many);
    }

    @Test
    void queueWhoseSubmissionsDoNotCount_isSubmittedInBulk() {
        DrainPortions portions = DrainPortions.of(100_000, 0);
        assertThat(portions.oneEnd()).isZero();
        assertThat(portions.many()).isEqualTo(90_000);
    }
}
