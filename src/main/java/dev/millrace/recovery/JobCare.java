package dev.millrace.recovery;

import dev.millrace.backend.Backend;
import dev.millrace.backend.Backend.Capability;
import dev.millrace.backend.Observation;
import dev.millrace.backend.RemoteOperation;
import dev.millrace.job.Job;
import dev.millrace.recovery.BackendTally.Event;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.HeldLease;
import dev.millrace.store.Lease;
import dev.millrace.store.Notes;
import dev.millrace.store.RemoteJobs.Answer;
import dev.millrace.types.JobStatus;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is done for one job at its turn: it is read, what is to be done follows from how it is, and that is done under
 * its lease, if it is still so once the lease is held.
 */
final class JobCare {
    private static final String LEASE = "millrace/job/";
    private static final int MAX_KEY_CHARACTERS = 512;
    private static final int MAX_KEY_BYTES = 2_048;

    private final BackendStores stores;
    private final BackendSettings settings;
    private final String node;
    private final BackendRegistry registry;
    private final KnownOperations known;
    private final AttemptCare attempts;
    private final BackendTally tally;

    /** What is done under the job's lease. */
    private interface Act {
        void run(Lease lease) throws Exception;
    }

    JobCare(
            BackendStores stores,
            BackendSettings settings,
            String node,
            BackendRegistry registry,
            KnownOperations known,
            BackendTally tally) {
        this.stores = stores;
        this.settings = settings;
        this.node = node;
        this.registry = registry;
        this.known = known;
        this.attempts = new AttemptCare(stores, settings, node, known, tally);
        this.tally = tally;
    }

    /** Begins an attempt at a queued job whose turn it is. */
    void begin(String jobId, TimedTask task) throws Exception {
        Claim claim = stores.remote().get(jobId).orElse(null);
        if (claim == null || claim.job().status() != JobStatus.QUEUED) {
            return; // somebody else was faster
        }
        Backend backend = registry.find(claim.job().spec().backend());
        if (backend != null) {
            underLease(claim, task, lease -> attempts.begin(claim.job(), backend, lease, task));
        }
    }

    /**
     * Does what is to be done, but for beginning an attempt.
     *
     * @param now the database's time, from before the job is read
     */
    void look(String jobId, Instant now, TimedTask task) throws Exception {
        Claim claim = stores.remote().get(jobId).orElse(null);
        if (claim == null) {
            return;
        }
        Job job = claim.job();
        if (job.status() == JobStatus.QUEUED) {
            queued(claim, task);
        } else if (!job.status().isFinal() && !job.spec().local()) {
            claimed(claim, now, task);
        }
    }

    private void queued(Claim claim, TimedTask task) throws Exception {
        Job job = claim.job();
        if (job.cancellationRequested()) {
            underLease(claim, task, lease -> cancelQueued(job, lease));
        } else if (job.spec().local()) {
            if (job.state().percentComplete() != null || job.state().currentPhase() != null) {
                underLease(claim, task, lease -> clearProgress(job, lease));
            }
        } else if (registry.find(job.spec().backend()) == null) {
            missing(claim, task);
        }
    }

    private void cancelQueued(Job job, Lease lease) {
        if (stores.jobs().compareAndSet(job, job.withStatus(JobStatus.CANCELLED), Duration.ZERO, lease)) {
            tally.add(Event.CANCELLED);
        }
    }

    private void clearProgress(Job job, Lease lease) {
        if (stores.remote().clearProgress(job.id(), job.version(), lease)) {
            tally.add(Event.CLEARED);
        }
    }

    private void claimed(Claim claim, Instant now, TimedTask task) throws Exception {
        Job job = claim.job();
        Backend backend = registry.find(job.spec().backend());
        if (backend == null) {
            // What runs may well outlive a backend that is away for a while, and be found again; if not, its maximum
            // duration
            // ends it.
            registry.isMissing(job.spec().backend());
            return;
        }
        if (claim.token() == null) {
            return; // it was seeded as claimed, and is nobody's attempt: its maximum duration ends it
        }
        RemoteOperation operation = AttemptCare.operation(claim);
        known.add(backend.name(), operation);
        boolean cancel = job.cancellationRequested();
        if (job.status() == JobStatus.PROVISIONING) {
            underLease(claim, task, lease -> {
                if (cancel) {
                    attempts.cancel(claim, operation, backend, lease, task);
                } else {
                    attempts.start(claim, backend, lease, task);
                }
            });
        } else if (cancel && backend.capabilities().contains(Capability.CANCEL)) {
            underLease(claim, task, lease -> attempts.cancel(claim, operation, backend, lease, task));
        } else {
            Observation seen = task.call(() -> backend.observe(operation));
            if (AttemptCare.isNews(seen, job, now)) {
                underLease(claim, task, lease -> attempts.seen(claim, operation, seen, lease));
            }
        }
    }

    private void missing(Claim claim, TimedTask task) throws Exception {
        Job job = claim.job();
        if (!registry.isMissing(job.spec().backend())) {
            return;
        }
        String message =
                "The job is for the backend \"" + job.spec().backend() + "\", which this process does not have ("
                        + (registry.names().isEmpty() ? "it has none" : "it has " + String.join(", ", registry.names()))
                        + "), and no process that has it was seen for "
                        + DurationText.of(settings.missingBackendGrace())
                        + ". Register it where a BackendReconciler runs, and retry the job; or submit it for another"
                        + " backend.";
        underLease(claim, task, lease -> {
            if (fail(claim, message, lease)) {
                tally.add(Event.MISSING);
            }
        });
    }

    private boolean fail(Claim claim, String message, Lease lease) {
        if (claim.token() != null) {
            Finish finish = new Finish.Fail(message, Finish.Fail.Reason.HANDLER);
            return stores.remote().finish(claim.attempt(), finish, Notes.NONE, lease) == Answer.DONE;
        }
        Job job = claim.job();
        Job failed = job.withStatus(JobStatus.FAILED).withOutcome(job.outcome().withErrorMessage(message));
        return stores.jobs().compareAndSet(job, failed, Duration.ZERO, lease);
    }

    /** Acts if nobody else does, and the job is still as it was read. */
    private void underLease(Claim read, TimedTask task, Act act) throws Exception {
        Optional<HeldLease> acquired =
                HeldLease.acquire(stores.leases(), leaseKey(read.job().id()), node, settings.lease(), lost -> {});
        if (acquired.isEmpty()) {
            tally.add(Event.LEASED);
            return;
        }
        try (HeldLease held = acquired.get()) {
            task.holds(held);
            if (isAsRead(stores.remote().get(read.job().id()).orElse(null), read)) {
                held.checkHeld();
                act.run(held.lease());
            }
        } finally {
            task.holds(null);
        }
    }

    private static boolean isAsRead(@Nullable Claim now, Claim read) {
        return now != null && now.job().version() == read.job().version();
    }

    /** The lease's key: with the job's id in it, or its hash if that is too long. */
    static String leaseKey(String jobId) {
        String key = LEASE + jobId;
        boolean fits = key.codePointCount(0, key.length()) <= MAX_KEY_CHARACTERS
                && key.getBytes(StandardCharsets.UTF_8).length <= MAX_KEY_BYTES;
        return fits ? key : LEASE + "sha256/" + sha256(jobId);
    }

    private static String sha256(String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256.", e);
        }
    }
}
