package dev.millrace.job;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A request to cancel a job. Once accepted it stays with the job.
 *
 * @param at when it was accepted, in database time
 * @param by who asked, at most 512 characters; null if not said
 * @param why the reason given, at most 2,000 characters; null if not said
 */
public record Cancellation(
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
    public Cancellation {
        at = Checks.instant("cancellation.at", at);
        checkBy(by);
        checkWhy(why);
    }

    /**
     * Checks who asked and why, before a request is made of them.
     *
     * @param by who asked, at most 512 characters, or null
     * @param why the reason given, at most 2,000 characters, or null
     * @throws InvalidJobException if one is too long, or can't be stored
     */
    public static void check(@Nullable String by, @Nullable String why) {
        checkBy(by);
        checkWhy(why);
    }

    private static void checkBy(@Nullable String by) {
        Checks.reference("cancellation.by", by);
    }

    private static void checkWhy(@Nullable String why) {
        if (why != null) {
            Checks.text("cancellation.why", why, MAX_WHY, MAX_WHY * 4);
        }
    }
}
