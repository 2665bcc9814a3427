package dev.millrace.benchmarks.peers;

import dev.millrace.benchmarks.BenchDatabase;

/** A contender in Java, as it is set up here. */
interface Engine {
    /** Makes its tables. */
    void prepare(BenchDatabase database) throws Exception;

    /** Connects for submitting. */
    Submitter submitter(PeerDatabase database) throws Exception;

    /**
     * Connects and builds a worker, which is to be started.
     *
     * @param concurrency how many handlers run at a time
     * @param recorder is to be told by each handler
     */
    Working worker(PeerDatabase database, int concurrency, Recorder recorder) throws Exception;
}
