package dev.millrace.micrometer;

import dev.millrace.job.Job;
import dev.millrace.store.Claim;
import dev.millrace.store.LogEntry;
import dev.millrace.store.WorkSource;
import dev.millrace.worker.JobContext;
import dev.millrace.worker.StopReason;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A run without a worker. */
record FakeRun(Job job, int attempt, @Nullable StopReason reason) implements JobContext {
    @Override
    public String worker() {
        return "worker";
    }

    @Override
    public boolean cancelled() {
        return reason != null;
    }

    @Override
    public Optional<StopReason> stopReason() {
        return Optional.ofNullable(reason);
    }

    @Override
    public void throwIfCancelled() {}

    @Override
    public void progress(double percent, String phase) {}

    @Override
    public void progress(double percent) {}

    @Override
    public void phase(String phase) {}

    @Override
    public Claim claim() {
        return new Claim(job, null, 0);
    }

    @Override
    public void log(LogEntry.Level level, String message, Map<String, String> fields) {}

    @Override
    public void warn(String warning) {}

    @Override
    public void publishArtifact(String reference) {}

    @Override
    public void resultPackage(@Nullable Object result) {}

    @Override
    public void completeIn(WorkSource transaction) {}
}
