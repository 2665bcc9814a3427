package dev.millrace.worker;

import dev.millrace.job.JobOutcome;
import dev.millrace.job.Messages;
import dev.millrace.store.Notes;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a handler adds to its job's outcome. It is written together with the attempt's end. Of more warnings or artifacts
 * than a job can have the newest are kept. Safe for use by many threads.
 */
final class AttemptNotes {
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<String> warnings = new ArrayDeque<>();
    private final Set<String> artifacts = new LinkedHashSet<>();

    void warning(String text) {
        lock.lock();
        try {
            String bounded = Objects.requireNonNull(Messages.bounded(text));
            warnings.add(bounded.isEmpty() ? "(a warning without text)" : bounded);
            if (warnings.size() > JobOutcome.MAX_WARNINGS) {
                warnings.remove();
            }
        } finally {
            lock.unlock();
        }
    }

    void artifact(String reference) {
        JobOutcome.checkArtifact(reference);
        lock.lock();
        try {
            if (artifacts.add(reference) && artifacts.size() > JobOutcome.MAX_ARTIFACTS) {
                removeFirst(artifacts);
            }
        } finally {
            lock.unlock();
        }
    }

    Notes now() {
        lock.lock();
        try {
            return warnings.isEmpty() && artifacts.isEmpty()
                    ? Notes.NONE
                    : new Notes(List.copyOf(warnings), List.copyOf(artifacts));
        } finally {
            lock.unlock();
        }
    }

    private static void removeFirst(Collection<String> values) {
        values.remove(values.iterator().next());
    }
}
