package dev.millrace.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PayloadTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 9, 10, 19_999})
    void payload_isAsLong_forWhoeverTakesIt(int index) throws Exception {
        ObjectMapper json = new ObjectMapper();
        String text = Payload.text(index);
        assertThat(json.writeValueAsBytes(Payload.of(index))).hasSize(Payload.BYTES);
        assertThat(text.getBytes(StandardCharsets.UTF_8)).hasSize(Payload.BYTES);
        assertThat(json.readTree(text).get("n").asInt()).isEqualTo(index);
        assertThat(Payload.index(text)).isEqualTo(index);
    }
}
