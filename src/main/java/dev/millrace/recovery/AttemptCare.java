package dev.millrace.recovery;

import dev.millrace.backend.Backend;
import dev.millrace.backend.Backend.Capability;
import dev.millrace.backend.Observation;
import dev.millrace.backend.RemoteOperation;
import dev.millrace.backend.Retrying;
import dev.millrace.backend.StartRequest;
import dev.millrace.backend.StartResult;
import dev.millrace.job.Job;
import dev.millrace.job.Messages;
import dev.millrace.job.RetryPolicy;
import dev.millrace.recovery.BackendTally.Event;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.Lease;
import dev.millrace.store.Notes;
import dev.millrace.store.RemoteJobs;
import dev.millrace.store.RemoteJobs.Answer;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt at a backend, from its start to its end. All of it is repeatable from what the database says: whoever
 * comes after a process that died, at whatever point, finds either no attempt; or a {@code Provisioning} one, whose
 * start it repeats with the same token; or a {@code Running} one, which it observes. Acts under the job's lease, but
 * for looking.
 */
final class AttemptCare {
    private static final int MAX_PHASE = 500;
    private static final Logger LOG = LoggerFactory.getLogger(AttemptCare.class);

    private final BackendStores stores;
    private final BackendSettings settings;
    private final String node;
    private final KnownOperations known;
    private final BackendTally tally;

    AttemptCare(
            BackendStores stores, BackendSettings settings, String node, KnownOperations known, BackendTally tally) {
        this.stores = stores;
        this.settings = settings;
        this.node = node;
        this.known = known;
        this.tally = tally;
    }

    /** Begins the next attempt at a queued job, and starts it. */
    void begin(Job job, Backend backend, Lease lease, TimedTask task) throws Exception {
        Claim begun = stores.remote()
                .begin(job.id(), job.version(), node, UUID.randomUUID(), lease)
                .orElse(null);
        if (begun != null) {
            tally.add(Event.BEGUN);
            start(begun, backend, lease, task);
        }
    }

    /** Starts an attempt that was begun, for the first time or again because nobody knows what came of the last. */
    void start(Claim claim, Backend backend, Lease lease, TimedTask task) throws Exception {
        UUID token = Objects.requireNonNull(claim.token());
        StartRequest request = new StartRequest(claim.job(), claim.job().state().attemptCount(), token);
        known.add(backend.name(), request.operation());
        StartResult result;
        try {
            result = task.call(() -> backend.start(request));
        } catch (Throwable e) {
            note(claim, "No answer to its start: " + Messages.of(e), lease);
            throw e;
        }
        if (result instanceof StartResult.Refused refused) {
            finish(
                    claim,
                    request.operation(),
                    failure(claim, refused.message(), refused.retrying()),
                    Notes.NONE,
                    lease);
            return;
        }
        RemoteOperation operation = request.operation().withOperationId(((StartResult.Started) result).operationId());
        known.add(backend.name(), operation);
        Answer answer = stores.remote().running(claim.attempt(), operation(operation), lease);
        switch (answer) {
            case DONE -> tally.add(Event.STARTED);
            case CANCELLATION_REQUESTED -> {
                tally.add(Event.STARTED);
                cancel(claim, operation, backend, lease, task);
            }
            case ATTEMPT_LOST, LEASE_LOST -> lost(claim, answer);
        }
    }

    private static String operation(RemoteOperation operation) {
        return Objects.requireNonNull(operation.operationId());
    }

    /** The attempt at the backend, as the job tells it. */
    static RemoteOperation operation(Claim claim) {
        Job job = claim.job();
        return new RemoteOperation(
                job.id(),
                job.state().attemptCount(),
                Objects.requireNonNull(claim.token()),
                job.status() == JobStatus.RUNNING ? job.outcome().providerOperationId() : null);
    }

    /** Asks the backend to end the attempt, and writes its end if it has. */
    void cancel(Claim claim, RemoteOperation operation, Backend backend, Lease lease, TimedTask task) throws Exception {
        boolean cancels = backend.capabilities().contains(Capability.CANCEL);
        if (cancels) {
            task.call(() -> {
                backend.cancel(operation);
                return true;
            });
        }
        Observation seen = task.call(() -> backend.observe(operation));
        if (seen.hasEnded()) {
            end(claim, operation, seen, true, lease);
        } else if (operation.operationId() == null && !cancels) {
            start(claim, backend, lease, task); // it runs, and is left to run; this tells under which id
        } else {
            note(claim, cancels ? "Cancelling" : "Can't be cancelled: its backend lacks that", lease);
        }
    }

    /** Whether what was seen of a running attempt is more than the job says, or its last sign of life is old. */
    static boolean isNews(Observation seen, Job job, Instant now) {
        if (!(seen instanceof Observation.Running running)) {
            return true;
        }
        Duration silence = Verdict.heartbeatAge(job, now);
        return (running.percent() != null
                        && !running.percent().equals(job.state().percentComplete()))
                || (running.phase() != null
                        && !running.phase().equals(job.state().currentPhase()))
                || silence.compareTo(job.policies().heartbeat().interval()) >= 0;
    }

    /** Writes what was seen of a running attempt. */
    void seen(Claim claim, RemoteOperation operation, Observation seen, Lease lease) {
        if (!(seen instanceof Observation.Running running)) {
            end(claim, operation, seen, claim.job().cancellationRequested(), lease);
            return;
        }
        Answer answer = stores.remote().progress(claim.attempt(), running.percent(), running.phase(), lease);
        switch (answer) {
            case DONE, CANCELLATION_REQUESTED -> tally.add(Event.PROGRESSED);
            case ATTEMPT_LOST, LEASE_LOST -> lost(claim, answer);
        }
    }

    private void end(Claim claim, RemoteOperation operation, Observation seen, boolean unwanted, Lease lease) {
        if (seen instanceof Observation.Succeeded succeeded) {
            if (succeeded.result() != null
                    && !stores.results().put(claim.attempt(), succeeded.result(), settings.resultRetention())) {
                lost(claim, Answer.ATTEMPT_LOST);
                return;
            }
            finish(claim, operation, new Finish.Succeed(), new Notes(List.of(), succeeded.artifacts()), lease);
        } else if (unwanted || seen instanceof Observation.Cancelled) {
            finish(claim, operation, new Finish.Cancel(), Notes.NONE, lease);
        } else if (seen instanceof Observation.Failed failed) {
            finish(claim, operation, failure(claim, failed.message(), failed.retrying()), Notes.NONE, lease);
        } else {
            String message = "The backend \"" + claim.job().spec().backend() + "\" no longer knows the operation"
                    + (operation.operationId() == null ? "" : " \"" + operation.operationId() + "\"")
                    + " of attempt " + operation.attempt() + ", nor how it ended.";
            finish(claim, operation, failure(claim, message, Retrying.ALLOWED), Notes.NONE, lease);
        }
    }

    private static Finish failure(Claim claim, String message, Retrying retrying) {
        RetryPolicy retry = claim.job().policies().retry();
        int attempts = claim.countedAttempts();
        return retrying == Retrying.ALLOWED && retry.allowsAnother(attempts)
                ? new Finish.Retry(retry.delayAfter(attempts), message)
                : new Finish.Fail(message, Finish.Fail.Reason.HANDLER);
    }

    private void finish(Claim claim, RemoteOperation operation, Finish finish, Notes notes, Lease lease) {
        RemoteJobs.Answer answer = stores.remote().finish(claim.attempt(), finish, notes, lease);
        if (answer != Answer.DONE) {
            lost(claim, answer);
            return;
        }
        known.remove(operation);
        tally.add(
                finish instanceof Finish.Succeed
                        ? Event.SUCCEEDED
                        : finish instanceof Finish.Cancel
                                ? Event.CANCELLED
                                : finish instanceof Finish.Retry ? Event.RETRIED : Event.FAILED);
    }

    /** A phase that tells people what is the matter; if it can't be written, that is no matter of its own. */
    private void note(Claim claim, String phase, Lease lease) {
        if (phase.equals(claim.job().state().currentPhase())) {
            return;
        }
        try {
            String bounded = phase.codePointCount(0, phase.length()) <= MAX_PHASE
                    ? phase
                    : phase.substring(0, phase.offsetByCodePoints(0, MAX_PHASE));
            stores.remote().progress(claim.attempt(), null, bounded, lease);
        } catch (RuntimeException e) {
            LOG.debug(
                    "The phase of job \"{}\" could not be written.", claim.job().id(), e);
        }
    }

    /**
     * Whoever has the job now looks after it; and if nobody has, the operation is an orphan, which is ended by the next
     * sweep.
     */
    private void lost(Claim claim, @Nullable Answer answer) {
        if (answer == Answer.LEASE_LOST) {
            tally.add(Event.LEASED);
        }
        LOG.debug(
                "What was learned of job \"{}\" was not written: {}.",
                claim.job().id(),
                answer);
    }
}
