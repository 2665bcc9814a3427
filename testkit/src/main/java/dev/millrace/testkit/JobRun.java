package dev.millrace.testkit;

import dev.millrace.job.Job;
import dev.millrace.store.LogLine;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What became of a job that was run. Its {@code assert} methods return the run, and what they throw has the handler's
 * exception as its cause.
 *
 * @param job the job as it was after the run
 * @param attempt the number of the attempt, from 1
 * @param handled whether its handler was called; not if its payload could not be read, or the job was to be cancelled
 * @param thrown what the handler threw, or the reading of its payload; null if nothing
 * @param log the lines that were appended to the job's log in the meantime, the oldest first
 * @param result the job's result package after the run; null if there is none
 */
public record JobRun(
        Job job,
        int attempt,
        boolean handled,
        @Nullable Throwable thrown,
        List<LogLine> log,
        @Nullable JsonText result) {
    /**
     * Keeps a copy of the lines.
     *
     * @param job see {@link #job()}
     * @param attempt see {@link #attempt()}
     * @param handled see {@link #handled()}
     * @param thrown see {@link #thrown()}
     * @param log see {@link #log()}
     * @param result see {@link #result()}
     */
    public JobRun {
        log = List.copyOf(log);
    }

    /** {@return where the job stood after the run; short for {@code job().status()}} */
    public JobStatus status() {
        return job.status();
    }

    /** {@return how long after the end of this run the next attempt is due; empty if none is planned} */
    public Optional<Duration> retryDelay() {
        return Optional.ofNullable(job.state().nextRetryAt())
                .map(due -> Duration.between(job.state().updatedAt(), due));
    }

    /** {@return the messages of {@link #log}} */
    public List<String> messages() {
        return log.stream().map(LogLine::message).toList();
    }

    /**
     * Checks that the job has succeeded.
     *
     * @return this run
     * @throws AssertionError if not
     */
    public JobRun assertSucceeded() {
        return assertStatus(JobStatus.SUCCEEDED, "to have succeeded");
    }

    /**
     * Checks that the job has failed for good.
     *
     * @return this run
     * @throws AssertionError if not
     */
    public JobRun assertFailed() {
        return assertStatus(JobStatus.FAILED, "to have failed for good");
    }

    /**
     * Checks that the job has been cancelled.
     *
     * @return this run
     * @throws AssertionError if not
     */
    public JobRun assertCancelled() {
        return assertStatus(JobStatus.CANCELLED, "to have been cancelled");
    }

    /**
     * Checks that the job waits for another attempt: its handler failed and the job's retry policy allows one, or it was
     * given back.
     *
     * @return this run
     * @throws AssertionError if not
     */
    public JobRun assertQueuedAgain() {
        return assertStatus(JobStatus.QUEUED, "to wait for another attempt");
    }

    private JobRun assertStatus(JobStatus expected, String words) {
        if (status() != expected) {
            throw new AssertionError("Expected job " + JobTexts.quoted(job) + " " + words + ", but " + this, thrown);
        }
        return this;
    }

    /** The run in a sentence. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("attempt ")
                .append(attempt)
                .append(" of job ")
                .append(JobTexts.quoted(job))
                .append(" left it ")
                .append(status().literal());
        retryDelay().ifPresent(delay -> text.append(", due again after ").append(delay));
        if (status() != JobStatus.SUCCEEDED && job.outcome().errorMessage() != null) {
            text.append(", with the message \"")
                    .append(job.outcome().errorMessage())
                    .append('"');
        }
        if (thrown == null) {
            text.append(handled ? ", and its handler threw nothing" : ", and its handler was not called");
        } else {
            text.append(handled ? ", and its handler threw " : ", and its handler was not called because of ")
                    .append(thrown.getClass().getName());
        }
        return text.append('.').toString();
    }
}
