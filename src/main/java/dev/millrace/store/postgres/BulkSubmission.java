package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.AttemptState;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.store.Creation;
import dev.millrace.store.JobConflictException;
import dev.millrace.store.StoreException;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.impl.DSL;

/**
 * Many jobs submitted at once: one insert for each chunk, and a look at the jobs that were there before. Rows are inserted
 * in the order of their ids, since an insert waits for another one of the same id that is not committed yet.
 */
final class BulkSubmission {
    static final int CHUNK = 1_000;

    private static final Field<Duration> DELAY = DSL.field(DSL.name("delay"), DbTime.DURATION);
    private static final Field<Duration> RETENTION = DSL.field(DSL.name("retention"), DbTime.DURATION);

    private final Database database;
    private final JobCodec codec;
    private final JobRows rows;

    /** A job to be submitted, and its record. */
    private record Wanted(NewJob submitted, Job job, JsonText record) {}

    /**
     * What came of the jobs so far.
     *
     * @param creations of those that are there now
     * @param unreadable of those that were there and can't be read, so that it can't be told whether they are the same
     */
    private record Done(Map<String, Creation> creations, Map<String, UnreadableJobException> unreadable) {
        List<Wanted> rest(List<Wanted> chunk) {
            return chunk.stream()
                    .filter(wanted ->
                            !creations.containsKey(wanted.job.id()) && !unreadable.containsKey(wanted.job.id()))
                    .toList();
        }
    }

    BulkSubmission(Database database, JobCodec codec) {
        this.database = database;
        this.codec = codec;
        this.rows = new JobRows(codec);
    }

    List<Creation> submit(List<NewJob> jobs) {
        Map<String, Wanted> first = new HashMap<>();
        for (NewJob job : jobs) {
            first.computeIfAbsent(job.id(), id -> checked(job));
        }
        Done done = new Done(new HashMap<>(), new LinkedHashMap<>());
        var inOrder = Bulk.byId(first);
        BulkCall<Wanted> call = new BulkCall<>(
                database,
                Operation.SUBMIT_ALL,
                wanted -> wanted.job.id(),
                wanted -> done.rest(List.of(wanted)).isEmpty(),
                (chunk, repetition) -> submit(chunk.dsl(), chunk.jobs(), done, repetition));
        call.run(Bulk.chunks(inOrder, CHUNK, wanted -> JobCodec.size(wanted.record)));
        List<StoreException> refusals = new ArrayList<>();
        List<Creation> answers = answers(jobs, done, refusals);
        call.end(refusals);
        return answers;
    }

    /** Refuses what can't be stored before anything is. */
    private Wanted checked(NewJob job) {
        Job wanted = PostgresJobStore.wanted(job);
        JsonText record = JobCodec.bounded(codec.encode(wanted));
        JobRows.lookupKeys(wanted);
        return new Wanted(job, wanted, record);
    }

    private List<Creation> answers(List<NewJob> jobs, Done done, List<StoreException> refusals) {
        List<Creation> answers = new ArrayList<>(jobs.size());
        Map<String, List<String>> conflicts = new LinkedHashMap<>();
        Set<String> answered = new HashSet<>();
        for (NewJob job : jobs) {
            Creation creation = done.creations.get(job.id());
            if (creation == null) {
                continue; // unreadable, or failed
            }
            if (answered.add(job.id()) && creation.created()) {
                answers.add(creation);
                continue;
            }
            List<String> differences =
                    PostgresJobStore.differences(codec, PostgresJobStore.wanted(job), creation.job());
            if (!differences.isEmpty()) {
                conflicts.putIfAbsent(job.id(), differences);
            }
            answers.add(new Creation(creation.job(), false));
        }
        if (!conflicts.isEmpty()) {
            refusals.add(new JobConflictException(conflicts));
        }
        refusals.addAll(done.unreadable.values());
        return answers;
    }

    private void submit(DSLContext dsl, List<Wanted> chunk, Done done, Repetition repetition) {
        // A job that is there when we insert and gone when we read was deleted in between: insert again.
        Rounds.first(
                () -> trySubmit(dsl, done.rest(chunk), done, repetition) ? true : null,
                "some of " + chunk.size() + " jobs, such as \""
                        + chunk.get(0).job.id()
                        + "\", were neither there nor could they be created: a trigger keeps them out, they were deleted in"
                        + " between, or the transaction's snapshot can't see them.");
    }

    /** Whether all of them are there. */
    private boolean trySubmit(DSLContext dsl, List<Wanted> wanted, Done done, Repetition repetition) {
        if (!wanted.isEmpty()) {
            insert(dsl, wanted, done.creations);
        }
        List<Wanted> open = done.rest(wanted);
        boolean all = open.isEmpty();
        while (!all) {
            all = readThoseThatAreThere(dsl, open, done, repetition);
            open = done.rest(open);
        }
        return open.isEmpty();
    }

    /** Returns whether all of them were looked for. */
    private boolean readThoseThatAreThere(DSLContext dsl, List<Wanted> open, Done done, Repetition repetition) {
        List<String> ids = open.stream().map(wanted -> wanted.job.id()).toList();
        Bulk.Reading there = Bulk.read(dsl, ids, JobRows.FIELDS);
        there.rows().forEach((id, row) -> {
            try {
                done.creations.put(id, new Creation(rows.job(row), isOfThisCall(row, repetition)));
            } catch (UnreadableJobException e) {
                done.unreadable.put(id, e);
            }
        });
        return there.covers(ids.get(ids.size() - 1));
    }

    /** Whether an earlier try, whose answer was lost, has inserted it: nobody else's is that young, or it is the same. */
    private static boolean isOfThisCall(Record row, Repetition repetition) {
        return repetition.mayHaveHappened()
                && !row.get(EXECUTION_JOBS.CREATED_AT).isBefore(repetition.notBefore(row.get("clock", Instant.class)));
    }

    private void insert(DSLContext dsl, List<Wanted> chunk, Map<String, Creation> done) {
        List<Field<?>> returned = new ArrayList<>(List.of(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.CREATED_AT));
        String channel = database.channel();
        if (channel != null) {
            returned.add(PostgresJobSignals.sent(DSL.inline(channel), EXECUTION_JOBS.QUEUE));
        }
        Map<String, Job> jobs = new HashMap<>();
        List<Map<Field<?>, Object>> values = new ArrayList<>();
        for (Wanted wanted : chunk) {
            jobs.put(wanted.job.id(), wanted.job);
            values.add(values(wanted));
        }
        GivenRows given = new GivenRows(values);
        Map<Field<?>, Field<?>> columns = new LinkedHashMap<>();
        JobRows.PROJECTED.forEach(column -> columns.put(column, GivenRows.given(column)));
        for (Field<?> same : List.of(EXECUTION_JOBS.OPERATION_ID, EXECUTION_JOBS.QUEUE_PRIORITY)) {
            columns.put(same, GivenRows.given(same));
        }
        Field<Instant> statementTime = DbTime.STATEMENT;
        columns.put(EXECUTION_JOBS.VERSION, DSL.inline(1L));
        columns.put(EXECUTION_JOBS.STATUS, JobRows.literal(JobStatus.QUEUED));
        columns.put(EXECUTION_JOBS.CREATED_AT, statementTime);
        columns.put(EXECUTION_JOBS.UPDATED_AT, statementTime);
        columns.put(EXECUTION_JOBS.EXPIRES_AT, statementTime.add(GivenRows.given(RETENTION)));
        columns.put(EXECUTION_JOBS.QUEUE_VISIBLE_AT, statementTime.add(GivenRows.given(DELAY)));
        dsl.with(given.table())
                .insertInto(EXECUTION_JOBS, columns.keySet())
                .select(DSL.select(columns.values()).from(given.table()))
                .onConflict(EXECUTION_JOBS.OPERATION_ID)
                .doNothing()
                .returningResult(returned)
                .forEach(row -> {
                    String id = row.get(EXECUTION_JOBS.OPERATION_ID);
                    Instant now = row.get(EXECUTION_JOBS.CREATED_AT);
                    Job job = Objects.requireNonNull(jobs.get(id));
                    done.put(id, new Creation(job.at(now, AttemptState.queued(now)), true));
                });
    }

    private Map<Field<?>, Object> values(Wanted wanted) {
        Job job = wanted.job;
        boolean local = job.spec().local();
        Map<Field<?>, Object> values = rows.recordAndProjections(job, wanted.record);
        values.put(EXECUTION_JOBS.OPERATION_ID, job.id());
        values.put(RETENTION, job.policies().retention());
        JobRows.putNullable(values, EXECUTION_JOBS.QUEUE_PRIORITY, local ? job.priority() : null);
        JobRows.putNullable(values, DELAY, local ? wanted.submitted.delay() : null);
        return values;
    }
}
