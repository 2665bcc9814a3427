package dev.millrace.recovery;

import dev.millrace.store.Finish;
import dev.millrace.store.ReconcilableJobs;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Something happens after overdue jobs were read, and before the first of them is expired. */
final class PausedJobs implements ReconcilableJobs {
    private final ReconcilableJobs jobs;
    private final Runnable pause;
    private boolean paused;

    PausedJobs(ReconcilableJobs jobs, Runnable pause) {
        this.jobs = jobs;
        this.pause = pause;
    }

    @Override
    public Instant probe() {
        return jobs.probe();
    }

    @Override
    public List<Suspect> suspects(String after, int limit) {
        return jobs.suspects(after, limit);
    }

    @Override
    public Expiry expire(Suspect suspect, Finish finish) {
        if (!paused) {
            paused = true;
            pause.run();
        }
        return jobs.expire(suspect, finish);
    }

    @Override
    public List<Candidate> candidates(@Nullable Candidate after, int limit) {
        return jobs.candidates(after, limit);
    }

    @Override
    public boolean isLocked(Suspect suspect) {
        return jobs.isLocked(suspect);
    }

    @Override
    public Optional<Duration> shortestHeartbeatTimeout() {
        return jobs.shortestHeartbeatTimeout();
    }
}
