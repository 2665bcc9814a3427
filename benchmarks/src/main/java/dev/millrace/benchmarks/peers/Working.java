package dev.millrace.benchmarks.peers;

/** A worker that runs. */
interface Working extends AutoCloseable {
    /** For submitting in the worker's own process, by the worker itself where that makes a difference. */
    Submitter here() throws Exception;

    /** Ends it in order. */
    @Override
    void close();
}
