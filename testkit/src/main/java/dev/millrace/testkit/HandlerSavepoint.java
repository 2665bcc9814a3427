package dev.millrace.testkit;

import dev.millrace.worker.InlineWorker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.concurrent.Callable;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;

/**
 * A savepoint around a handler that runs in the test's transaction. PostgreSQL refuses everything in a transaction after
 * an error, and so the outcome of the handler that made it, too: then the transaction goes back to the savepoint. What a
 * handler writes before an exception of another kind stays.
 *
 * <p>For one run.
 */
final class HandlerSavepoint implements InlineWorker.Around {
    /** Asked of the server rather than of the driver, whose connection may be behind a proxy that hides it. */
    private static final String FAILED_TRANSACTION = "25P02";

    private final DSLContext dsl;
    private @Nullable IllegalStateException ended;

    HandlerSavepoint(DSLContext dsl) {
        this.dsl = dsl;
    }

    /** What to throw rather than anything else: the handler has ended the test's transaction. */
    @Nullable
    IllegalStateException ended() {
        return ended;
    }

    @Override
    public void call(Callable<?> handler) throws Exception {
        Savepoint savepoint = dsl.connectionResult(Connection::setSavepoint);
        try {
            handler.call();
        } catch (Throwable e) {
            leave(savepoint);
            throw e;
        }
        if (leave(savepoint)) {
            throw new IllegalStateException("An SQL error ended the test's transaction while the handler ran, and the"
                    + " handler went on. In production its commit would fail, or it is in no transaction: then run the job"
                    + " outside of the test's.");
        }
    }

    /** Gives the savepoint up. True if the transaction had to go back to it. */
    private boolean leave(Savepoint savepoint) {
        try {
            return dsl.connectionResult(connection -> {
                try {
                    connection.releaseSavepoint(savepoint);
                    return false;
                } catch (SQLException e) {
                    if (!FAILED_TRANSACTION.equals(e.getSQLState())) {
                        throw e;
                    }
                    connection.rollback(savepoint);
                    connection.releaseSavepoint(savepoint);
                    return true;
                }
            });
        } catch (DataAccessException e) {
            ended = new IllegalStateException(
                    "The handler has ended the test's transaction, by a commit or rollback of its own: nothing is left of"
                            + " it to roll back, and what was committed stays. A handler that does so has to be run outside"
                            + " of the test's transaction.",
                    e);
            return false;
        }
    }
}
