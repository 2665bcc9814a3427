package dev.millrace.benchmarks.peers;

/** Submits jobs. For one thread. */
interface Submitter extends AutoCloseable {
    /** Submits one, in a transaction of its own, and returns when that is committed. */
    void one(int index) throws Exception;

    /** Submits those from {@code from} until before {@code to}, in the largest portions that its API offers. */
    void many(int from, int to) throws Exception;

    @Override
    default void close() {}
}
