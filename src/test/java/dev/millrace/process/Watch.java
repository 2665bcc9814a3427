package dev.millrace.process;

import dev.millrace.recovery.JobReconciler;
import dev.millrace.recovery.RecoveryStatus;
import dev.millrace.recovery.SweepReport;
import java.time.Duration;
import java.time.Instant;

/**
 * How long a reconciler has been watching the database, and when it last looked for overdue jobs. By the database's clock.
 *
 * @param since since when it has seen a healthy database; {@link Instant#MAX} if it doesn't
 * @param sweptAt when its last complete sweep began; {@link Instant#MIN} if there was none
 */
record Watch(Instant since, Instant sweptAt) {
    static Watch of(JobReconciler reconciler) {
        RecoveryStatus status = reconciler.status();
        Instant since = status.watchingSince();
        SweepReport sweep = status.lastSweep();
        return new Watch(
                since == null ? Instant.MAX : since,
                sweep == null || sweep.at() == null || sweep.failure() != null ? Instant.MIN : sweep.at());
    }

    /** Of the reconciler in a {@link ReconcilerProcess}. */
    static Watch of(ChildJvm process) {
        String[] words = process.ask("status");
        return new Watch(Instant.parse(words[0]), Instant.parse(words[1]));
    }

    /** Whether its last sweep took each heartbeat with this timeout that was stale by then for a sign of death. */
    boolean trusts(Duration heartbeatTimeout) {
        return since.isBefore(Instant.MAX) && sweptAt.isAfter(since.plus(heartbeatTimeout));
    }

    @Override
    public String toString() {
        return since + " " + sweptAt;
    }
}
