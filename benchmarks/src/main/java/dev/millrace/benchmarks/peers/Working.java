package dev.millrace.benchmarks.peers;

/** A worker: it is connected and built, and runs when it is told to. */
interface Working extends AutoCloseable {
    /** Starts it. */
    void start() throws Exception;

    /** For submitting in the worker's own process, by the worker itself where that makes a difference. */
    Submitter here() throws Exception;

    /** Ends it in order. */
    @Override
    void close();
}
