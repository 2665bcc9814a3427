package dev.millrace;

import java.security.SecureRandom;
import java.util.UUID;

/**
 * Ids for jobs that were given none: UUIDs of version 7 (RFC 9562, section 5.7), which begin with the time in
 * milliseconds, so that new rows go to the end of the primary key's index. Nothing else depends on that time.
 */
final class JobIds {
    private static final SecureRandom RANDOM = new SecureRandom();

    private JobIds() {}

    static String next() {
        byte[] random = new byte[10];
        RANDOM.nextBytes(random);
        long high = (System.currentTimeMillis() << 16) | 0x7000L | ((random[0] & 0x0fL) << 8) | (random[1] & 0xffL);
        long low = 0;
        for (int i = 2; i < random.length; i++) {
            low = (low << 8) | (random[i] & 0xffL);
        }
        return new UUID(high, (low & 0x3fffffffffffffffL) | 0x8000000000000000L).toString();
    }
}
