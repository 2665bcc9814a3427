package dev.millrace.job;

import org.jspecify.annotations.Nullable;

/** Makes any text fit to be stored as a message: bounded, without characters that PostgreSQL or a terminal mind. */
public final class Messages {
    /** The longest message that is kept, in characters. */
    public static final int MAX_CHARACTERS = 2_000;

    private static final String CUT = "... (cut)";

    private Messages() {}

    /**
     * {@return the text without control characters and lone surrogates, cut to {@value #MAX_CHARACTERS} characters}
     *
     * @param text any text, or null
     */
    public static @Nullable String bounded(@Nullable String text) {
        if (text == null) {
            return null;
        }
        StringBuilder clean = new StringBuilder(Math.min(text.length(), MAX_CHARACTERS));
        int i = 0;
        while (i < text.length()) {
            if (clean.length() > MAX_CHARACTERS - CUT.length() - 2 && text.length() - i > CUT.length()) {
                return clean.append(CUT).toString();
            }
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            clean.appendCodePoint(clean(c));
        }
        return clean.toString();
    }

    /**
     * {@return the same character, or U+FFFD for a control character or lone surrogate}
     *
     * @param codePoint any character
     */
    public static int clean(int codePoint) {
        boolean kept = codePoint == '\n'
                || codePoint == '\t'
                || !(Character.isISOControl(codePoint) || isSurrogate(codePoint));
        return kept ? codePoint : '\uFFFD';
    }

    /**
     * {@return what a failure says for itself: its class and message, bounded}
     *
     * @param failure what was thrown
     */
    public static String of(Throwable failure) {
        String message = failure.getMessage();
        String name = failure.getClass().getName();
        String bounded = bounded(message == null || message.isBlank() ? name : name + ": " + message);
        return bounded == null ? name : bounded;
    }

    private static boolean isSurrogate(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }
}
