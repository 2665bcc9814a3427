package dev.millrace.recovery;

import dev.millrace.store.MissingPrivilegeException;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.store.SchemaNotReadyException;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the probes that a {@link StoreWatch} lives on, at the pace that the jobs' heartbeat timeouts ask for, and logs
 * each outage once, when it begins and when it is over. Safe for use by many threads.
 */
final class StoreProbe {
    /** Also where no job asks for probes that often: what was watched must be known when one turns up. */
    private static final Duration SLOWEST_PACE = Duration.ofSeconds(1);

    private static final Duration FASTEST_PACE = Duration.ofMillis(20);

    /**
     * A gap of a third of the timeout breaks the watch. Probes twice as often leave room for one that is late.
     */
    private static final int PROBES_PER_TIMEOUT = 6;

    private static final Logger LOG = LoggerFactory.getLogger(StoreProbe.class);

    private final ReconcilableJobs jobs;
    private final StoreWatch watch;
    private final LongSupplier clock;

    private volatile Duration pace = SLOWEST_PACE;
    private @Nullable Throwable outage;
    private long outageSince;

    StoreProbe(ReconcilableJobs jobs, StoreWatch watch, LongSupplier clock) {
        this.jobs = jobs;
        this.watch = watch;
        this.clock = clock;
    }

    /**
     * Sends one probe.
     *
     * @return the database's time
     * @throws dev.millrace.store.StoreException if it failed
     */
    Instant send() {
        StoreWatch.Probe probe = watch.begin();
        Instant storeTime;
        try {
            storeTime = jobs.probe();
        } catch (Throwable e) {
            watch.failed(probe);
            outageBegins(e);
            throw e;
        }
        watch.answered(probe, storeTime);
        outageEnds();
        return storeTime;
    }

    /** A probe, unless one that was sent after this time has been answered already. */
    void sendUnlessAnsweredSince(long time) {
        if (!watch.answeredSince(time)) {
            send();
        }
    }

    /** From the start of one probe to that of the next. */
    Duration pace() {
        return pace;
    }

    /** Sets the pace for the shortest heartbeat timeout there is; null if there is none. */
    void paceFor(@Nullable Duration shortest) {
        pace = shortest == null ? SLOWEST_PACE : paceOf(shortest);
    }

    /** What the store failed with, while it does; null if it answers. */
    synchronized @Nullable Throwable outage() {
        return outage;
    }

    private static Duration paceOf(Duration shortest) {
        Duration wanted = (shortest.compareTo(StoreWatch.SHORTEST) < 0 ? StoreWatch.SHORTEST : shortest)
                .dividedBy(PROBES_PER_TIMEOUT);
        if (wanted.compareTo(SLOWEST_PACE) > 0) {
            return SLOWEST_PACE;
        }
        return wanted.compareTo(FASTEST_PACE) < 0 ? FASTEST_PACE : wanted;
    }

    private synchronized void outageBegins(Throwable failure) {
        if (outage == null) {
            outageSince = clock.getAsLong();
            if (failure instanceof SchemaNotReadyException) {
                LOG.warn("Dead workers' jobs stay where they are until the schema is ready. {}", failure.getMessage());
            } else if (failure instanceof MissingPrivilegeException) {
                LOG.warn("Dead workers' jobs stay where they are until that is granted. {}", failure.getMessage());
            } else {
                LOG.warn(
                        "The store does not answer. Recovery goes on by itself when it does; until then dead workers'"
                                + " jobs stay where they are, and no job of a live one is touched.",
                        failure);
            }
        }
        outage = failure;
    }

    private synchronized void outageEnds() {
        if (outage != null) {
            outage = null;
            LOG.info(
                    "The store answers again after {}. Stale heartbeats are trusted once it has been watched for their"
                            + " timeout.",
                    DurationText.of(Duration.ofNanos(clock.getAsLong() - outageSince)));
        }
    }
}
