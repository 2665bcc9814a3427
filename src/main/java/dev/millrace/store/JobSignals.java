package dev.millrace.store;

import java.time.Duration;
import java.util.Set;

/**
 * Signals that jobs have come in, for those who would otherwise find out at their next poll. They are hints and nothing
 * else: one may be lost, come twice, or too late, so who listens polls as well.
 */
public interface JobSignals {
    /**
     * Begins to listen, on a connection that is used for nothing else until it is closed.
     *
     * @return what is heard
     * @throws StoreException if the database can't do it
     * @throws IllegalStateException in a caller's transaction, whose connection is not ours to listen on
     */
    Listening listen();

    /**
     * Sends a signal that is about no job, by which a listener can tell whether signals reach it.
     *
     * @param token what to recognise it by: 1 to 64 characters
     */
    void probe(String token);

    /** One who listens. For one thread. */
    interface Listening extends AutoCloseable {
        /**
         * Waits for signals.
         *
         * @param atMost how long, from 1 ms
         * @return what was heard since the last call; nothing if nothing was within this time, which also a connection
         *     that is silently dead looks like
         * @throws StoreUnavailableException if the connection is broken
         */
        Heard await(Duration atMost);

        /** Ends it, and gives the connection back. Throws nothing. */
        @Override
        void close();
    }

    /**
     * What was heard.
     *
     * @param queues where jobs have come in
     * @param probes the tokens of probes
     */
    record Heard(Set<String> queues, Set<String> probes) {
        /**
         * Copies the values.
         *
         * @param queues see {@link #queues()}
         * @param probes see {@link #probes()}
         */
        public Heard {
            queues = Set.copyOf(queues);
            probes = Set.copyOf(probes);
        }

        /** {@return whether that is nothing} */
        public boolean isEmpty() {
            return queues.isEmpty() && probes.isEmpty();
        }
    }
}
