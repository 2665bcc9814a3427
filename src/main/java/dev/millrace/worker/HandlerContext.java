package dev.millrace.worker;

import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.Progress;
import dev.millrace.store.Pulse;
import dev.millrace.store.StoreException;
import dev.millrace.store.WorkSource;
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
    private final WorkSource source;
    private final String worker;
    private final Health health;
    private final Ticker ticker;

    HandlerContext(RunningAttempt attempt, WorkSource source, String worker, Health health, Ticker ticker) {
        this.attempt = attempt;
        this.source = source;
        this.worker = worker;
        this.health = health;
        this.ticker = ticker;
    }

    @Override
    public Job job() {
        return attempt.job();
    }

    @Override
    public int attempt() {
        return attempt.number();
    }

    @Override
    public String worker() {
        return worker;
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
            throw new JobCancelledException(job().id(), attempt(), worker, reason);
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
        if (!attempt.open()) {
            throw new AttemptLostException(job().id(), attempt(), worker);
        }
        Pulse pulse;
        long asked = ticker.now();
        try {
            pulse = source.progress(attempt.attempt(), progress.percent(), progress.phase());
        } catch (StoreException e) {
            health.trouble("Reporting progress of " + attempt, e);
            LOG.warn("A report of progress of {} was dropped: {}", attempt, e.toString());
            return;
        }
        switch (pulse) {
            case HELD -> attempt.beats().answered(asked);
            case CANCELLATION_REQUESTED -> {
                attempt.beats().answered(asked);
                attempt.stop(StopReason.CANCELLED);
            }
            case LOST -> {
                attempt.lose();
                throw new AttemptLostException(job().id(), attempt(), worker);
            }
            case BUSY -> attempt.beats().heard(asked);
        }
    }
}
