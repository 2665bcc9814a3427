package dev.millrace.types;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * One JSON value as its text, exactly as it was written: {@code 1.00} stays {@code 1.00}, members keep their order, and the
 * escape of NUL ({@code backslash u0000}) is kept. Two are equal when their texts are, so {@code {}} and {@code { }} are
 * not.
 *
 * <p>The text is well-formed and can be stored: there is none with a lone surrogate, which has no UTF-8 (as an escape it
 * is kept in values and refused in names). Nesting, names,
 * numbers and strings are bounded by Jackson's default limits (among them 1,000 levels and numbers of 1,000 characters).
 * Immutable and safe for use by several threads.
 */
public final class JsonText {

    // Names are only checked: there is no reason to keep a table of them.
    private static final JsonFactory PARSERS = JsonFactory.builder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .build();

    private final String text;

    private JsonText(String text) {
        this.text = text;
    }

    /**
     * The value that this text is.
     *
     * @param text one JSON value, of any kind
     * @return the value, with the text unchanged
     * @throws IllegalArgumentException if the text isn't one well-formed JSON value. The message says where, but quotes
     *     nothing of the text, so that it can be logged.
     */
    public static JsonText of(String text) {
        refuseLoneSurrogates(text);
        refuseMalformed(text);
        return new JsonText(text);
    }

    /** The value that a json column holds: the database has checked it already. */
    static JsonText trusted(String text) {
        return new JsonText(text);
    }

    /** {@return the text of this value, as it was given} */
    public String text() {
        return text;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof JsonText that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** The text of this value, as it was given. */
    @Override
    public String toString() {
        return text;
    }

    private static void refuseLoneSurrogates(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                boolean paired = Character.isHighSurrogate(c)
                        && i + 1 < text.length()
                        && Character.isLowSurrogate(text.charAt(i + 1));
                if (!paired) {
                    throw new IllegalArgumentException("The JSON text has a lone surrogate at offset " + i + " of "
                            + text.length() + " characters; it has no UTF-8. Write characters outside of the basic "
                            + "plane as pairs.");
                }
                i++;
            }
        }
    }

    @SuppressWarnings("UnusedException") // Jackson's messages quote the text
    private static void refuseMalformed(String text) {
        try (JsonParser parser = PARSERS.createParser(text)) {
            int depth = 0;
            do {
                JsonToken token = parser.nextToken();
                if (token == null) {
                    throw malformed("ends before its value does", parser.currentLocation(), text);
                }
                depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
            } while (depth > 0);
            parser.finishToken();
            if (parser.nextToken() != null) {
                throw malformed("has more than one value", parser.currentTokenLocation(), text);
            }
        } catch (JsonProcessingException e) {
            throw malformed("is malformed or beyond a limit", e.getLocation(), text);
        } catch (IOException e) {
            throw new UncheckedIOException("Reading a string failed", e);
        }
    }

    private static IllegalArgumentException malformed(String how, @Nullable JsonLocation where, String text) {
        String place = where == null
                ? ""
                : " at line " + where.getLineNr() + ", column " + where.getColumnNr() + " (offset "
                        + where.getCharOffset() + ")";
        return new IllegalArgumentException("The JSON text " + how + place + "; it has " + text.length()
                + " characters and has to be one well-formed JSON value.");
    }
}
