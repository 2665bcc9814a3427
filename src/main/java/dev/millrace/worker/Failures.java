package dev.millrace.worker;

import dev.millrace.job.Messages;
import dev.millrace.store.SchemaNotReadyException;
import dev.millrace.store.StoreUnavailableException;

/** Deals with failures whose own methods, or whose reporting, may fail as well. */
final class Failures {
    private Failures() {}

    /** The failure's class and message, bounded; the class alone if it can't say its message. */
    @SuppressWarnings("UnusedException") // the failure of a failure's getMessage() says nothing about the job
    static String describe(Throwable failure) {
        try {
            return Messages.of(failure);
        } catch (Throwable e) {
            return failure.getClass().getName();
        }
    }

    /**
     * Whether every statement meets this failure, whatever it is about: the database is away, or its schema may not be
     * used. It passes by itself or by an operator's hand, and until then it is said once rather than at each repetition.
     */
    static boolean concernsAll(Throwable failure) {
        return failure instanceof StoreUnavailableException || failure instanceof SchemaNotReadyException;
    }

    /** Reports a failure. If not even that can be done, such as when memory is out, the loop that failed goes on. */
    @SuppressWarnings("UnusedException") // there is nowhere left to report it
    static void survive(Runnable report) {
        try {
            report.run();
        } catch (Throwable e) {
            // the loop's next turn is worth more than this report
        }
    }
}
