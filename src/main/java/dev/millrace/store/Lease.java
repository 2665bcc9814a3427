package dev.millrace.store;

import dev.millrace.job.Checks;
import java.time.Instant;

/**
 * A named right, and who holds it. To have one of these proves nothing: the database decides, each time, whether the
 * owner still holds it.
 *
 * @param key what is held: 1 to 512 characters, at most 2,048 bytes, compared bytewise
 * @param owner who holds it: the same limits. Two holders must never share one, also not one after the other: let it
 *     contain something random, as {@link HeldLease} does
 * @param expiresAt until when, by database time, as of the call that returned this; a renewal moves it
 */
public record Lease(String key, String owner, Instant expiresAt) {
    /**
     * Checks the values.
     *
     * @param key see {@link #key()}
     * @param owner see {@link #owner()}
     * @param expiresAt see {@link #expiresAt()}
     * @throws dev.millrace.job.InvalidJobException if a value is not allowed
     */
    public Lease {
        Checks.id("lease.key", key);
        Checks.id("lease.owner", owner);
    }
}
