package dev.millrace.examples.digests;

/** Prints whether its output is a terminal. */
final class TerminalProbe {
    private TerminalProbe() {}

    public static void main(String[] args) {
        System.out.println("terminal: " + Terminal.isStandardOutput());
    }
}
