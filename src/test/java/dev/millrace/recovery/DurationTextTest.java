package dev.millrace.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurationTextTest {
    @ParameterizedTest
    @CsvSource({
        "PT-5S, 0 ms",
        "PT0S, 0 ms",
        "PT0.25S, 250 ms",
        "PT1S, 1 s",
        "PT1.56S, 1.5 s",
        "PT59.9S, 59.9 s",
        "PT60S, 1 min 0 s",
        "PT1H2M3S, 1 h 2 min",
        "P45DT1H, 45 d 1 h"
    })
    void duration_isWrittenAsPeopleReadIt(Duration duration, String text) {
        assertThat(DurationText.of(duration)).isEqualTo(text);
    }
}
