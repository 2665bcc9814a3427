package dev.millrace;

import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Ids for jobs that were given none: UUIDs of version 7 (RFC 9562, section 5.7), which begin with the time in
 * milliseconds, so that new rows go to the end of the primary key's index. Nothing else depends on that time.
 */
final class JobIds {
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Milliseconds, and below them 12 bits that count within one: of the id that was made last. */
    private static final AtomicLong LAST = new AtomicLong();

    private JobIds() {}

    static String next() {
        byte[] random = new byte[10];
        RANDOM.nextBytes(random);
        // Half of the counter's range is left for those that follow in the same millisecond; more than that go on in
        // the next.
        long first = (System.currentTimeMillis() << 12) | ((random[0] & 0x07L) << 8) | (random[1] & 0xffL);
        long now = LAST.updateAndGet(last -> Math.max(last + 1, first));
        long high = ((now >>> 12) << 16) | 0x7000L | (now & 0xfffL);
        long low = 0;
        for (int i = 2; i < random.length; i++) {
            low = (low << 8) | (random[i] & 0xffL);
        }
        return new UUID(high, (low & 0x3fffffffffffffffL) | 0x8000000000000000L).toString();
    }
}
