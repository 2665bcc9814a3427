package dev.millrace;

import dev.millrace.job.AttemptState;
import dev.millrace.job.Job;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A job did not end in the time that was waited for it. It goes on; the message says where it stands and why. */
public final class AwaitTimeoutException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String jobId;
    private final transient @Nullable Job job;

    AwaitTimeoutException(String jobId, @Nullable Job job, Duration timeout, @Nullable Throwable cause) {
        super("Job \"" + jobId + "\" did not end within " + timeout + ": " + standing(job), cause);
        this.jobId = jobId;
        this.job = job;
    }

    /** {@return the job that was waited for} */
    public String jobId() {
        return jobId;
    }

    /** {@return the job as it was last seen; empty if the database could not be asked even once} */
    public Optional<Job> job() {
        return Optional.ofNullable(job);
    }

    private static String standing(@Nullable Job job) {
        if (job == null) {
            return "it could not be read at all. Check that the database can be reached.";
        }
        AttemptState state = job.state();
        String text = "it is " + state.status().literal() + " after " + state.attemptCount() + " of at most "
                + job.policies().retry().maxAttempts() + " attempts";
        if (state.status().isClaimed()) {
            return text + ", claimed by " + state.claimedBy() + " at " + state.claimedAt() + ", last heartbeat at "
                    + state.lastHeartbeatAt() + ", phase \"" + state.currentPhase() + "\".";
        }
        if (state.nextRetryAt() != null) {
            String failed = job.outcome().errorMessage();
            return text + ", next one at " + state.nextRetryAt()
                    + (failed == null ? "." : "; the last one that failed said: " + failed);
        }
        if (!job.spec().local()) {
            return text + ". Check that a backend reconciler runs that knows the backend \""
                    + job.spec().backend()
                    + "\", that neither the kind nor the queue is paused, and that claims are not on hold.";
        }
        return text + ". Check that a worker runs for kind \"" + job.kind() + "\", profile \""
                + job.spec().runtimeProfile() + "\" and queue \"" + job.spec().queue()
                + "\", that neither the kind nor the queue is paused, that claims are not on hold, and that the job was not submitted for"
                + " later.";
    }
}
