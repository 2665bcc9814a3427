package dev.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.job.InvalidJobException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ClaimRequestTest {
    private static ClaimRequest request(int limit) {
        return ClaimRequest.of("w", List.of(new ClaimRequest.Source("profile", "queue")), List.of(), limit);
    }

    @Test
    void tokens_areRandomUuids_andNoTwoAreTheSame_inOneRequestOrInAnother() {
        Set<UUID> tokens = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            ClaimRequest request = request(ClaimRequest.MAX_LIMIT);
            assertThat(request.tokens()).hasSize(ClaimRequest.MAX_LIMIT);
            tokens.addAll(request.tokens());
        }
        assertThat(tokens).hasSize(100 * ClaimRequest.MAX_LIMIT).allMatch(token -> token.version() == 4);
    }

    @Test
    void quickRequest_hasTheSameTokens() {
        ClaimRequest request = request(7);
        assertThat(request.quick().tokens()).isEqualTo(request.tokens());
        assertThat(request.quick().thorough()).isFalse();
    }

    @Test
    void limit_outOfItsRange_isRefused() {
        for (int limit : new int[] {-1, 0, ClaimRequest.MAX_LIMIT + 1}) {
            assertThatThrownBy(() -> request(limit))
                    .isInstanceOf(InvalidJobException.class)
                    .hasMessageContaining("1 to 1000");
        }
    }
}
