package dev.millrace.store.postgres;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;

/**
 * The last job of a page, by what lists are ordered by. It says a place in the order, not a row, so the job may be
 * deleted. To callers it is a text that they hand back: the url-safe base64 of the microseconds since 1970 and the id.
 */
record JobCursor(Instant createdAt, String id) {
    private static final String ALLOWED = "the \"next\" of a page, unchanged";

    /**
     * @throws InvalidJobException if it was not made by {@link #text}
     */
    static JobCursor of(String text) {
        try {
            ByteBuffer bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(text));
            if (bytes.remaining() <= Long.BYTES) {
                throw malformed(text);
            }
            Instant createdAt = Instant.EPOCH.plus(bytes.getLong(), ChronoUnit.MICROS);
            String id = StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
            return new JobCursor(Checks.instant("cursor", createdAt), Checks.id("cursor", id));
        } catch (IllegalArgumentException | CharacterCodingException e) {
            throw malformed(text);
        }
    }

    private static InvalidJobException malformed(String text) {
        return new InvalidJobException("cursor", text.length() + " characters that are no cursor", ALLOWED);
    }

    String text() {
        byte[] utf8 = id.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES + utf8.length)
                .putLong(createdAt.getEpochSecond() * 1_000_000 + createdAt.getNano() / 1_000)
                .put(utf8);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.array());
    }
}
