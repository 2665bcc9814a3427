package dev.millrace.worker;

import dev.millrace.job.Job;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogEntry.Level;
import dev.millrace.store.StoreException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The logs of this worker's jobs. Each line is marked with the number of its attempt, so that one which a suspended process
 * sends too late can be told from those of the attempt that took its place. A line that can't be written is dropped, and said
 * in the application's log: no job fails for want of its log.
 */
final class JobLog {
    private static final Logger LOG = LoggerFactory.getLogger(JobLog.class);

    private final @Nullable JobLogStore store;
    private final Health health;

    JobLog(@Nullable JobLogStore store, Health health) {
        this.store = store;
        this.health = health;
    }

    void append(RunningAttempt attempt, Level level, String message, Map<String, String> fields) {
        append(attempt, List.of(new LogEntry(attempt.number(), level, message, fields, null)));
    }

    /** What an attempt has warned of, whose outcome the job doesn't take. */
    void abandoned(RunningAttempt attempt) {
        List<LogEntry> warnings = attempt.notes().now().warnings().stream()
                .map(warning -> LogEntry.of(attempt.number(), Level.WARN, warning))
                .toList();
        if (!warnings.isEmpty() && store != null) {
            append(attempt, warnings);
        }
    }

    private void append(RunningAttempt attempt, List<LogEntry> entries) {
        Job job = attempt.job();
        if (store == null) {
            throw new IllegalStateException("This worker was given no log store, so job \"" + job.id()
                    + "\" can't log. Give it one by WorkerSetup.logs, or make it by Millrace.worker().");
        }
        try {
            store.append(job.id(), entries);
        } catch (StoreException e) {
            health.trouble("Writing to the log of " + attempt, e);
            LOG.warn("{} lines for the log of {} were dropped: {}", entries.size(), attempt, e.toString());
        }
    }
}
