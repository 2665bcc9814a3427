package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.types.JsonText;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JobCodecTest {
    private final JobCodec codec = new JobCodec();

    private static Job job(String payload) {
        return Job.of("id", JobSpec.of("kind", JsonText.of(payload)), Instant.EPOCH);
    }

    private static String nested(int levels) {
        return "{\"a\":" + "[".repeat(levels - 1) + "]".repeat(levels - 1) + "}";
    }

    /** They stand two levels deep in the record, which nobody could read then. */
    @ParameterizedTest
    @ValueSource(ints = {999, 1_000})
    void parametersThatAreTooDeepWithinTheRecord_areRefused(int levels) {
        Job job = job(nested(levels));
        assertThatThrownBy(() -> codec.encode(job))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("can't be stored");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 900, 997, 998})
    void parametersThatAreDeep_comeBack(int levels) {
        String payload = nested(levels);
        assertThat(codec.decode("id", codec.encode(job(payload))).spec().parameters())
                .isEqualTo(JsonText.of(payload));
    }

    @Test
    void parametersThatAreWideOrHavePairs_comeBack() {
        for (String payload : new String[] {"{\"a\":[" + "{},".repeat(2_000) + "{}]}", "{\"a\" : \"\uD83D\uDE00\"}"}) {
            assertThat(codec.decode("id", codec.encode(job(payload))).spec().parameters())
                    .isEqualTo(JsonText.of(payload));
        }
    }
}
