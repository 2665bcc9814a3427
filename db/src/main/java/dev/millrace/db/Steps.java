package dev.millrace.db;

import dev.millrace.db.Failures.Situation;
import dev.millrace.db.MigrationException.Reason;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the steps of a migration, each in one transaction that waits for nothing without end.
 *
 * <p>Steps that write take turns across all nodes, through an advisory lock that ends with its transaction. It is asked
 * for, never waited for: between two questions a node holds neither a connection nor a place in a lock queue.
 */
record Steps(DataSource dataSource, SchemaName schema, Duration lockTimeout, int lockAttempts, Duration waitForOthers) {

    private static final Logger LOG = LoggerFactory.getLogger(Steps.class);

    /** The least pause between two tries; up to as much again is added at random, so that nodes don't move in step. */
    private static final long PAUSE_MILLIS = 50;

    /**
     * What passes by itself: a lock_timeout, a deadlock, and somebody else's CREATE SCHEMA that was committed while
     * ours waited for it (a duplicate schema, or a duplicate key in its catalog).
     */
    private static final Set<String> PASSING = Set.of("55P03", "40P01", "42P06", "23505");

    /** What a step does. What it has not committed when it returns is rolled back. */
    @FunctionalInterface
    interface Work<T> {
        T run(Step step) throws SQLException;
    }

    /** The transaction of one step, and what it is about at the moment. */
    static final class Step {

        private final OneTransaction transaction;
        private final Progress progress;

        private Step(OneTransaction transaction, Progress progress) {
            this.transaction = transaction;
            this.progress = progress;
        }

        OneTransaction transaction() {
            return transaction;
        }

        void now(Doing doing) {
            progress.situation = new Situation(doing, transaction.role(), transaction.database());
        }
    }

    private static final class Progress {
        private Situation situation = new Situation(Doing.CONNECTING, null, null);
    }

    /** Reads, in a transaction that can't write. */
    <T> T read(Work<T> work) {
        return withAttempts(() -> inTransaction(true, step -> {
            step.now(Doing.READING);
            return work.run(step);
        }));
    }

    /** Writes, once it is this node's turn. */
    <T> T write(Work<T> work) {
        return withAttempts(() -> onOurTurn(work));
    }

    private <T> T onOurTurn(Work<T> work) {
        long deadline = System.nanoTime() + waitForOthers.toNanos();
        while (true) {
            Optional<T> result =
                    inTransaction(false, step -> takeTurn(step) ? Optional.of(work.run(step)) : Optional.empty());
            if (result.isPresent()) {
                return result.get();
            }
            if (System.nanoTime() - deadline >= 0) {
                throw new MigrationException(
                        Reason.LOCK_NOT_OBTAINED,
                        schema.value(),
                        "Another node was migrating schema " + schema.quoted() + " for all of the " + waitForOthers
                                + " that this one waited for it." + lockHolders() + " Wait for it, then try again.",
                        null,
                        null);
            }
            pause();
        }
    }

    private boolean takeTurn(Step step) throws SQLException {
        try (PreparedStatement statement = step.transaction()
                .connection()
                .prepareStatement("SELECT pg_try_advisory_xact_lock(" + LockHolders.TURN_KEY + ")")) {
            statement.setString(1, schema.value());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    private <T> T inTransaction(boolean readOnly, Work<T> work) {
        Progress progress = new Progress();
        try (OneTransaction transaction = OneTransaction.begin(dataSource, readOnly, lockTimeout)) {
            return work.run(new Step(transaction, progress));
        } catch (SQLException e) {
            throw Failures.translate(schema, progress.situation, e);
        }
    }

    /** Repeats a step from its beginning when it only came at the wrong moment. */
    private <T> T withAttempts(Supplier<T> step) {
        for (int attempt = 1; ; attempt++) {
            try {
                return step.get();
            } catch (MigrationException e) {
                if (e.sqlState() == null || !PASSING.contains(e.sqlState())) {
                    throw e;
                }
                if (attempt == lockAttempts) {
                    throw e.reason() == Reason.LOCK_NOT_OBTAINED ? explained(e, attempt) : e;
                }
                LOG.info("Trying again, {} of {}: {}", attempt + 1, lockAttempts, e.getMessage());
            }
            pause();
        }
    }

    private MigrationException explained(MigrationException failure, int attempts) {
        return new MigrationException(
                failure.reason(),
                failure.schema(),
                failure.getMessage() + " Attempts: " + attempts + ", each with a lock_timeout of " + lockTimeout + "."
                        + lockHolders() + " End the sessions that hold the lock, or wait for them, then try again.",
                failure.sqlState(),
                failure.getCause());
    }

    /** Who was in the way, if that can be seen: an explanation, which must not become an error of its own. */
    private String lockHolders() {
        try (OneTransaction transaction = OneTransaction.begin(dataSource, true, lockTimeout)) {
            return LockHolders.describe(transaction.connection(), schema);
        } catch (SQLException e) {
            LOG.debug("The sessions that hold locks on schema {} can't be seen", schema.quoted(), e);
            return "";
        }
    }

    private void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(
                    PAUSE_MILLIS + ThreadLocalRandom.current().nextLong(PAUSE_MILLIS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MigrationException(
                    Reason.FAILED,
                    schema.value(),
                    "Interrupted while waiting to migrate schema " + schema.quoted() + ". Nothing is left half done.",
                    null,
                    e);
        }
    }
}
