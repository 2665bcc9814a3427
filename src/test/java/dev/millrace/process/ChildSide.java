package dev.millrace.process;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * What all child processes have in common: they take orders from their standard input, one a line, and tell what happens
 * on their standard output, one a line. When the input ends their parent is gone, or done with them, and they end at once.
 */
final class ChildSide {
    /** Said once the process is ready for orders. */
    static final String READY = "ready";

    private static final int PARENT_IS_GONE = 3;

    /** What to do with an order, given its words. */
    interface Orders {
        void take(String[] words) throws Exception;
    }

    private ChildSide() {}

    static void say(String event) {
        synchronized (System.out) {
            System.out.println(event);
            System.out.flush();
        }
    }

    /** Takes orders until there are no more, and ends the process. */
    static void obey(Orders orders) throws Exception {
        say(READY);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        while ((line = lines.readLine()) != null) {
            orders.take(line.split(" ", -1));
        }
        Runtime.getRuntime().halt(PARENT_IS_GONE);
    }
}
