package dev.millrace.types;

import org.jooq.JSON;
import org.jooq.impl.AbstractConverter;
import org.jspecify.annotations.Nullable;

/**
 * Json columns as {@link JsonText}: the text goes in and comes out unchanged, so that big numbers, trailing zeros and the
 * escape of NUL survive. What the database returns is not parsed again. Stateless and safe for use by several threads.
 * Public because the generated tables name it.
 */
public final class JsonTextConverter extends AbstractConverter<JSON, JsonText> {

    private static final long serialVersionUID = 1L;

    /** A converter; it has no state, so that one can serve all. */
    public JsonTextConverter() {
        super(JSON.class, JsonText.class);
    }

    @Override
    public @Nullable JsonText from(@Nullable JSON json) {
        return json == null ? null : JsonText.trusted(json.data());
    }

    @Override
    public @Nullable JSON to(@Nullable JsonText json) {
        return json == null ? null : JSON.json(json.text());
    }
}
