package dev.millrace.benchmarks.peers;

import java.util.Locale;

/**
 * What each job carries, whoever runs it: a JSON object of {@value #BYTES} bytes with the number of the job.
 *
 * @param n the number, from 0
 * @param pad fills it up
 */
record Payload(int n, String pad) {
    static final int BYTES = 100;

    private static final int DIGITS = 8;
    private static final String BEGINNING = "{\"n\":\"";

    /** The same for contenders that take objects: as JSON it is as long as the text. */
    static Payload of(int index) {
        int rest =
                BYTES - "{\"n\":,\"pad\":\"\"}".length() - String.valueOf(index).length();
        return new Payload(index, "x".repeat(rest));
    }

    /** For contenders that take text. */
    static String text(int index) {
        String text = BEGINNING + String.format(Locale.ROOT, "%0" + DIGITS + "d", index) + "\",\"pad\":\"";
        return text + "x".repeat(BYTES - text.length() - 2) + "\"}";
    }

    static int index(String text) {
        int from = BEGINNING.length();
        return Integer.parseInt(text.substring(from, from + DIGITS));
    }
}
