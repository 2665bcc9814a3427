package dev.millrace.job;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * That somebody had an ended job run again.
 *
 * @param at when, in database time
 * @param by who, at most 512 characters; null if not said
 * @param why the reason given, at most 2,000 characters; null if not said
 */
public record ManualRetry(
        Instant at, @Nullable String by, @Nullable String why) {
    private static final int MAX_WHY = 2_000;

    /**
     * Checks the values.
     *
     * @param at see {@link #at()}
     * @param by see {@link #by()}
     * @param why see {@link #why()}
     * @throws InvalidJobException if a value is not allowed
     */
    public ManualRetry {
        at = Checks.instant("retried.at", at);
        check(by, why);
    }

    /**
     * Checks who asks and why, before anything is made of them.
     *
     * @param by who asks, at most 512 characters, or null
     * @param why the reason given, at most 2,000 characters, or null
     * @throws InvalidJobException if one is too long, or can't be stored
     */
    public static void check(@Nullable String by, @Nullable String why) {
        Checks.reference("retried.by", by);
        if (why != null) {
            Checks.text("retried.why", why, MAX_WHY, MAX_WHY * 4);
        }
    }

    /**
     * {@return whether it was this person for this reason}
     *
     * @param person who, or null
     * @param reason why, or null
     */
    public boolean isOf(@Nullable String person, @Nullable String reason) {
        return Objects.equals(by, person) && Objects.equals(why, reason);
    }
}
