package dev.millrace.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VersionTest {

    @ParameterizedTest
    @CsvSource({"0.1.0, 0.2.0", "0.9.3, 0.10", "0.9, 0.9.1", "5, 10", "0.99.99, 1", "1.0.0.1, 1.0.1"})
    void versions_areComparedAsNumbersPartByPart(String older, String newer) {
        assertThat(Version.of(older).isOlderThan(Version.of(newer))).isTrue();
        assertThat(Version.of(newer).isOlderThan(Version.of(older))).isFalse();
        assertThat(Version.of(older)).isNotEqualTo(Version.of(newer));
    }

    @ParameterizedTest
    @CsvSource({"0.1, 0.1.0", "5, 5.0.0.0", "01.2, 1.2"})
    void missingParts_areZero(String one, String other) {
        assertThat(Version.of(one)).isEqualTo(Version.of(other)).hasSameHashCodeAs(Version.of(other));
        assertThat(Version.of(one).isOlderThan(Version.of(other))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "abc", "1.", ".1", "1..2", "-1", "1.2.3.4.5", "1.0-SNAPSHOT", "9999999999", "1 ", "١"})
    void whatIsNoVersion_isRefusedWithWhatWouldBe(String text) {
        assertThatThrownBy(() -> Version.of(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + text + "\" is no version")
                .hasMessageContaining("such as 0.1.0");
    }

    @Test
    void aLongText_isShownInPart() {
        assertThatThrownBy(() -> Version.of("x".repeat(1_000)))
                .hasMessageContaining("x".repeat(40) + "..\"")
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(200));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.2.0", "0.2.0-SNAPSHOT", "0.2.0-rc.1", "0.2.0+20270101"})
    void aBuild_countsAsItsRelease(String build) {
        assertThat(Version.ofBuild(build)).isEqualTo(Version.of("0.2.0")).hasToString("0.2.0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "${project.version}", "snapshot"})
    void aBuildWithoutAVersion_isRefused(String build) {
        assertThatThrownBy(() -> Version.ofBuild(build)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void thisRelease_knowsItsVersion() {
        assertThat(Release.current().version().isOlderThan(Version.of("0.1.0"))).isFalse();
    }
}
