package dev.millrace.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IntervalTextTest {

    @Test
    void of_givesEachPartItsSign() {
        assertThat(IntervalText.of(Duration.parse("PT-26H-3M-4.000001S"))).isEqualTo("PT-26H-3M-4.000001S");
        assertThat(IntervalText.of(Duration.ofNanos(-1_000))).isEqualTo("PT0H0M-0.000001S");
        assertThat(IntervalText.of(Duration.ofDays(365))).isEqualTo("PT8760H0M0.000000S");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    # postgres
                    00:00:03.001              | PT3.001S
                    -01:00:00.000001          | PT-1H-0.000001S
                    365 days                  | P365D
                    -3 days +04:00:00         | P-3DT4H
                    1 day -00:00:00.5         | P1DT-0.5S
                    # postgres_verbose
                    @ 0                       | PT0S
                    @ 3.001 secs              | PT3.001S
                    @ 3 days -4 hours ago     | P-3DT4H
                    @ 1 hour 2 mins 3 secs    | PT1H2M3S
                    # sql_standard
                    0                         | PT0S
                    365 0:00:00               | P365D
                    -1 0:00:00.5              | P-1DT-0.5S
                    -0:00:00.5                | PT-0.5S
                    +0-0 -3 +4:00:00          | P-3DT4H
                    # iso_8601
                    PT-2147483647H            | PT-2147483647H
                    P-3DT4H                   | P-3DT4H
                    """)
    void parse_readsEachIntervalStyle(String text, Duration meant) {
        assertThat(IntervalText.parse(text)).isEqualTo(meant);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1 mon",
                "2 years",
                "-1 years -2 mons +3 days",
                "@ 1 mon 2 days",
                "1-2",
                "+0-1 +2 +0:00:00",
                "P1M2D",
                "P1Y",
                "infinity",
                "-infinity",
                "",
                "1 fortnight"
            })
    void parse_ofWhatHasNoFixedLength_saysSo(String text) {
        assertThatThrownBy(() -> IntervalText.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + text + "\"")
                .hasMessageContaining("no fixed length");
    }
}
