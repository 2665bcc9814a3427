package dev.millrace.types;

import org.jooq.impl.AbstractConverter;
import org.jspecify.annotations.Nullable;

/**
 * Text columns that hold a {@link JobStatus} by its literal. A literal that this release doesn't know is refused on
 * reading, with an {@link IllegalArgumentException} that lists those it knows. Stateless and safe for use by several
 * threads. Public because the generated tables name it.
 */
public final class JobStatusConverter extends AbstractConverter<String, JobStatus> {

    private static final long serialVersionUID = 1L;

    /** A converter; it has no state, so that one can serve all. */
    public JobStatusConverter() {
        super(String.class, JobStatus.class);
    }

    @Override
    public @Nullable JobStatus from(@Nullable String literal) {
        return literal == null ? null : JobStatus.of(literal);
    }

    @Override
    public @Nullable String to(@Nullable JobStatus status) {
        return status == null ? null : status.literal();
    }
}
