package dev.millrace.benchmarks.peers;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Which job was begun when, in one process. All that a handler does here is to say so. */
final class Recorder {
    private final int[] indexes;
    private final long[] micros;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();

    /** @param capacity how many runs there is room for, those of jobs that run twice included */
    Recorder(int capacity) {
        this.indexes = new int[capacity];
        this.micros = new long[capacity];
    }

    /** This job's handler was called. */
    void ran(int index) {
        long now = Micros.now();
        int at = next.getAndIncrement();
        indexes[at] = index;
        micros[at] = now;
        ended.incrementAndGet();
    }

    /** How many runs there were. */
    int count() {
        return ended.get();
    }

    /** All of them, each as the number of the job and the time. */
    List<List<Long>> runs() {
        List<List<Long>> runs = new ArrayList<>();
        for (int at = 0; at < count(); at++) {
            runs.add(List.of((long) indexes[at], micros[at]));
        }
        return runs;
    }
}
