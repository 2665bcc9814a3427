package dev.millrace.benchmarks;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** What the current thread has used up. */
public final class ThreadCosts {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private ThreadCosts() {}

    /** {@return the bytes that it has allocated since it began; the difference of two is what counts} */
    public static long allocatedBytes() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }

    /** {@return for how long it has been on a core since it began, in nanoseconds; waiting for the server is not part of it} */
    public static long cpuNanos() {
        return THREADS.getCurrentThreadCpuTime();
    }
}
