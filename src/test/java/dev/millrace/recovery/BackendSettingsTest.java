package dev.millrace.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class BackendSettingsTest {
    private static final BackendSettings DEFAULT = BackendSettings.DEFAULT;

    @Test
    void defaults_areThoseOfTheDocumentation() {
        assertThat(DEFAULT.backendSweepInterval()).hasSeconds(5);
        assertThat(DEFAULT.lease().duration()).hasSeconds(30);
        assertThat(DEFAULT.lease().renewInterval()).hasSeconds(10);
        assertThat(DEFAULT.callTimeout()).hasSeconds(30);
        assertThat(DEFAULT.missingBackendGrace()).hasSeconds(60);
        assertThat(DEFAULT.resultRetention()).hasDays(7);
    }

    @Test
    void valuesOutOfRange_areRefused_byNameAndValue() {
        List.<Runnable>of(
                        () -> DEFAULT.withBackendSweepInterval(Duration.ofMillis(9)),
                        () -> DEFAULT.withBatchSize(0),
                        () -> DEFAULT.withBatchSize(10_001),
                        () -> DEFAULT.withConcurrency(0),
                        () -> DEFAULT.withConcurrency(257),
                        () -> DEFAULT.withCallTimeout(Duration.ofHours(2)),
                        () -> DEFAULT.withMissingBackendGrace(Duration.ofMillis(-1)),
                        () -> DEFAULT.withResultRetention(Duration.ofDays(-1)))
                .forEach(bad -> assertThatThrownBy(bad::run)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("Invalid backend setting")
                        .hasMessageContaining("or leave it at its default"));
        assertThatThrownBy(() -> DEFAULT.withCallTimeout(Duration.ofHours(2))).hasMessageContaining("callTimeout");
    }
}
