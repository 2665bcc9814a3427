package dev.millrace.examples.digests;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Shows how far it is: on a terminal as a bar that is drawn over itself, elsewhere as a line for each tenth, at most one
 * a second.
 */
final class Display {
    private static final int WIDTH = 30;
    private static final String CLEAR_LINE = "\r\u001b[K";
    private static final long SECOND = 1_000_000_000;

    private final PrintStream out;
    private final boolean terminal;
    private final LongSupplier clock;
    private String bar = "";
    private int saidTenths;
    private long saidAt;

    /** @param clock monotonic, in nanoseconds */
    Display(PrintStream out, boolean terminal, LongSupplier clock) {
        this.out = out;
        this.terminal = terminal;
        this.clock = clock;
        this.saidAt = clock.getAsLong() - SECOND;
    }

    /** Prints a line, above the bar if there is one. */
    void say(String line) {
        if (bar.isEmpty()) {
            out.println(line);
        } else {
            out.print(CLEAR_LINE + line + System.lineSeparator() + bar);
        }
        out.flush();
    }

    /** @param total from 1 */
    void progress(int done, int total) {
        int percent = (int) (100L * done / total);
        if (terminal) {
            draw(bar(percent, done, total));
        } else if (percent / 10 > saidTenths && clock.getAsLong() - saidAt >= SECOND) {
            saidTenths = percent / 10;
            saidAt = clock.getAsLong();
            out.println(String.format(Locale.ROOT, "%3d %%  %d of %d jobs", percent, done, total));
            out.flush();
        }
    }

    /** Ends the bar; what is printed next begins on a line of its own. */
    void end() {
        if (!bar.isEmpty()) {
            out.println();
            out.flush();
            bar = "";
        }
    }

    private void draw(String drawn) {
        if (!drawn.equals(bar)) {
            bar = drawn;
            out.print(CLEAR_LINE + bar);
            out.flush();
        }
    }

    private static String bar(int percent, int done, int total) {
        int full = percent * WIDTH / 100;
        return String.format(
                Locale.ROOT,
                "[%s%s] %3d %%  %d of %d jobs",
                "#".repeat(full),
                ".".repeat(WIDTH - full),
                percent,
                done,
                total);
    }
}
