package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.Cancellation;
import dev.millrace.job.Job;
import dev.millrace.store.CancelResult;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/**
 * Many cancellations at once. A request is part of the record, so each chunk is read, within a bound of bytes, and then
 * written by one statement, where the version is still the one that was read, and nobody else has locked the row. What is left
 * goes the way of a single cancellation, one by one, so that nothing is locked while it waits. In a caller's transaction all
 * that are there are locked first, in the order of their ids, those that have ended included: what is said of them is true
 * until it commits.
 */
final class BulkCancellation {
    static final int CHUNK = 500;

    private static final Field<Duration> RETENTION = DSL.field(DSL.name("retention"), DbTime.DURATION);

    private final Database database;
    private final JobRows rows;
    private final PostgresJobStore single;

    BulkCancellation(Database database, JobRows rows, PostgresJobStore single) {
        this.database = database;
        this.rows = rows;
        this.single = single;
    }

    /** Jobs as they are to be written, queued ones and claimed ones: what is assigned to them is not the same. */
    private record Changes(List<Map<Field<?>, Object>> queued, List<Map<Field<?>, Object>> claimed) {
        List<String> ids() {
            return Stream.concat(queued.stream(), claimed.stream())
                    .map(row -> String.valueOf(row.get(EXECUTION_JOBS.OPERATION_ID)))
                    .sorted(Bulk.BY_ID)
                    .toList();
        }
    }

    Map<String, CancelResult> cancel(Collection<String> ids, @Nullable String by, @Nullable String why) {
        Map<String, CancelResult> results = new HashMap<>();
        Map<String, UnreadableJobException> unreadable = new LinkedHashMap<>();
        Map<String, List<Cancellation>> unanswered = new HashMap<>(); // at their times, which are nobody else's
        BulkCall<String> call = new BulkCall<>(
                database,
                Operation.CANCEL_ALL,
                id -> id,
                results::containsKey,
                (chunk, repetition) -> cancel(chunk.dsl(), chunk.jobs(), by, why, results, unreadable, unanswered));
        call.run(Bulk.chunks(Bulk.sorted(ids), CHUNK, id -> 0));
        call.end(List.copyOf(unreadable.values()));
        Map<String, CancelResult> inOrder = new LinkedHashMap<>();
        ids.forEach(id -> inOrder.put(id, results.get(id)));
        return inOrder;
    }

    private void cancel(
            DSLContext dsl,
            List<String> chunk,
            @Nullable String by,
            @Nullable String why,
            Map<String, CancelResult> results,
            Map<String, UnreadableJobException> unreadable,
            Map<String, List<Cancellation>> unanswered) {
        Collection<String> known = Bulk.lockInOrder(dsl, chunk);
        chunk.stream().filter(id -> !known.contains(id)).forEach(id -> results.put(id, CancelResult.NOT_FOUND));
        List<String> open = chunk;
        while (true) {
            open = open.stream()
                    .filter(id -> !results.containsKey(id) && !unreadable.containsKey(id))
                    .toList();
            if (open.isEmpty()) {
                return;
            }
            Bulk.Reading there = Bulk.read(dsl, open, JobRows.FIELDS);
            Changes changes = new Changes(new ArrayList<>(), new ArrayList<>());
            for (String id : open) {
                if (there.covers(id)) {
                    try {
                        look(id, there.rows().get(id), by, why, results, changes, unanswered);
                    } catch (UnreadableJobException e) {
                        unreadable.put(id, e);
                    }
                }
            }
            write(dsl, changes.queued, JobStatus.CANCELLED, results, CancelResult.CANCELLED);
            write(dsl, changes.claimed, null, results, CancelResult.REQUESTED);
            for (String id : changes.ids()) {
                unanswered.remove(id); // it was answered
                if (!results.containsKey(id)) {
                    cancelAlone(dsl, id, by, why, results, unreadable, unanswered);
                }
            }
        }
    }

    /** What has changed since it was read, or is locked. */
    private void cancelAlone(
            DSLContext dsl,
            String id,
            @Nullable String by,
            @Nullable String why,
            Map<String, CancelResult> results,
            Map<String, UnreadableJobException> unreadable,
            Map<String, List<Cancellation>> unanswered) {
        try {
            results.put(id, single.cancel(dsl, id, by, why, unanswered.computeIfAbsent(id, key -> new ArrayList<>())));
        } catch (UnreadableJobException e) {
            unreadable.put(id, e);
        }
        unanswered.remove(id);
    }

    private void look(
            String id,
            @Nullable Record row,
            @Nullable String by,
            @Nullable String why,
            Map<String, CancelResult> results,
            Changes changes,
            Map<String, List<Cancellation>> unanswered) {
        if (row == null) {
            results.put(id, CancelResult.NOT_FOUND);
            return;
        }
        if (row.get(EXECUTION_JOBS.STATUS).isFinal()) {
            results.put(id, isEndedBy(row, unanswered.get(id)) ? CancelResult.CANCELLED : CancelResult.ALREADY_ENDED);
            return;
        }
        Job job = rows.job(row);
        boolean queued = job.status() == JobStatus.QUEUED;
        if (job.cancellationRequested() && !queued) {
            results.put(id, CancelResult.REQUESTED);
            return;
        }
        Job changed = job.cancellationRequested()
                ? job
                : job.withAudit(
                        job.audit().withCancellation(new Cancellation(row.get("clock", Instant.class), by, why)));
        unanswered
                .computeIfAbsent(id, key -> new ArrayList<>())
                .add(Objects.requireNonNull(changed.audit().cancellation()));
        Map<Field<?>, Object> values = rows.recordAndProjections(changed);
        values.put(EXECUTION_JOBS.OPERATION_ID, id);
        values.put(EXECUTION_JOBS.VERSION, job.version());
        values.put(RETENTION, job.policies().retention());
        (queued ? changes.queued : changes.claimed).add(values);
    }

    /** Whether a request of an earlier try, whose answer was lost, has ended the job. */
    private boolean isEndedBy(Record row, @Nullable List<Cancellation> mine) {
        return mine != null
                && row.get(EXECUTION_JOBS.STATUS) == JobStatus.CANCELLED
                && mine.contains(rows.job(row).audit().cancellation());
    }

    private static void write(
            DSLContext dsl,
            List<Map<Field<?>, Object>> changed,
            @Nullable JobStatus status,
            Map<String, CancelResult> results,
            CancelResult result) {
        if (changed.isEmpty()) {
            return;
        }
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        changed.get(0).keySet().forEach(column -> values.put(column, GivenRows.locked(column)));
        values.remove(EXECUTION_JOBS.OPERATION_ID);
        values.remove(RETENTION);
        values.put(EXECUTION_JOBS.VERSION, EXECUTION_JOBS.VERSION.plus(DSL.inline(1)));
        values.put(EXECUTION_JOBS.UPDATED_AT, DbTime.LOCKED);
        if (status != null) {
            values.put(EXECUTION_JOBS.STATUS, JobRows.literal(status));
            CompareAndSet.ended(values, GivenRows.locked(RETENTION));
        }
        new GivenRows(changed)
                .update(dsl, values, EXECUTION_JOBS.VERSION.eq(GivenRows.given(EXECUTION_JOBS.VERSION)))
                .returningResult(EXECUTION_JOBS.OPERATION_ID)
                .forEach(row -> results.put(row.value1(), result));
    }
}
