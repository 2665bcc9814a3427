package dev.millrace.recovery;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says what sweeps did, once for each thing that lasts. Outages are said by {@link StoreProbe}. */
final class SweepLog {
    private static final Logger LOG = LoggerFactory.getLogger(SweepLog.class);

    private final Duration slowProbe;
    private boolean saidHeld;
    private boolean saidCapped;

    SweepLog(Duration slowProbe) {
        this.slowProbe = slowProbe;
    }

    /**
     * @param capped how many of the expired jobs were expired without a healthy watch
     * @param lastBreak what started the watch anew the last time
     */
    void swept(SweepReport report, int capped, StoreWatch.Break lastBreak) {
        if (report.errors() > 0 && report.at() != null) {
            LOG.warn(
                    "A sweep met {} errors; what failed is tried again by the next one. The first error was:",
                    report.errors(),
                    report.failure());
        }
        if (report.timedOut() + report.expired() + report.repaired() > 0) {
            LOG.info(
                    "Of overdue jobs {} failed after their maximum duration; of those without a heartbeat {} wait for"
                            + " their next attempt, {} failed, {} were cancelled. {} queued jobs got their place back.",
                    report.timedOut(),
                    report.requeued(),
                    report.failed(),
                    report.cancelled(),
                    report.repaired());
        }
        if (report.suspended() && !saidHeld) {
            LOG.info(
                    "{} jobs have a stale heartbeat, which is not trusted until the store has been watched for their"
                            + " heartbeat timeout, because {}.",
                    report.held(),
                    lastBreak.text());
        }
        if (capped > 0 && !saidCapped) {
            LOG.warn(
                    "The store has been slow, or failed now and then, for ten heartbeat timeouts: {} jobs whose heartbeats"
                            + " are as old as that were expired nevertheless. Find out why it is slow, or raise slowProbe"
                            + " (now {}) if that is its usual pace.",
                    capped,
                    DurationText.of(slowProbe));
        }
        saidHeld = report.suspended();
        saidCapped = capped > 0;
    }
}
