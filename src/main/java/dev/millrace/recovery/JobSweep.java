package dev.millrace.recovery;

import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.recovery.StoreWatch.Trust;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.JobQueue;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.store.ReconcilableJobs.Cause;
import dev.millrace.store.ReconcilableJobs.Expiry;
import dev.millrace.store.ReconcilableJobs.Suspect;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One pass over all overdue jobs, and then over queued jobs that lack their place in the queue. Whatever becomes of one
 * job, the pass goes on behind it, in the order of ids, so it ends, and a job that can't be dealt with keeps no other one
 * from its turn. Only if the store itself is away does it end early.
 *
 * <p>One sweep at a time: not safe for use by several threads at once.
 */
final class JobSweep {
    /** When a sweep that the store cut short is tried again, unless its own time is sooner. */
    private static final Duration AFTER_OUTAGE = Duration.ofSeconds(1);

    /** Rows that appear while the sweep runs belong to the next one. */
    private static final int MAX_BATCHES = 1_000;

    /** Whether a stale heartbeat is to be trusted only after the store was watched. */
    enum Grace {
        /** Only then. */
        KEPT,
        /** At once. */
        OVER
    }

    private final RecoverySettings settings;
    private final ReconcilableJobs jobs;
    private final JobQueue queue;
    private final StoreWatch watch;
    private final StoreProbe probe;
    private final LongSupplier clock;
    private final BooleanSupplier stopped;
    private final LockedRows lockedRows;
    private final SweepLog log;

    private volatile @Nullable Duration shortestTimeout;

    /**
     * When overdue jobs were read.
     *
     * @param now the database's time, from before the read
     * @param sentAt the monotonic clock's when it was sent
     * @param receivedAt and when it was answered
     */
    private record Reading(Instant now, long sentAt, long receivedAt) {}

    JobSweep(
            RecoverySettings settings,
            ReconcilableJobs jobs,
            JobQueue queue,
            StoreWatch watch,
            StoreProbe probe,
            LongSupplier clock,
            BooleanSupplier stopped) {
        this.settings = settings;
        this.jobs = jobs;
        this.queue = queue;
        this.watch = watch;
        this.probe = probe;
        this.clock = clock;
        this.stopped = stopped;
        this.lockedRows = new LockedRows(clock);
        this.log = new SweepLog(settings.slowProbe());
    }

    /** Sweeps once. Throws nothing: what failed is in the result. */
    Tally run(Grace grace) {
        Tally tally = new Tally();
        try {
            Instant now = probe.send();
            tally.began(now);
            step(tally, this::adaptPace);
            step(tally, () -> overdueJobs(tally, now, grace));
            step(tally, () -> undispatchedJobs(tally));
        } catch (Throwable e) {
            tally.cutShort(e);
            tally.lookAgainIn(AFTER_OUTAGE);
        }
        log.swept(
                tally.report(),
                tally.cappedJobs(),
                watch.state(shortestTimeout()).lastBreak());
        return tally;
    }

    /** The shortest heartbeat timeout of the claimed jobs, as of the last sweep. */
    Duration shortestTimeout() {
        Duration shortest = shortestTimeout;
        return shortest == null ? HeartbeatPolicy.DEFAULT.timeout() : shortest;
    }

    private void step(Tally tally, Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            endIfStoreIsAway(e);
            tally.error(e);
        }
    }

    /** That one statement found the store unavailable may lie in that statement: the probe has the last word. */
    private void endIfStoreIsAway(Throwable failure) {
        if (failure instanceof StoreUnavailableException) {
            probe.send();
        }
    }

    private void adaptPace() {
        shortestTimeout = jobs.shortestHeartbeatTimeout().orElse(null);
        probe.paceFor(shortestTimeout);
    }

    private void overdueJobs(Tally tally, Instant now, Grace grace) {
        lockedRows.beginSweep();
        String after = "";
        for (int batch = 0; batch < MAX_BATCHES; batch++) {
            long sentAt = clock.getAsLong();
            List<Suspect> suspects = jobs.suspects(after, settings.batchSize());
            Reading reading = new Reading(now, sentAt, clock.getAsLong());
            for (Suspect suspect : suspects) {
                if (stopped.getAsBoolean()) {
                    return;
                }
                step(tally, () -> overdueJob(tally, suspect, reading, grace));
                after = suspect.attempt().jobId();
            }
            if (suspects.size() < settings.batchSize()) {
                lockedRows.endSweep();
                lookAgainWhenTrusted(tally);
                return;
            }
        }
    }

    /** Jobs whose worker died in an outage run again one timeout after it, not at the next regular sweep after that. */
    private void lookAgainWhenTrusted(Tally tally) {
        Duration shortest = shortestTimeout;
        if (shortest != null) {
            Duration untilTrusted = watch.untilTrusted(shortest);
            if (!untilTrusted.isZero()) {
                tally.lookAgainIn(untilTrusted);
            }
        }
    }

    private void overdueJob(Tally tally, Suspect suspect, Reading reading, Grace grace) {
        Claim claim = suspect.claim();
        if (suspect.cause() == Cause.DURATION) {
            Finish finish = claim == null ? Verdict.tooLong() : Verdict.tooLong(claim, reading.now);
            switch (jobs.expire(suspect, finish)) {
                case ENDED -> tally.timedOut();
                case SPARED -> tally.spared();
                case LOCKED -> tally.locked();
            }
        } else if (claim == null) {
            // Its retry policy can't be read either. A newer release may know what to do; in the end it takes too long.
            throw new StoreException(
                    "The heartbeat of job \"" + suspect.attempt().jobId()
                            + "\" has expired, and its record can't be read"
                            + " by this release. It is left to a newer one, or until its maximum duration is over.",
                    null);
        } else {
            silentJob(tally, suspect, claim, reading, grace);
        }
    }

    private void silentJob(Tally tally, Suspect suspect, Claim claim, Reading reading, Grace grace) {
        HeartbeatPolicy heartbeat = claim.job().policies().heartbeat();
        boolean wasLocked = lockedRows.remembers(suspect.attempt());
        // A probe from after the read: without it, nobody has watched the store while the read was on its way.
        probe.sendUnlessAnsweredSince(reading.receivedAt);
        Duration age = Verdict.heartbeatAge(claim.job(), reading.now);
        Trust trust = grace == Grace.OVER ? Trust.WATCHED : watch.trust(heartbeat.timeout(), age, reading.sentAt);
        switch (trust) {
            case NOT_YET -> {
                tally.held();
                tally.lookAgainIn(watch.untilTrusted(heartbeat.timeout()));
                return;
            }
            case CAPPED -> tally.capped();
            case WATCHED -> {}
        }
        if (wasLocked && spared(tally, suspect, heartbeat.interval())) {
            return;
        }
        Finish finish = Verdict.silent(claim, reading.now);
        Expiry expiry = jobs.expire(suspect, finish);
        lockedRows.forget(suspect.attempt());
        switch (expiry) {
            case ENDED -> tally.expired(finish);
            case SPARED -> tally.spared();
            case LOCKED -> {
                tally.locked();
                lockedRows.locked(suspect.attempt());
            }
        }
    }

    private boolean spared(Tally tally, Suspect suspect, Duration heartbeatInterval) {
        if (jobs.isLocked(suspect)) {
            lockedRows.locked(suspect.attempt());
            tally.locked();
            return true;
        }
        Duration left = lockedRows.free(suspect.attempt(), heartbeatInterval);
        if (left.isZero()) {
            return false;
        }
        tally.spared();
        tally.lookAgainIn(left);
        return true;
    }

    private void undispatchedJobs(Tally tally) {
        for (int batch = 0; batch < MAX_BATCHES && !stopped.getAsBoolean(); batch++) {
            int repaired = queue.repair(settings.dispatchRepairAfter(), settings.batchSize());
            tally.repaired(repaired);
            if (repaired < settings.batchSize()) {
                return;
            }
        }
    }
}
