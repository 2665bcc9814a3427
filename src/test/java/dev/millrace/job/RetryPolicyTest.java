package dev.millrace.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryPolicyTest {
    private static RetryPolicy policy(RetryPolicy.Backoff backoff, double jitter) {
        return new RetryPolicy(3, backoff, Duration.ofSeconds(10), Duration.ofMinutes(2), jitter);
    }

    @Test
    void delays_growAsThePolicySays() {
        RetryPolicy fixed = policy(RetryPolicy.Backoff.FIXED, 0);
        RetryPolicy linear = policy(RetryPolicy.Backoff.LINEAR, 0);
        RetryPolicy exponential = policy(RetryPolicy.Backoff.EXPONENTIAL, 0);
        assertThat(fixed.delayAfter(1)).isEqualTo(fixed.delayAfter(99)).isEqualTo(Duration.ofSeconds(10));
        assertThat(linear.delayAfter(3)).isEqualTo(Duration.ofSeconds(30));
        assertThat(exponential.delayAfter(1)).isEqualTo(Duration.ofSeconds(10));
        assertThat(exponential.delayAfter(4)).isEqualTo(Duration.ofSeconds(80));
        assertThat(exponential.delayAfter(5)).isEqualTo(Duration.ofMinutes(2));
    }

    /** Field case A15: whatever the attempt's number, monotone, capped, never negative, never a throw. */
    @ParameterizedTest
    @EnumSource(RetryPolicy.Backoff.class)
    void delay_ofAnyAttempt_isMonotoneAndCapped(RetryPolicy.Backoff backoff) {
        RetryPolicy long1 = new RetryPolicy(3, backoff, Duration.ofDays(10_000), Duration.ofDays(10_000), 0);
        Duration last = Duration.ZERO;
        for (int attempt : new int[] {Integer.MIN_VALUE, -1, 0, 1, 2, 31, 62, 63, 64, 310, Integer.MAX_VALUE}) {
            Duration delay = policy(backoff, 0).delayAfter(attempt);
            assertThat(delay).isBetween(last, Duration.ofMinutes(2));
            last = delay;
            assertThat(long1.delayAfter(attempt)).isEqualTo(Duration.ofDays(10_000));
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1, 0.5, 1})
    void jitter_shortensByItsShareAtMost(double jitter) {
        RetryPolicy policy = policy(RetryPolicy.Backoff.FIXED, jitter);
        assertThat(policy.delayAfter(1, 0)).isEqualTo(Duration.ofSeconds(10));
        for (int i = 0; i < 1_000; i++) {
            assertThat(policy.delayAfter(1).toMillis()).isBetween((long) (10_000 * (1 - jitter)), 10_000L);
        }
    }

    @Test
    void zeroBase_isNoDelay() {
        assertThat(RetryPolicy.fixed(3, Duration.ZERO).delayAfter(5)).isZero();
    }
}
