package dev.millrace;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whether the database was ready for jobs at one moment.
 *
 * @param ready whether it answered, has a schema that this release may use, takes writes, and lets this role write jobs
 * @param reason why it is not, in words; null if it is
 * @param took how long the question took
 */
public record Readiness(boolean ready, @Nullable String reason, Duration took) {}
