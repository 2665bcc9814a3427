package dev.millrace.types;

import org.jooq.impl.AbstractConverter;
import org.jspecify.annotations.Nullable;

/**
 * Smallint columns that hold a {@link Priority} by its code, 0 being the most urgent. A code that this release doesn't
 * know is refused on reading, with an {@link IllegalArgumentException} that lists those it knows. Stateless and safe for
 * use by several threads. Public because the generated tables name it.
 */
public final class PriorityConverter extends AbstractConverter<Short, Priority> {

    private static final long serialVersionUID = 1L;

    /** A converter; it has no state, so that one can serve all. */
    public PriorityConverter() {
        super(Short.class, Priority.class);
    }

    @Override
    public @Nullable Priority from(@Nullable Short code) {
        return code == null ? null : Priority.of(code);
    }

    @Override
    public @Nullable Short to(@Nullable Priority priority) {
        return priority == null ? null : priority.code();
    }
}
