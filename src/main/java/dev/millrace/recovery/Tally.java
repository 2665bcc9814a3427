package dev.millrace.recovery;

import dev.millrace.store.Finish;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What a sweep has found and done so far, and when it should be repeated. Of one sweep, so of one thread. */
final class Tally {
    private @Nullable Instant at;
    private int timedOut;
    private int cancelled;
    private int requeued;
    private int failed;
    private int spared;
    private int locked;
    private int held;
    private int capped;
    private int repaired;
    private int errors;
    private @Nullable Throwable failure;
    private @Nullable Duration lookAgain;

    void began(Instant storeTime) {
        at = storeTime;
    }

    void timedOut() {
        timedOut++;
    }

    /** A job with an expired heartbeat was ended like this. */
    void expired(Finish finish) {
        if (finish instanceof Finish.Cancel) {
            cancelled++;
        } else if (finish instanceof Finish.Retry) {
            requeued++;
        } else {
            failed++;
        }
    }

    void spared() {
        spared++;
    }

    void locked() {
        locked++;
    }

    void held() {
        held++;
    }

    /** A heartbeat was believed without a healthy watch, because the grace is capped. */
    void capped() {
        capped++;
    }

    void repaired(int jobs) {
        repaired += jobs;
    }

    /** Something failed, and the sweep goes on. */
    void error(Throwable cause) {
        errors++;
        if (failure == null) {
            failure = cause;
        }
    }

    /** Something failed, and the sweep ends. */
    void cutShort(Throwable cause) {
        errors++;
        failure = cause;
    }

    /** There is something to do after this time, also if that is before the next regular sweep. */
    void lookAgainIn(Duration time) {
        if (lookAgain == null || time.compareTo(lookAgain) < 0) {
            lookAgain = time;
        }
    }

    /** When the sweep should be repeated; null if in its own time. */
    @Nullable
    Duration lookAgain() {
        return lookAgain;
    }

    int cappedJobs() {
        return capped;
    }

    SweepReport report() {
        return new SweepReport(
                at, timedOut, cancelled, requeued, failed, spared, locked, held, repaired, errors, failure);
    }
}
