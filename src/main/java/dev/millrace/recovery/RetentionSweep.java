package dev.millrace.recovery;

import dev.millrace.store.Retention;
import dev.millrace.store.Retention.Batch;
import dev.millrace.store.Retention.Subject;
import dev.millrace.store.SchemaNotReadyException;
import dev.millrace.store.StoreUnavailableException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One pass over all that has outlived its retention: table by table, batch by batch as long as they are full. A table that
 * can't be swept keeps the others from nothing; only a store that is away ends the pass. Of one thread.
 */
final class RetentionSweep {
    /** However slow a batch was. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final RetentionSettings settings;
    private final Retention retention;
    private final LongSupplier clock;
    private final BooleanSupplier stopped;
    private final Semaphore stops;

    private final Map<Subject, Long> deleted = new EnumMap<>(Subject.class);
    private final Map<Subject, Long> postponed = new EnumMap<>(Subject.class);
    private @Nullable String heldBy;
    private int errors;
    private @Nullable Throwable failure;

    /**
     * @param clock monotonic, in nanoseconds
     * @param stopped whether to end after the batch that runs
     * @param stops has a permit once it is stopped: ends a pause
     */
    RetentionSweep(
            RetentionSettings settings,
            Retention retention,
            LongSupplier clock,
            BooleanSupplier stopped,
            Semaphore stops) {
        this.settings = settings;
        this.retention = retention;
        this.clock = clock;
        this.stopped = stopped;
        this.stops = stops;
    }

    /** Sweeps once. Throws nothing: what failed is in the report. */
    RetentionReport run() {
        for (Subject subject : Subject.values()) {
            try {
                sweep(subject);
            } catch (Throwable e) {
                errors++;
                failure = failure == null ? e : failure;
                if (e instanceof StoreUnavailableException || e instanceof SchemaNotReadyException) {
                    break;
                }
            }
        }
        return report();
    }

    private void sweep(Subject subject) {
        int limit = subject == Subject.LOGS ? settings.logStreamBatchSize() : settings.retentionSweepBatchSize();
        while (!stopped.getAsBoolean()) {
            long began = clock.getAsLong();
            Batch batch = retention.sweep(subject, limit);
            count(subject, batch);
            if (batch.size() < limit) {
                return;
            }
            rest(Duration.ofNanos(clock.getAsLong() - began));
        }
    }

    private void count(Subject subject, Batch batch) {
        deleted.merge(subject, (long) batch.deleted(), Long::sum);
        postponed.merge(subject, (long) batch.postponed(), Long::sum);
        heldBy = batch.heldBy() == null ? heldBy : batch.heldBy();
    }

    /** As long as the batch took, so that at most half of the time goes into deleting, on a slow disk as on a fast one. */
    private void rest(Duration batch) {
        Duration pause = batch.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : batch;
        try {
            if (stops.tryAcquire(pause.toNanos(), TimeUnit.NANOSECONDS)) {
                stops.release(); // it stays stopped
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the next batch comes early; only stopping ends the sweep
        }
    }

    private RetentionReport report() {
        return new RetentionReport(
                deleted.getOrDefault(Subject.JOBS, 0L),
                deleted.getOrDefault(Subject.LOGS, 0L),
                deleted.getOrDefault(Subject.RESULTS, 0L),
                deleted.getOrDefault(Subject.LEASES, 0L),
                postponed.getOrDefault(Subject.JOBS, 0L),
                heldBy,
                postponed.getOrDefault(Subject.LOGS, 0L),
                errors,
                failure);
    }
}
