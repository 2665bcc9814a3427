package dev.millrace.examples.digests;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;

/** Tells whether the standard output is a terminal. */
final class Terminal {
    private Terminal() {}

    /**
     * Asks {@code test -t 1}, which inherits this process's output. {@link System#console} would not do: since JDK 22
     * there is one also where the output goes to a file. Where there is no such program, nothing counts as a terminal.
     */
    static boolean isStandardOutput() {
        try {
            Process test = new ProcessBuilder("test", "-t", "1")
                    .redirectOutput(Redirect.INHERIT)
                    .start();
            return test.waitFor() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
