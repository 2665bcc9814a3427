package dev.millrace.store.postgres;

import dev.millrace.store.JobsFailedException;
import dev.millrace.store.StoreException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;
import org.jspecify.annotations.Nullable;

/**
 * One call on many jobs, chunk by chunk. A statement fails as a whole, and does not say for which of its jobs. In
 * transactions of ours the chunk is then done in halves, and halves of these, until those that fail are alone, so that they
 * keep no other one out. In a caller's transaction the error has ended it, and goes to the caller at once.
 *
 * @param <T> what there is one of for each job
 */
final class BulkCall<T> {
    /** After so many it is not about single jobs, and each costs several statements. */
    static final int MAX_FAILURES = 100;

    /** After that time no other part is begun. */
    static final Duration LONGEST = Duration.ofSeconds(60);

    private static final String LOCK_TIMEOUT = "55P03";

    private final Database database;
    private final Operation operation;
    private final Function<T, String> id;
    private final BiConsumer<Chunk<T>, Repetition> statements;
    private final Map<String, StoreException> failures = new LinkedHashMap<>();
    private final Predicate<T> done;
    private final LongSupplier clock;
    private int untried;

    /** Why the last statement failed; null if none has. */
    private @Nullable StoreException last;

    /** When the first statement failed; null if none has. */
    private @Nullable Long failingSince;

    /** Some of the jobs, in the order of their ids. */
    record Chunk<T>(DSLContext dsl, List<T> jobs) {}

    /**
     * @param done whether a job needs no statement any more
     * @param statements does a chunk, leaving out what was done before, since it is repeated
     */
    BulkCall(
            Database database,
            Operation operation,
            Function<T, String> id,
            Predicate<T> done,
            BiConsumer<Chunk<T>, Repetition> statements) {
        this(database, operation, id, done, statements, System::nanoTime);
    }

    /** @param clock monotonic, in nanoseconds */
    BulkCall(
            Database database,
            Operation operation,
            Function<T, String> id,
            Predicate<T> done,
            BiConsumer<Chunk<T>, Repetition> statements,
            LongSupplier clock) {
        this.clock = clock;
        this.database = database;
        this.operation = operation;
        this.id = id;
        this.done = done;
        this.statements = statements;
    }

    /** Does all that can be done; {@link #end} tells what could not. */
    void run(List<List<T>> chunks) {
        chunks.forEach(this::inHalves);
    }

    private void inHalves(List<T> jobs) {
        if (failures.size() >= MAX_FAILURES || hasFailedForLong()) {
            untried += (int) jobs.stream().filter(done.negate()).count();
            return;
        }
        try {
            database.confirm(operation, null, (dsl, repetition) -> {
                statements.accept(new Chunk<>(dsl, jobs), repetition);
                return true;
            });
        } catch (StoreException e) {
            if (database.isCallers() || !isAboutJobs(e)) {
                throw e;
            }
            last = e;
            failingSince = failingSince == null ? Long.valueOf(clock.getAsLong()) : failingSince;
            if (jobs.size() == 1) {
                failures.put(id.apply(jobs.get(0)), e);
                return;
            }
            inHalves(jobs.subList(0, jobs.size() / 2));
            inHalves(jobs.subList(jobs.size() / 2, jobs.size()));
        }
    }

    /** Where each statement waits for a lock until it fails, the halves would take as long as all of them together. */
    private boolean hasFailedForLong() {
        return failingSince != null && clock.getAsLong() - failingSince > LONGEST.toNanos();
    }

    /** Constraints and triggers are, and locks that are held for longer than the session waits for one. */
    private static boolean isAboutJobs(StoreException e) {
        return e.getCause() instanceof DataAccessException cause
                && (new Failure(cause).isAboutRows() || LOCK_TIMEOUT.equals(cause.sqlState()));
    }

    /**
     * Throws what is to be told, if anything is: first that jobs have failed.
     *
     * @param refusals of other jobs, which no statement has failed for
     */
    void end(List<StoreException> refusals) {
        if (failures.isEmpty()) {
            if (last != null && untried > 0) {
                throw last; // time ran out before it was known for which of the jobs
            }
            Bulk.throwFirst(refusals);
            return;
        }
        JobsFailedException failed = new JobsFailedException(operation.describe(null), failures, untried);
        refusals.stream().limit(Bulk.MAX_SUPPRESSED).forEach(failed::addSuppressed);
        throw failed;
    }
}
