package dev.millrace.recovery;

import dev.millrace.store.ReconcilableJobs;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the database until the silence of a worker may be believed: after an outage every worker looks silent, so who wants to
 * take a job from one has to have watched a healthy database for the job's whole heartbeat timeout. For {@link
 * dev.millrace.store.AssignedClaim.Takeover#OUTAGE_GRACE_IS_OVER}; a {@link JobReconciler} has a watch of its own.
 *
 * <p>It asks by a small statement at least every third of the timeout, on one daemon thread. An answer that fails, or is slow, starts
 * the watch anew. Safe for use by many threads.
 */
public final class OutageGrace implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final Logger LOG = LoggerFactory.getLogger(OutageGrace.class);

    private final Duration timeout;
    private final StoreWatch watch;
    private final StoreProbe probe;
    private final Loop probes;

    /**
     * Starts to watch.
     *
     * @param jobs what is asked
     * @param heartbeatTimeout the job's
     */
    public OutageGrace(ReconcilableJobs jobs, Duration heartbeatTimeout) {
        this.timeout = heartbeatTimeout;
        this.watch = new StoreWatch(System::nanoTime, RecoverySettings.DEFAULT.slowProbe());
        this.probe = new StoreProbe(jobs, watch, System::nanoTime);
        probe.paceFor(heartbeatTimeout);
        this.probes = new Loop("millrace-outage-grace", this::look);
        probes.start();
    }

    private Duration look() {
        try {
            probe.send();
        } catch (RuntimeException e) {
            LOG.debug("A probe failed.", e);
        }
        return probe.pace();
    }

    /** {@return whether the database has been healthy for the whole timeout, until now} */
    public boolean over() {
        return watch.untilTrusted(timeout).isZero();
    }

    /** Stops watching. Waits a few seconds at most for a statement that is under way. */
    @Override
    public void close() {
        probes.stop();
        probes.awaitEnd(PATIENCE);
    }
}
