package dev.millrace.recovery;

import dev.millrace.backend.Backend;
import dev.millrace.backend.Backend.Capability;
import dev.millrace.backend.RemoteOperation;
import dev.millrace.internal.Complaints;
import dev.millrace.recovery.KnownOperations.Known;
import dev.millrace.store.Claim;
import dev.millrace.store.RemoteJobs;
import dev.millrace.types.JobStatus;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends operations whose attempt is over: that of a job which took longer than its maximum duration and was failed by
 * the {@link JobReconciler}, whose row was deleted, or which has another attempt by now. No lease is needed for it,
 * since a token that the job has lost never comes back. Each is an errand of its own: a backend that hangs in it keeps the
 * job, which may have another attempt to be begun, from nothing.
 */
final class Orphans {
    private static final Logger LOG = LoggerFactory.getLogger(Orphans.class);

    private final RemoteJobs remote;
    private final BackendRegistry registry;
    private final Errands errands;
    private final KnownOperations known;
    private final BackendTally tally;
    private final Complaints complaints;

    Orphans(
            RemoteJobs remote,
            BackendRegistry registry,
            Errands errands,
            KnownOperations known,
            BackendTally tally,
            Complaints complaints) {
        this.remote = remote;
        this.registry = registry;
        this.errands = errands;
        this.known = known;
        this.tally = tally;
        this.complaints = complaints;
    }

    /** Has all operations of a job ended but that of its live attempt. */
    void look(String jobId) {
        // Before the job is read: an operation that is known by then is of an attempt that the read shows, or that is
        // over. One that becomes known meanwhile may be of an attempt that it doesn't show yet.
        Collection<Known> operations = known.of(jobId);
        Claim claim = remote.get(jobId).orElse(null);
        for (Known operation : operations) {
            if (!isLive(operation, claim)) {
                end(operation, claim);
            }
        }
    }

    private static boolean isLive(Known known, @Nullable Claim claim) {
        return claim != null
                && known.operation().token().equals(claim.token())
                && !claim.job().status().isFinal();
    }

    private void end(Known orphan, @Nullable Claim claim) {
        RemoteOperation operation = orphan.operation();
        Backend backend = registry.find(orphan.backend());
        boolean succeeded = claim != null
                && operation.token().equals(claim.token())
                && claim.job().status() == JobStatus.SUCCEEDED;
        if (backend == null || succeeded) {
            known.remove(operation);
            return;
        }
        if (claim == null && orphan.listed()) {
            known.remove(operation);
            if (complaints.isNew("listed " + operation.token())) {
                LOG.warn(
                        "The backend \"{}\" runs an operation of job \"{}\", which this database doesn't have. It is"
                                + " left alone: it may be another database's. If it is not, end it by hand.",
                        orphan.backend(),
                        operation.jobId());
            }
            return;
        }
        errands.forThe(orphan.backend(), "orphaned operation " + operation.token(), task -> end(orphan, backend, task));
    }

    private void end(Known orphan, Backend backend, TimedTask task) throws Exception {
        RemoteOperation operation = orphan.operation();
        // One that was never confirmed may not have come in yet: a backend that can remember will not run it then.
        boolean confirmed = operation.operationId() != null;
        if (confirmed && task.call(() -> backend.observe(operation)).hasEnded()) {
            known.remove(operation);
            return;
        }
        if (!backend.capabilities().contains(Capability.CANCEL)) {
            known.remove(operation);
            if (complaints.isNew("running " + operation.token())) { // the backend may list it again and again
                LOG.warn(
                        "The attempt {} of job \"{}\" is over, and runs on at the backend \"{}\", which can't cancel.",
                        operation.attempt(),
                        operation.jobId(),
                        orphan.backend());
            }
            return;
        }
        task.call(() -> {
            backend.cancel(operation);
            return true;
        });
        if (complaints.isNew("orphan " + operation.token())) {
            tally.add(BackendTally.Event.ORPHAN);
            LOG.info(
                    "The attempt {} of job \"{}\" is over; its operation at the backend \"{}\" was cancelled.",
                    operation.attempt(),
                    operation.jobId(),
                    orphan.backend());
        }
        if (task.call(() -> backend.observe(operation)).hasEnded()) {
            known.remove(operation);
        }
    }
}
