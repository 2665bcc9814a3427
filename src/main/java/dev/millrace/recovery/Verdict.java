package dev.millrace.recovery;

import dev.millrace.job.AttemptState;
import dev.millrace.job.Job;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import java.time.Duration;
import java.time.Instant;

/** What becomes of a job that is overdue. All of it follows from the job as it was read and the database's time. */
final class Verdict {
    private Verdict() {}

    /** A job that has taken too long fails, whatever attempts are left: another one would take as long. */
    static Finish tooLong(Claim claim, Instant now) {
        Duration limit = claim.job().policies().maxDuration();
        return new Finish.Fail(
                "Attempt " + claim.job().state().attemptCount() + ", on worker " + worker(claim)
                        + ", took longer than the job's maximum duration: it began "
                        + DurationText.of(longer(claimAge(claim.job(), now), limit)) + " ago, the limit is "
                        + DurationText.of(limit) + ". The job is not retried.",
                Finish.Fail.Reason.TIMEOUT);
    }

    /** The same where nothing more is known of the job than that it took too long. */
    static Finish tooLong() {
        return new Finish.Fail(
                "The attempt took longer than the job's maximum duration. The job is not retried; its record can't be read"
                        + " by this release, and is untouched.",
                Finish.Fail.Reason.TIMEOUT);
    }

    /** A job whose worker is silent ends as cancelled if that was asked for; otherwise it has its attempts, as always. */
    static Finish silent(Claim claim, Instant now) {
        Job job = claim.job();
        if (job.cancellationRequested()) {
            return new Finish.Cancel();
        }
        RetryPolicy retry = job.policies().retry();
        int attempts = claim.countedAttempts();
        Duration timeout = job.policies().heartbeat().timeout();
        String silence = "no sign of life of worker " + worker(claim) + " for "
                + DurationText.of(longer(heartbeatAge(job, now), timeout)) + ", the timeout is "
                + DurationText.of(timeout) + ".";
        if (retry.allowsAnother(attempts)) {
            return new Finish.Retry(
                    retry.delayAfter(attempts),
                    "The heartbeat expired in attempt " + attempts + " of " + retry.maxAttempts() + ": " + silence);
        }
        return new Finish.Fail(
                "The heartbeat expired after " + attempts + (attempts == 1 ? " attempt" : " attempts")
                        + ", and there is no other one: " + silence,
                Finish.Fail.Reason.EXPIRED);
    }

    /** How old the job's last sign of life is at this time. */
    static Duration heartbeatAge(Job job, Instant now) {
        Instant beat = job.state().lastHeartbeatAt();
        return beat == null ? claimAge(job, now) : Duration.between(beat, now);
    }

    private static Duration claimAge(Job job, Instant now) {
        AttemptState state = job.state();
        Instant claimed = state.claimedAt();
        return Duration.between(claimed == null ? state.updatedAt() : claimed, now);
    }

    /** The time was taken before the job was found overdue: what it says may be a moment too little. */
    private static Duration longer(Duration measured, Duration limit) {
        return measured.compareTo(limit) < 0 ? limit : measured;
    }

    private static String worker(Claim claim) {
        String worker = claim.job().state().claimedBy();
        return worker == null ? "(unknown)" : "\"" + worker + "\"";
    }
}
