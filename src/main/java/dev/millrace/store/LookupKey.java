package dev.millrace.store;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A value that jobs are found by. Blanks around it and upper or lower case don't matter: both are evened out here, for
 * the keys that are written with a job as well as for those that are asked for.
 *
 * @param dimension what kind of value it is
 * @param value trimmed and in upper case
 */
public record LookupKey(Dimension dimension, String value) {
    private static final int MAX_CHARACTERS = 512;
    private static final int MAX_BYTES = 2048;

    /** Upper case can be three times as long, and an index row is bounded. */
    private static final int MAX_KEY_BYTES = 2600;

    /**
     * Evens the value out.
     *
     * @param dimension see {@link #dimension()}
     * @param value 1 to 512 characters, at most 2,048 bytes, and as a key, in upper case, at most 2,600; not blank
     * @throws InvalidJobException if a value is not allowed
     */
    public LookupKey {
        if (dimension == null) {
            throw new InvalidJobException("dimension", "null", "a value");
        }
        Checks.text(dimension.literal(), value, MAX_CHARACTERS, MAX_BYTES);
        value = value.strip().toUpperCase(Locale.ROOT);
        if (value.isEmpty()) {
            throw new InvalidJobException(dimension.literal(), "nothing but blanks", "text that is not blank");
        }
        int bytes = (dimension.literal() + ':' + value).getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_KEY_BYTES) {
            throw new InvalidJobException(
                    dimension.literal(),
                    bytes + " bytes in upper case",
                    "at most " + MAX_KEY_BYTES + " bytes in upper case");
        }
    }

    /** {@return the key as it stands in the database: {@code dimension:VALUE}} */
    public String text() {
        return dimension.literal() + ':' + value;
    }
}
