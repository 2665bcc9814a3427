package dev.millrace.store.postgres;

import dev.millrace.job.InvalidJobException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A place in a log, as callers carry it around: which sequence comes next. */
final class LogCursor {
    private static final Pattern FORM = Pattern.compile("log:(0|[1-9][0-9]{0,17})");

    private LogCursor() {}

    static String of(long sequence) {
        byte[] text = ("log:" + sequence).getBytes(StandardCharsets.US_ASCII);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text);
    }

    /**
     * The place that a cursor is of.
     *
     * @throws InvalidJobException if it is none
     */
    static long sequence(String cursor) {
        try {
            String text = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.ISO_8859_1);
            Matcher form = FORM.matcher(text);
            if (form.matches()) {
                return Long.parseLong(form.group(1));
            }
        } catch (IllegalArgumentException e) {
            throw refused(cursor);
        }
        throw refused(cursor);
    }

    private static InvalidJobException refused(String cursor) {
        return new InvalidJobException(
                "cursor",
                cursor.length() + " characters that are no cursor",
                "the \"next\" of an earlier page or tail of a log, unchanged, or null for the beginning");
    }
}
