package dev.millrace.job;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Whether and when a failed job runs again.
 *
 * <p>The delay before attempt {@code n + 1}, after {@code n} attempts that count: {@code base} if fixed, {@code n * base}
 * if linear, {@code 2^(n - 1) * base} if exponential; never longer than {@code cap}. With jitter {@code j} it is spread
 * evenly over {@code [(1 - j) * delay, delay]}, so that jobs that failed together don't come back together.
 *
 * @param maxAttempts how many attempts a job has, the first included; from 1
 * @param backoff how the delay grows
 * @param base the first delay, zero or longer
 * @param cap the longest delay; at least {@code base} unless that is refused as contradictory
 * @param jitter the share of the delay that is random, 0 to 1
 */
public record RetryPolicy(int maxAttempts, Backoff backoff, Duration base, Duration cap, double jitter) {
    /** How the delay grows with the number of attempts. */
    public enum Backoff {
        /** Always the same. */
        FIXED,
        /** By the base with each attempt. */
        LINEAR,
        /** Twice as long with each attempt. */
        EXPONENTIAL
    }

    /** Three attempts, exponential from 30 seconds to 10 minutes, a tenth of it random. */
    public static final RetryPolicy DEFAULT =
            new RetryPolicy(3, Backoff.EXPONENTIAL, Duration.ofSeconds(30), Duration.ofMinutes(10), 0.1);

    /** One attempt, no retry. */
    public static final RetryPolicy NEVER = DEFAULT.withMaxAttempts(1);

    /**
     * Checks the values.
     *
     * @param maxAttempts see {@link #maxAttempts()}
     * @param backoff see {@link #backoff()}
     * @param base see {@link #base()}
     * @param cap see {@link #cap()}
     * @param jitter see {@link #jitter()}
     * @throws InvalidJobException if a value is not allowed
     */
    public RetryPolicy {
        Checks.atLeast("retry.maxAttempts", maxAttempts, 1);
        Checks.given("retry.backoff", backoff);
        base = Checks.delay("retry.base", base);
        cap = Checks.delay("retry.cap", cap);
        if (cap.compareTo(base) < 0) {
            throw new InvalidJobException("retry.cap", cap + " with a base of " + base, "a cap of at least the base");
        }
        if (Double.isNaN(jitter) || jitter < 0 || jitter > 1) {
            throw new InvalidJobException("retry.jitter", String.valueOf(jitter), "a number from 0 to 1");
        }
    }

    /**
     * {@return a policy with the same delay before every attempt, without jitter}
     *
     * @param maxAttempts how many attempts a job has, the first included; from 1
     * @param delay zero or longer
     */
    public static RetryPolicy fixed(int maxAttempts, Duration delay) {
        return new RetryPolicy(maxAttempts, Backoff.FIXED, delay, delay, 0);
    }

    /**
     * {@return a policy with delays that grow by {@code base} with each attempt, up to {@code cap}}
     *
     * @param maxAttempts how many attempts a job has, the first included; from 1
     * @param base the first delay, zero or longer
     * @param cap the longest delay, at least {@code base}
     */
    public static RetryPolicy linear(int maxAttempts, Duration base, Duration cap) {
        return new RetryPolicy(maxAttempts, Backoff.LINEAR, base, cap, DEFAULT.jitter);
    }

    /**
     * {@return a policy with delays that double with each attempt, from {@code base} up to {@code cap}}
     *
     * @param maxAttempts how many attempts a job has, the first included; from 1
     * @param base the first delay, zero or longer
     * @param cap the longest delay, at least {@code base}
     */
    public static RetryPolicy exponential(int maxAttempts, Duration base, Duration cap) {
        return new RetryPolicy(maxAttempts, Backoff.EXPONENTIAL, base, cap, DEFAULT.jitter);
    }

    /**
     * {@return this policy with another maximum of attempts}
     *
     * @param value see {@link #maxAttempts()}
     */
    public RetryPolicy withMaxAttempts(int value) {
        return new RetryPolicy(value, backoff, base, cap, jitter);
    }

    /**
     * {@return this policy with another jitter}
     *
     * @param value see {@link #jitter()}
     */
    public RetryPolicy withJitter(double value) {
        return new RetryPolicy(maxAttempts, backoff, base, cap, value);
    }

    /**
     * {@return whether a job that has had this many attempts that count may have another one}
     *
     * @param attempts how many it has had
     */
    public boolean allowsAnother(int attempts) {
        return attempts < maxAttempts;
    }

    /**
     * {@return the delay before the next attempt after this many that count, with jitter} Never negative, never above
     * the cap.
     *
     * @param attempts how many it has had, from 1
     */
    public Duration delayAfter(int attempts) {
        return delayAfter(attempts, ThreadLocalRandom.current().nextDouble());
    }

    /** The same, with the random number from 0 (longest delay) to 1 (shortest) given. */
    Duration delayAfter(int attempts, double random) {
        long delay = fullMicros(Math.max(1, attempts));
        return micros(delay - (long) (delay * jitter * random));
    }

    private long fullMicros(int attempts) {
        long first = toMicros(base);
        long most = toMicros(cap);
        if (first == 0) {
            return 0;
        }
        // Compared by division: the product may not fit a long, however large the attempt number is.
        long factor = switch (backoff) {
            case FIXED -> 1;
            case LINEAR -> attempts;
            case EXPONENTIAL -> attempts > 62 ? Long.MAX_VALUE : 1L << (attempts - 1);
        };
        return factor > most / first ? most : first * factor;
    }

    private static long toMicros(Duration duration) {
        return Math.addExact(Math.multiplyExact(duration.getSeconds(), 1_000_000L), duration.getNano() / 1_000);
    }

    private static Duration micros(long micros) {
        return Duration.ofSeconds(micros / 1_000_000, micros % 1_000_000 * 1_000);
    }
}
