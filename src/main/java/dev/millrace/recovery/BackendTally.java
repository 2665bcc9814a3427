package dev.millrace.recovery;

import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What backend sweeps have done since it was last asked. Safe for use by many threads. */
final class BackendTally {
    enum Event {
        FOUND,
        BEGUN,
        STARTED,
        PROGRESSED,
        SUCCEEDED,
        RETRIED,
        FAILED,
        CANCELLED,
        MISSING,
        CLEARED,
        ORPHAN,
        WAITING,
        LEASED,
        OVERDUE,
        ERROR
    }

    private final Map<Event, Integer> counts = new EnumMap<>(Event.class);
    private @Nullable Throwable failure;

    synchronized void add(Event event) {
        counts.merge(event, 1, Integer::sum);
    }

    synchronized void error(Throwable cause) {
        add(Event.ERROR);
        if (failure == null) {
            failure = cause;
        }
    }

    /** All of it, and begins anew. */
    synchronized BackendReport report(boolean onHold) {
        BackendReport report = new BackendReport(
                count(Event.FOUND),
                count(Event.BEGUN),
                count(Event.STARTED),
                count(Event.PROGRESSED),
                count(Event.SUCCEEDED),
                count(Event.RETRIED),
                count(Event.FAILED),
                count(Event.CANCELLED),
                count(Event.MISSING),
                count(Event.CLEARED),
                count(Event.ORPHAN),
                count(Event.WAITING),
                count(Event.LEASED),
                count(Event.OVERDUE),
                count(Event.ERROR),
                failure,
                onHold);
        counts.clear();
        failure = null;
        return report;
    }

    private int count(Event event) {
        return counts.getOrDefault(event, 0);
    }
}
