package dev.millrace.worker;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is closed with a worker. Helpers, such as reconcilers, may have to wait for a database that doesn't answer: each has a
 * thread of its own for that, so that their waits don't add up. The others come after them, the last first; nothing of the
 * worker uses them by then.
 */
final class Companions {
    private static final Logger LOG = LoggerFactory.getLogger(Companions.class);

    /** Helpers bound their closing themselves; this is for one that doesn't. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(8);

    private final List<AutoCloseable> helpers;
    private final List<AutoCloseable> others;
    private final List<Thread> closing = new ArrayList<>();
    private boolean begun;
    private long begunAt;

    Companions(List<AutoCloseable> helpers, List<AutoCloseable> others) {
        this.helpers = helpers;
        this.others = others;
    }

    /** Helpers begin to close. Waits for none. */
    void beginToClose() {
        if (begun) {
            return;
        }
        begun = true;
        begunAt = System.nanoTime();
        for (AutoCloseable helper : helpers) {
            try {
                Thread thread = new Thread(() -> close(helper), "millrace-close");
                thread.setDaemon(true);
                thread.start();
                closing.add(thread);
            } catch (Throwable e) {
                close(helper); // there is no thread for it
            }
        }
    }

    /** All are closed. */
    void close() {
        beginToClose();
        awaitHelpers();
        List<AutoCloseable> lastFirst = new ArrayList<>(others);
        Collections.reverse(lastFirst);
        lastFirst.forEach(Companions::close);
    }

    private void awaitHelpers() {
        long until = begunAt + PATIENCE_NANOS;
        try {
            for (Thread thread : closing) {
                thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void close(AutoCloseable companion) {
        try {
            companion.close();
        } catch (Throwable e) {
            Failures.survive(() -> LOG.error("{} could not be closed.", companion, e));
        }
    }
}
