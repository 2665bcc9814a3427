package dev.millrace.recovery;

import dev.millrace.backend.Backend;
import dev.millrace.recovery.BackendTally.Event;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Begins attempts at queued jobs in their order, as many as their backend has room for. A backend is asked once in a sweep,
 * on a thread of its own.
 */
final class Backlog {
    private final Errands errands;
    private final JobCare care;
    private final BackendTally tally;

    /** Jobs of each backend that are being begun. */
    private final Map<String, Set<String>> underWay = new ConcurrentHashMap<>();

    Backlog(Errands errands, JobCare care, BackendTally tally) {
        this.errands = errands;
        this.care = care;
        this.tally = tally;
    }

    /** @param jobs those that are due, the first one first */
    void begin(Backend backend, List<String> jobs) {
        boolean taken = errands.forThe(backend.name(), "room of " + backend.name(), task -> begin(backend, jobs, task));
        if (!taken) {
            allWait(jobs); // the backend has not answered the last question yet
        }
    }

    private void allWait(List<String> jobs) {
        jobs.forEach(job -> tally.add(Event.WAITING));
    }

    private void begin(Backend backend, List<String> jobs, TimedTask task) throws Exception {
        Set<String> begins = underWay.computeIfAbsent(backend.name(), name -> ConcurrentHashMap.newKeySet());
        // Counted before the question: one that ends meanwhile counts twice rather than not at all.
        int before = begins.size();
        int room = roomOf(backend, jobs, task) - before;
        for (String jobId : jobs) {
            if (room <= 0) {
                tally.add(Event.WAITING);
            } else if (begins.add(jobId) && isTaken(backend, jobId, begins)) {
                room--;
            }
        }
    }

    private int roomOf(Backend backend, List<String> jobs, TimedTask task) throws Exception {
        try {
            return task.call(backend::room);
        } catch (Throwable e) {
            allWait(jobs);
            throw e;
        }
    }

    private boolean isTaken(Backend backend, String jobId, Set<String> begins) {
        boolean taken = false;
        try {
            taken = errands.forJob(backend.name(), jobId, task -> {
                try {
                    care.begin(jobId, task);
                } finally {
                    begins.remove(jobId);
                }
            });
            return taken;
        } finally {
            if (!taken) {
                begins.remove(jobId); // somebody is looking at it
            }
        }
    }
}
