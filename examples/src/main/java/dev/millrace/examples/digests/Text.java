package dev.millrace.examples.digests;

/** Numbers for people. */
final class Text {
    private Text() {}

    /** Such as {@code 1 file} or {@code 2 files}. */
    static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
