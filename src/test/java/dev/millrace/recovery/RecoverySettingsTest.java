package dev.millrace.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RecoverySettingsTest {
    private static final RecoverySettings DEFAULT = RecoverySettings.DEFAULT;

    @Test
    void defaults_areThoseOfTheContract() {
        assertThat(DEFAULT.jobSweepInterval()).isEqualTo(Duration.ofSeconds(30));
        assertThat(DEFAULT.dispatchRepairAfter()).isEqualTo(Duration.ofSeconds(60));
        assertThat(DEFAULT.slowProbe()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void badValue_isRefusedWithItsNameWhatItWasWhatIsAllowedAndWhatToDo() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DEFAULT.withJobSweepInterval(Duration.ZERO))
                .withMessage(
                        "Invalid recovery setting jobSweepInterval: found PT0S, allowed is a duration from PT0.01S to"
                                + " PT24H. Set it within these limits, or leave it at its default of 30 s.");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DEFAULT.withDispatchRepairAfter(Duration.ofSeconds(-1)))
                .withMessageContaining("dispatchRepairAfter: found PT-1S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DEFAULT.withSlowProbe(Duration.ofDays(1)))
                .withMessageContaining("slowProbe: found PT24H");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DEFAULT.withSlowProbe(null))
                .withMessageContaining("slowProbe: found null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DEFAULT.withBatchSize(0))
                .withMessageContaining("batchSize: found 0, allowed is a whole number from 1 to 10000");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DEFAULT.withBatchSize(10_001))
                .withMessageContaining("batchSize");
    }

    @Test
    void eachValue_isSetWithoutTheOthers() {
        RecoverySettings changed = DEFAULT.withJobSweepInterval(Duration.ofSeconds(1))
                .withDispatchRepairAfter(Duration.ofSeconds(2))
                .withBatchSize(3)
                .withSlowProbe(Duration.ofMillis(4));
        assertThat(changed)
                .isEqualTo(new RecoverySettings(Duration.ofSeconds(1), Duration.ofSeconds(2), 3, Duration.ofMillis(4)));
    }
}
