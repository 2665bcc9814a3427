package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.job.Job;
import dev.millrace.jooq.tables.records.ExecutionJobsRecord;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jooq.DSLContext;
import org.jooq.Param;

/**
 * Reads all jobs by one statement, and so in one snapshot, again and again: each is in one state, its row agrees with
 * itself, and what has become of it since the last time is something that may become of a job.
 */
final class SnapshotCheck {
    /** What a job must not change without a new version. */
    record Seen(Ledger.Life life, long version, JobStatus status, int attemptCount, UUID token, JsonText record) {}

    private final DSLContext dsl;
    private final Ledger ledger;
    private final JobRows rows = new JobRows(new JobCodec());
    private Map<String, Seen> before = Map.of();
    private int snapshots;

    SnapshotCheck(DSLContext dsl, Ledger ledger) {
        this.dsl = dsl;
        this.ledger = ledger;
    }

    int snapshots() {
        return snapshots;
    }

    /** The jobs as they are now, by id. */
    Map<String, Seen> look() {
        Map<String, Seen> now = new HashMap<>();
        for (ExecutionJobsRecord row : dsl.selectFrom(EXECUTION_JOBS).fetch()) {
            Job job = rows.job(row);
            checkRow(row);
            checkProjections(row, job);
            now.put(job.id(), seen(row, job));
        }
        before.forEach((id, then) -> checkChange(then, now.get(id)));
        before = now;
        snapshots++;
        return now;
    }

    private static Seen seen(ExecutionJobsRecord row, Job job) {
        return new Seen(
                Ledger.Life.of(job),
                row.getVersion(),
                row.getStatus(),
                row.getAttemptCount(),
                row.getClaimToken(),
                row.getRecord());
    }

    private static void checkRow(ExecutionJobsRecord row) {
        JobStatus status = row.getStatus();
        String is = row.getOperationId() + ", which is " + status.literal();
        assertThat(row.getQueueVisibleAt() == null).as("place of %s", is).isEqualTo(row.getQueuePriority() == null);
        assertThat(row.getForgivenAttempts()).as("forgiven attempts of %s", is).isBetween(0, row.getAttemptCount());
        assertThat(row.getCompletedAt() != null).as("completion of %s", is).isEqualTo(status.isFinal());
        if (status.isFinal()) {
            assertThat(row.getQueuePriority()).as("place of %s", is).isNull();
        } else if (status == JobStatus.QUEUED) {
            assertThat(row.getClaimToken()).as("token of %s", is).isNull();
            assertThat(row.getClaimedBy()).as("worker of %s", is).isNull();
            assertThat(row.getClaimedAt()).as("claim of %s", is).isNull();
            assertThat(row.getLastHeartbeatAt()).as("heartbeat of %s", is).isNull();
        } else {
            assertThat(row.getClaimToken()).as("token of %s", is).isNotNull();
            assertThat(row.getClaimedBy()).as("worker of %s", is).isNotNull();
            assertThat(row.getClaimedAt()).as("claim of %s", is).isNotNull();
            assertThat(row.getLastHeartbeatAt()).as("heartbeat of %s", is).isNotNull();
            assertThat(row.getAttemptCount()).as("attempts of %s", is).isPositive();
        }
    }

    private void checkProjections(ExecutionJobsRecord row, Job job) {
        rows.recordAndProjections(job).forEach((field, value) -> {
            Object projected = value instanceof Param<?> param ? param.getValue() : value;
            assertThat(row.get(field))
                    .as("%s of %s", field, row.getOperationId())
                    .isEqualTo(projected);
        });
        if (row.getQueuePriority() != null) {
            assertThat(row.getQueuePriority())
                    .as("priority of the place of %s", row.getOperationId())
                    .isEqualTo(job.priority());
        }
    }

    private void checkChange(Seen then, Seen now) {
        if (now == null || !now.life().equals(then.life())) {
            assertThat(ledger.isDeletable(then.life()))
                    .as("somebody has deleted %s", then)
                    .isTrue();
            return;
        }
        String change = then + " -> " + now;
        assertThat(now.version()).as(change).isGreaterThanOrEqualTo(then.version());
        assertThat(now.attemptCount()).as(change).isGreaterThanOrEqualTo(then.attemptCount());
        if (now.version() == then.version()) {
            assertThat(now).isEqualTo(then);
        }
        if (then.status().isFinal() && now.status() != then.status()) {
            assertThat(ledger.isRevivable(then.life(), then.version(), now.version()))
                    .as("somebody has revived %s", change)
                    .isTrue();
        }
    }
}
