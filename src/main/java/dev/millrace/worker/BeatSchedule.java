package dev.millrace.worker;

import dev.millrace.job.HeartbeatPolicy;

/**
 * When an attempt is to be beaten for, and when the database last spoke of it; all times by the ticker. The heartbeat
 * loop writes it, and so do handlers that report progress, as that is a sign of life too. A write that another overtakes
 * does no harm: it moves one beat.
 */
final class BeatSchedule {
    private final long interval;
    private final long timeout;
    private volatile long next;
    private volatile long lastHeard;
    private volatile long confirmedAt;

    BeatSchedule(HeartbeatPolicy policy, long start) {
        this.interval = policy.interval().toNanos();
        this.timeout = policy.timeout().toNanos();
        this.next = start + interval;
        this.lastHeard = start;
        this.confirmedAt = start;
    }

    long interval() {
        return interval;
    }

    long next() {
        return next;
    }

    /** Due, or nearly: within a tenth of the interval. */
    boolean nearlyDue(long time) {
        return next - interval / 10 <= time;
    }

    /** The database knows that the attempt lives: it has answered a question that was asked at this time. */
    void answered(long asked) {
        lastHeard = asked;
        next = asked + interval;
    }

    /** The database has answered, though not for this attempt, whose row is locked. */
    void heard(long asked) {
        lastHeard = asked;
    }

    /** The database has said that the job is the attempt's and nobody wants it cancelled, when it was asked at this time. */
    void confirmed(long asked) {
        answered(asked);
        confirmedAt = asked;
    }

    /** When that was said the last time; the claim says it as well. */
    long confirmedAt() {
        return confirmedAt;
    }

    /** Whether that was so lately that the attempt can't have been taken for dead since: less than that, and than a quarter of its timeout. */
    boolean fresh(long time, long most) {
        return time - confirmedAt < Math.min(most, timeout / 4);
    }

    void repeatAt(long time) {
        next = time;
    }

    /** Whether the database has said nothing for so long that it may take the attempt for dead. */
    boolean overdue(long time) {
        return time - lastHeard > timeout;
    }
}
