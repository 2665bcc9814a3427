package dev.millrace.job;

import org.jspecify.annotations.Nullable;

/**
 * How far an attempt has come, as it reports it.
 *
 * @param percent 0 to 100, or null to leave it as it is
 * @param phase what it is doing, 1 to 512 characters, or null to leave it as it is
 */
public record Progress(@Nullable Double percent, @Nullable String phase) {
    /**
     * Checks the values.
     *
     * @param percent see {@link #percent()}
     * @param phase see {@link #phase()}
     * @throws InvalidJobException if a value is not allowed
     */
    public Progress {
        if (percent != null) {
            Checks.percent("percent", percent);
        }
        if (phase != null) {
            Checks.text("phase", phase, Checks.MAX_ID_CHARACTERS, Checks.MAX_ID_BYTES);
        }
    }
}
