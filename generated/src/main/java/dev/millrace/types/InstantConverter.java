package dev.millrace.types;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import org.jooq.impl.AbstractConverter;
import org.jspecify.annotations.Nullable;

/** The driver's type of {@code timestamptz} columns and {@link Instant}; see {@link InstantBinding}. */
final class InstantConverter extends AbstractConverter<OffsetDateTime, Instant> {

    private static final long serialVersionUID = 1L;

    InstantConverter() {
        super(OffsetDateTime.class, Instant.class);
    }

    @Override
    public @Nullable Instant from(@Nullable OffsetDateTime time) {
        if (time == null) {
            return null;
        }
        // The driver's way to say infinity and -infinity.
        if (time.equals(OffsetDateTime.MAX) || time.equals(OffsetDateTime.MIN)) {
            throw new IllegalArgumentException("The database holds the timestamp "
                    + (time.equals(OffsetDateTime.MAX) ? "infinity" : "-infinity")
                    + ", which is no instant. Millrace never writes it: set the column to a time.");
        }
        return time.toInstant();
    }

    @Override
    public @Nullable OffsetDateTime to(@Nullable Instant instant) {
        return instant == null ? null : Microseconds.truncate(instant).atOffset(ZoneOffset.UTC);
    }
}
