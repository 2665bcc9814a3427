package dev.millrace.benchmarks.peers;

import dev.millrace.benchmarks.BenchDatabase;
import java.io.IOException;

/** How processes of a contender are started. */
interface Launch {
    /** What a process is for. */
    enum Role {
        /** It submits. */
        SUBMIT,
        /** It runs a worker. */
        WORK,
        /** It runs a worker, and submits by it. */
        BOTH
    }

    /** Makes the contender's tables. */
    void prepare(BenchDatabase database) throws Exception;

    /**
     * Starts a process, and waits until it takes commands.
     *
     * @param concurrency how many handlers a worker runs at a time
     * @param capacity how many runs there has to be room for
     */
    Peer start(BenchDatabase database, Role role, int concurrency, int capacity)
            throws IOException, InterruptedException;
}
