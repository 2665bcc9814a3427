package dev.millrace.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MicrosecondsTest {

    @Test
    void truncate_ofInstant_cutsOffWhatIsSmaller() {
        assertThat(Microseconds.truncate(Instant.parse("2026-01-01T00:00:00.999999999Z")))
                .isEqualTo("2026-01-01T00:00:00.999999Z");
    }

    @Test
    void truncate_ofInstantBefore1970_cutsOffToo() {
        assertThat(Microseconds.truncate(Instant.parse("1969-12-31T23:59:59.9999999Z")))
                .isEqualTo("1969-12-31T23:59:59.999999Z");
    }

    @Test
    void truncate_ofDuration_goesTowardsZero() {
        assertThat(Microseconds.truncate(Duration.ofNanos(1_999))).isEqualTo(Duration.ofNanos(1_000));
        assertThat(Microseconds.truncate(Duration.ofNanos(-1_999))).isEqualTo(Duration.ofNanos(-1_000));
    }

    @Test
    void truncate_keepsTheEndsOfTheRange() {
        assertThat(Microseconds.truncate(Microseconds.EARLIEST)).isEqualTo(Microseconds.EARLIEST);
        assertThat(Microseconds.truncate(Microseconds.LATEST.plusNanos(999))).isEqualTo(Microseconds.LATEST);
        assertThat(Microseconds.truncate(Microseconds.LONGEST)).isEqualTo(Microseconds.LONGEST);
        assertThat(Microseconds.truncate(Microseconds.LONGEST.negated())).isEqualTo(Microseconds.LONGEST.negated());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-1000000000-01-01T00:00:00Z",
                "-4713-12-31T23:59:59.999999999Z",
                "+294277-01-01T00:00:00Z",
                "+1000000000-12-31T23:59:59.999999999Z"
            })
    void truncate_ofInstantOutOfRange_saysWhatTheRangeIs(Instant instant) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Microseconds.truncate(instant))
                .withMessageContaining(instant.toString())
                .withMessageContaining("4713 BC")
                .withMessageContaining("+294276-12-31T23:59:59.999999Z");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT2147483647H0.000000001S", "PT-2147483648H", "PT2562047788015215H"})
    void truncate_ofDurationOutOfRange_saysWhatTheRangeIs(Duration duration) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Microseconds.truncate(duration))
                .withMessageContaining(duration.toString())
                .withMessageContaining("PT-2147483647H to PT2147483647H");
    }
}
