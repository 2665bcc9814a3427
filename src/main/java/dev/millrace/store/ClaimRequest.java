package dev.millrace.store;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * A request for work.
 *
 * @param worker who asks: 1 to 512 characters
 * @param sources from which profiles and queues, at least one, the first first; start with another one each time
 * @param kinds only jobs of these kinds; empty for all
 * @param tokens a token for each job that may be claimed, random, and used by nobody before; their number is the
 *     limit, 1 to {@value #MAX_LIMIT}
 * @param thorough whether each job that can be claimed is found. Otherwise one may be passed over that came into its queue
 *     behind jobs which this process has claimed before: its transaction took longer than five seconds, or it was locked at that time. That
 *     spares reading the places of all that were claimed, where a long transaction keeps those from being cleared away. Whoever makes such
 *     requests makes a thorough one about every second, and before it takes the queue for empty
 */
public record ClaimRequest(
        String worker, List<Source> sources, List<String> kinds, List<UUID> tokens, boolean thorough) {
    /** The most jobs that one request may ask for. */
    public static final int MAX_LIMIT = 1_000;

    /** A queue as workers of one profile see it. */
    public record Source(String runtimeProfile, String queue) {
        /**
         * Checks the values.
         *
         * @param runtimeProfile see {@link #runtimeProfile()}
         * @param queue see {@link #queue()}
         * @throws InvalidJobException if a value is not allowed
         */
        public Source {
            Checks.name("runtimeProfile", runtimeProfile);
            Checks.name("queue", queue);
        }
    }

    /**
     * Checks the values.
     *
     * @param worker see {@link #worker()}
     * @param sources see {@link #sources()}
     * @param kinds see {@link #kinds()}
     * @param tokens see {@link #tokens()}
     * @param thorough see {@link #thorough()}
     * @throws InvalidJobException if a value is not allowed
     */
    public ClaimRequest {
        Checks.id("worker", worker);
        sources = List.copyOf(sources);
        kinds = List.copyOf(kinds);
        kinds.forEach(kind -> Checks.name("kinds", kind));
        tokens = List.copyOf(tokens);
        if (sources.isEmpty()) {
            throw new InvalidJobException("sources", "none", "at least one profile and queue");
        }
        if (tokens.isEmpty() || tokens.size() > MAX_LIMIT) {
            throw new InvalidJobException(
                    "limit", String.valueOf(tokens.size()), "a whole number from 1 to " + MAX_LIMIT);
        }
    }

    /**
     * {@return a thorough request for up to {@code limit} jobs, with fresh tokens}
     *
     * @param worker who asks: 1 to 512 characters
     * @param sources from which profiles and queues, at least one
     * @param kinds only jobs of these kinds; empty for all
     * @param limit 1 to {@value #MAX_LIMIT}
     */
    public static ClaimRequest of(String worker, List<Source> sources, List<String> kinds, int limit) {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new InvalidJobException("limit", String.valueOf(limit), "a whole number from 1 to " + MAX_LIMIT);
        }
        return new ClaimRequest(worker, sources, kinds, freshTokens(limit), true);
    }

    /** One is drawn; the others differ from it, and from each other, in the last ten of its 122 random bits. */
    private static List<UUID> freshTokens(int limit) {
        UUID drawn = UUID.randomUUID();
        return IntStream.range(0, limit)
                .mapToObj(i -> new UUID(drawn.getMostSignificantBits(), drawn.getLeastSignificantBits() ^ i))
                .toList();
    }

    /** {@return the same, but not {@link #thorough}} */
    public ClaimRequest quick() {
        return new ClaimRequest(worker, sources, kinds, tokens, false);
    }

    /** {@return how many jobs may be claimed} */
    public int limit() {
        return tokens.size();
    }
}
