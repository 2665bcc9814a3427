package dev.millrace.worker;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.Progress;
import dev.millrace.store.Claim;
import dev.millrace.store.Completion;
import dev.millrace.store.Finish;
import dev.millrace.store.LogEntry;
import dev.millrace.store.Pulse;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.store.WorkSource;
import dev.millrace.types.JsonText;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A handler's view of its attempt. It belongs to one claim: once that has ended, what its handler still reports is
 * refused here, also if the same worker has the job again, and the database would refuse it by its token as well.
 */
final class HandlerContext implements JobContext {
    private static final Logger LOG = LoggerFactory.getLogger(HandlerContext.class);

    private final RunningAttempt attempt;
    private final HandlerServices services;

    HandlerContext(RunningAttempt attempt, HandlerServices services) {
        this.attempt = attempt;
        this.services = services;
    }

    @Override
    public Job job() {
        return attempt.job();
    }

    @Override
    public Claim claim() {
        return attempt.claim();
    }

    @Override
    public int attempt() {
        return attempt.number();
    }

    @Override
    public String worker() {
        return services.worker();
    }

    @Override
    public boolean cancelled() {
        return attempt.stopReason() != null;
    }

    @Override
    public Optional<StopReason> stopReason() {
        return Optional.ofNullable(attempt.stopReason());
    }

    @Override
    public void throwIfCancelled() {
        StopReason reason = attempt.stopReason();
        if (reason != null) {
            throw new JobCancelledException(job().id(), attempt(), worker(), reason);
        }
    }

    @Override
    public void progress(double percent, String phase) {
        report(new Progress(percent, given(phase)));
    }

    @Override
    public void progress(double percent) {
        report(new Progress(percent, null));
    }

    @Override
    public void phase(String phase) {
        report(new Progress(null, given(phase)));
    }

    private static String given(@Nullable String phase) {
        if (phase == null) {
            throw new InvalidJobException("phase", "null", "a text");
        }
        return phase;
    }

    private void report(Progress progress) {
        checkOpen();
        if (attempt.isCompleting()) {
            // The job's row is locked by the handler's own transaction, or the job has ended with that.
            LOG.debug("{} is completed: its progress is not reported any more.", attempt);
            return;
        }
        Pulse pulse;
        long asked = services.ticker().now();
        try {
            pulse = services.source().progress(attempt.attempt(), progress.percent(), progress.phase());
        } catch (StoreException e) {
            services.health().trouble("Reporting progress of " + attempt, e);
            LOG.warn("A report of progress of {} was dropped: {}", attempt, e.toString());
            return;
        }
        switch (pulse) {
            case HELD -> {
                attempt.beats().answered(asked);
                attempt.startIsKnown();
            }
            case CANCELLATION_REQUESTED -> {
                attempt.beats().answered(asked);
                attempt.startIsKnown();
                attempt.stop(StopReason.CANCELLED);
            }
            case LOST -> throw lost();
            case BUSY -> attempt.beats().heard(asked);
        }
    }

    @Override
    public void log(LogEntry.Level level, String message, Map<String, String> fields) {
        checkOpen();
        services.log().append(attempt, level, message, fields);
    }

    @Override
    public void warn(String warning) {
        Checks.given("warning", warning);
        checkOpen();
        checkNotCompleted("warn");
        attempt.notes().warning(warning);
    }

    @Override
    public void publishArtifact(String reference) {
        checkOpen();
        checkNotCompleted("publish artifacts");
        attempt.notes().artifact(reference);
    }

    @Override
    public void resultPackage(@Nullable Object result) {
        ResultPackageStore results = services.results();
        if (results == null) {
            throw new IllegalStateException("This worker was given no result store, so job \"" + job().id()
                    + "\" can't leave a result. Give it one by WorkerSetup.results, or make it by Millrace.worker().");
        }
        checkOpen();
        checkNotCompleted("leave a result");
        JsonText json = services.codec().encodeResult(result);
        Backoff backoff = new Backoff();
        while (!stored(results, json, backoff.failures() == 0)) {
            throwIfCancelled();
            attempt.awaitEnding(backoff.next());
            throwIfCancelled();
            checkOpen();
        }
    }

    private boolean stored(ResultPackageStore results, JsonText json, boolean first) {
        try {
            if (!results.put(attempt.attempt(), json, services.resultRetention())) {
                throw lost();
            }
            return true;
        } catch (StoreUnavailableException e) {
            services.health().trouble("Storing the result of " + attempt, e);
            if (first) {
                LOG.warn("The result of {} is not stored yet, so its handler waits: {}", attempt, e.toString());
            }
            return false;
        }
    }

    @Override
    public void completeIn(WorkSource transaction) {
        checkOpen();
        attempt.completing();
        if (!transaction.finish(
                new Completion(claim(), new Finish.Succeed(), attempt.notes().now()))) {
            throw lost();
        }
    }

    private void checkOpen() {
        if (!attempt.open()) {
            throw new AttemptLostException(job().id(), attempt(), worker());
        }
    }

    private void checkNotCompleted(String what) {
        if (attempt.isCompleting()) {
            throw new IllegalStateException(
                    "Job \"" + job().id() + "\" was completed in a transaction of its handler's, and" + " can't " + what
                            + " any more: do that before MillraceTransaction.complete.");
        }
    }

    /** The database says so. */
    private AttemptLostException lost() {
        if (attempt.lose()) {
            services.health().listeners().lost(attempt);
        }
        return new AttemptLostException(job().id(), attempt(), worker());
    }
}
