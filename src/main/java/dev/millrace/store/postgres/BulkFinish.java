package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Completion;
import dev.millrace.store.Finish;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;

/**
 * Many attempts ended at once. Successes of jobs that nobody else has changed since they were claimed are written by one
 * statement for each chunk, which carries no record. All else, and what that statement did not find, is read, merged with
 * its ending and written where it is still as it was read, again by one statement for those that end and one for those
 * that go on; what has changed in between goes the way of a single attempt, which reads and writes until it is done. In a
 * caller's transaction the jobs of all of them are locked first, in the order of their ids.
 */
final class BulkFinish {
    static final int CHUNK = 500;

    private static final Condition AS_CLAIMED =
            PostgresWorkSource.unchangedSince(GivenRows.given(EXECUTION_JOBS.VERSION));
    private static final Condition AS_READ = EXECUTION_JOBS.VERSION.eq(GivenRows.given(EXECUTION_JOBS.VERSION));
    private static final Field<Duration> RETENTION = DSL.field(DSL.name("retention"), DbTime.DURATION);
    private static final Field<Duration> DELAY = DSL.field(DSL.name("delay"), DbTime.DURATION);

    private final Database database;
    private final JobRows rows;
    private final PostgresWorkSource single;

    BulkFinish(Database database, JobRows rows, PostgresWorkSource single) {
        this.database = database;
        this.rows = rows;
        this.single = single;
    }

    /** Rows to be written, by what is assigned to them. */
    private record Changes(
            List<Map<Field<?>, Object>> succeeded,
            List<Map<Field<?>, Object>> ended,
            List<Map<Field<?>, Object>> queued) {
        Changes() {
            this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        }
    }

    /** @param waiting whether those that others have locked, or that were changed meanwhile, are ended one by one at the end */
    Set<Attempt> finish(Collection<Completion> completions, boolean waiting) {
        Map<Attempt, Completion> byAttempt = new LinkedHashMap<>();
        completions.forEach(
                completion -> byAttempt.putIfAbsent(completion.claim().attempt(), completion));
        List<Completion> inOrder = byAttempt.values().stream()
                .sorted(Comparator.comparing(BulkFinish::id, Bulk.BY_ID))
                .toList();
        Set<Attempt> ended = new LinkedHashSet<>();
        BulkCall<Completion> call = new BulkCall<>(
                database,
                Operation.FINISH_ALL,
                BulkFinish::id,
                completion -> ended.contains(completion.claim().attempt()),
                (chunk, repetition) -> finish(chunk.dsl(), chunk.jobs(), waiting, ended, repetition));
        call.run(Bulk.chunks(inOrder, CHUNK, completion -> 0));
        call.end(List.of());
        return ended;
    }

    private void finish(
            DSLContext dsl, List<Completion> chunk, boolean waiting, Set<Attempt> ended, Repetition repetition) {
        lockThoseThatAreHeld(dsl, chunk);
        succeedAsClaimed(dsl, rest(chunk, ended), ended);
        List<Completion> open = rest(chunk, ended);
        while (!open.isEmpty()) {
            open = finishAsTheyAreNow(dsl, open, waiting, ended, repetition);
        }
    }

    /** One that has lost its job never gets it back, so it needs no lock, and keeps nobody else from that job. */
    private static void lockThoseThatAreHeld(DSLContext dsl, List<Completion> chunk) {
        if (Session.isOwn(dsl)) {
            return;
        }
        UUID[] tokens = chunk.stream()
                .map(completion -> completion.claim().attempt().token())
                .filter(Objects::nonNull)
                .toArray(UUID[]::new);
        Bulk.lockInOrder(
                dsl,
                chunk.stream().map(BulkFinish::id).toList(),
                SentArray.contains(DSL.val(tokens, SQLDataType.UUID.array()), EXECUTION_JOBS.CLAIM_TOKEN),
                JobRows.LIVE);
    }

    private static List<Completion> rest(List<Completion> chunk, Set<Attempt> ended) {
        return chunk.stream()
                .filter(completion -> !ended.contains(completion.claim().attempt()))
                .toList();
    }

    private static void succeedAsClaimed(DSLContext dsl, List<Completion> chunk, Set<Attempt> ended) {
        List<Map<Field<?>, Object>> succeeded = new ArrayList<>();
        for (Completion completion : chunk) {
            if (PostgresWorkSource.saysNothing(completion)) {
                Claim claim = completion.claim();
                Map<Field<?>, Object> row = row(claim, claim.job().version());
                row.put(RETENTION, claim.job().policies().retention());
                succeeded.add(row);
            }
        }
        succeed(dsl, succeeded, AS_CLAIMED, ended);
    }

    /** One read of the records, and a statement for each kind of change; returns those for which there was no room. */
    private List<Completion> finishAsTheyAreNow(
            DSLContext dsl, List<Completion> open, boolean waiting, Set<Attempt> ended, Repetition repetition) {
        List<String> ids = open.stream().map(BulkFinish::id).distinct().toList();
        Bulk.Reading now = Bulk.read(dsl, ids, Attempts.CLAIM_FIELDS);
        List<Completion> covered =
                open.stream().filter(completion -> now.covers(id(completion))).toList();
        List<Completion> mine = new ArrayList<>();
        Changes changes = new Changes();
        for (Completion completion : covered) {
            Record row = now.rows().get(id(completion));
            if (row == null) {
                continue;
            }
            if (!Attempts.isOwned(row, completion.claim().attempt())) {
                if (single.showsEnd(row, completion.claim().attempt(), completion.finish(), repetition)) {
                    ended.add(completion.claim().attempt());
                }
                continue;
            }
            mine.add(completion);
            try {
                change(changes, Attempts.claim(rows, row), completion, row.get("clock", Instant.class));
            } catch (UnreadableJobException e) {
                // Stays open: the way of a single attempt knows what to do with it.
            }
        }
        succeed(dsl, changes.succeeded, AS_READ, ended);
        end(dsl, changes.ended, ended);
        queueAgain(dsl, changes.queued, ended);
        for (Completion completion : waiting ? rest(mine, ended) : List.<Completion>of()) {
            if (single.finishAsItIsNow(
                    dsl, completion.claim().attempt(), completion.finish(), completion.notes(), repetition)) {
                ended.add(completion.claim().attempt());
            }
        }
        return open.subList(covered.size(), open.size());
    }

    /** A success that adds to the record is left to the way of a single attempt. */
    private void change(Changes changes, Claim read, Completion completion, Instant now) {
        Map<Field<?>, Object> row = row(read, read.job().version());
        row.put(RETENTION, read.job().policies().retention());
        if (completion.finish() instanceof Finish.Succeed) {
            if (PostgresWorkSource.saysNothing(completion)) {
                changes.succeeded.add(row);
            }
            return;
        }
        Claim current = read.withJob(PostgresWorkSource.noted(read.job(), completion.notes()));
        Ending ending = Ending.of(completion.finish(), current.job());
        row.put(EXECUTION_JOBS.STATUS, ending.status());
        row.put(EXECUTION_JOBS.FORGIVEN_ATTEMPTS, ending.forgiven() ? 1 : 0);
        row.put(DELAY, ending.delay());
        row.putAll(rows.recordAndProjections(ending.after(current, now)));
        (ending.status().isFinal() ? changes.ended : changes.queued).add(row);
    }

    private static void succeed(
            DSLContext dsl, List<Map<Field<?>, Object>> succeeded, Condition unchanged, Set<Attempt> ended) {
        write(dsl, succeeded, unchanged, Ending.success(GivenRows.locked(RETENTION)), ended);
    }

    private static void end(DSLContext dsl, List<Map<Field<?>, Object>> changed, Set<Attempt> ended) {
        Map<Field<?>, Object> values = withRecord(changed);
        values.put(EXECUTION_JOBS.STATUS, GivenRows.locked(EXECUTION_JOBS.STATUS));
        CompareAndSet.ended(values, GivenRows.locked(RETENTION));
        write(dsl, changed, AS_READ, values, ended);
    }

    private static void queueAgain(DSLContext dsl, List<Map<Field<?>, Object>> changed, Set<Attempt> ended) {
        Map<Field<?>, Object> values = withRecord(changed);
        values.put(EXECUTION_JOBS.STATUS, JobRows.literal(JobStatus.QUEUED));
        Ending.queuedAgain(values, DbTime.LOCKED.add(GivenRows.locked(DELAY)));
        values.put(
                EXECUTION_JOBS.NEXT_RETRY_AT,
                DSL.when(
                                GivenRows.locked(DELAY)
                                        .eq(DSL.val(Duration.ZERO, DbTime.DURATION))
                                        .and(GivenRows.locked(EXECUTION_JOBS.FORGIVEN_ATTEMPTS)
                                                .eq(1)),
                                EXECUTION_JOBS.NEXT_RETRY_AT)
                        .otherwise(DbTime.LOCKED.add(GivenRows.locked(DELAY))));
        write(dsl, changed, AS_READ, values, ended);
    }

    private static Map<Field<?>, Object> withRecord(List<Map<Field<?>, Object>> changed) {
        Map<Field<?>, Object> values = new LinkedHashMap<>();
        if (!changed.isEmpty()) {
            changed.get(0).keySet().forEach(column -> values.put(column, GivenRows.locked(column)));
        }
        for (Field<?> other : List.of(
                EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.CLAIM_TOKEN, EXECUTION_JOBS.STATUS, RETENTION, DELAY)) {
            values.remove(other);
        }
        values.put(EXECUTION_JOBS.VERSION, EXECUTION_JOBS.VERSION.plus(DSL.inline(1)));
        values.put(EXECUTION_JOBS.UPDATED_AT, DbTime.LOCKED);
        values.put(
                EXECUTION_JOBS.FORGIVEN_ATTEMPTS,
                EXECUTION_JOBS.FORGIVEN_ATTEMPTS.plus(GivenRows.locked(EXECUTION_JOBS.FORGIVEN_ATTEMPTS)));
        return values;
    }

    /** The fence of each row: its token, a live status, and that nobody has changed it since the record was read or claimed. */
    private static void write(
            DSLContext dsl,
            List<Map<Field<?>, Object>> changed,
            Condition unchanged,
            Map<Field<?>, Object> values,
            Set<Attempt> ended) {
        if (changed.isEmpty()) {
            return;
        }
        new GivenRows(changed)
                .update(
                        dsl,
                        values,
                        EXECUTION_JOBS.CLAIM_TOKEN.eq(GivenRows.given(EXECUTION_JOBS.CLAIM_TOKEN)),
                        unchanged,
                        JobRows.LIVE)
                .returningResult(
                        GivenRows.locked(EXECUTION_JOBS.OPERATION_ID), GivenRows.locked(EXECUTION_JOBS.CLAIM_TOKEN))
                .forEach(row -> ended.add(new Attempt(row.value1(), row.value2())));
    }

    private static Map<Field<?>, Object> row(Claim claim, long version) {
        Map<Field<?>, Object> row = new LinkedHashMap<>();
        row.put(EXECUTION_JOBS.OPERATION_ID, claim.job().id());
        row.put(EXECUTION_JOBS.CLAIM_TOKEN, claim.token());
        row.put(EXECUTION_JOBS.VERSION, version);
        return row;
    }

    private static String id(Completion completion) {
        return completion.claim().job().id();
    }
}
