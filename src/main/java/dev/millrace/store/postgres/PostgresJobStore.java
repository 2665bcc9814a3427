package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.AttemptState;
import dev.millrace.job.Cancellation;
import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.ManualRetry;
import dev.millrace.job.NewJob;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Creation;
import dev.millrace.store.JobConflictException;
import dev.millrace.store.JobPage;
import dev.millrace.store.JobQuery;
import dev.millrace.store.JobStore;
import dev.millrace.store.Lease;
import dev.millrace.store.RetryResult;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/** Creates, reads and changes jobs. */
final class PostgresJobStore implements JobStore {

    private final Database database;
    private final JobCodec codec;
    private final JobRows rows;
    private final JobLists lists;

    PostgresJobStore(Database database, JobCodec codec) {
        this.database = database;
        this.codec = codec;
        this.rows = new JobRows(codec);
        this.lists = new JobLists(database, rows);
    }

    @Override
    public Creation submit(NewJob job) {
        Job wanted = wanted(job);
        Submission submission = new Submission(rows, wanted, job.delay());
        return database.confirm(
                Operation.SUBMIT,
                job.id(),
                (dsl, repetition) -> insert(
                        dsl,
                        wanted,
                        () -> submission.insert(dsl, database.channel()),
                        repetition,
                        EXECUTION_JOBS.CREATED_AT));
    }

    /** The job that a submission makes; its times are the database's to say. */
    static Job wanted(NewJob job) {
        return new Job(job.id(), job.spec(), job.priority(), job.policies(), job.audit(), null, null, null, null);
    }

    @Override
    public List<Creation> submitAll(List<NewJob> jobs) {
        return new BulkSubmission(database, codec).submit(jobs);
    }

    @Override
    public Map<String, CancelResult> cancelAll(Collection<String> ids, @Nullable String by, @Nullable String why) {
        ids.forEach(id -> Checks.id("ids", id));
        Cancellation.check(by, why);
        return new BulkCancellation(database, rows, this).cancel(ids, by, why);
    }

    @Override
    public RetryResult retry(String id, @Nullable String by, @Nullable String why) {
        Checks.id("id", id);
        ManualRetry.check(by, why);
        return new RetryByHand(database, rows).retry(id, by, why);
    }

    @Override
    public boolean seed(Job job) {
        return new Seeding(database, rows, codec).seed(job);
    }

    @Override
    public Creation create(Job job) {
        AttemptState fresh = AttemptState.queued(job.state().updatedAt());
        if (!job.state().equals(fresh)) {
            throw new InvalidJobException(
                    "state",
                    "a job that is " + job.status().literal() + " at version " + job.version() + " after "
                            + job.state().attemptCount() + " attempts",
                    "a job as it is before its first claim: Queued, version 1, nothing else set");
        }
        Map<Field<?>, Object> values = rows.recordAndProjections(job, JobCodec.bounded(codec.encode(job)));
        values.put(EXECUTION_JOBS.OPERATION_ID, job.id());
        values.put(EXECUTION_JOBS.VERSION, 1L);
        values.put(EXECUTION_JOBS.STATUS, JobStatus.QUEUED);
        values.put(EXECUTION_JOBS.CREATED_AT, job.createdAt());
        values.put(EXECUTION_JOBS.UPDATED_AT, job.state().updatedAt());
        Duration retention = job.policies().retention();
        values.put(EXECUTION_JOBS.EXPIRES_AT, DbTime.plus(DbTime.STATEMENT, retention));
        // Its times are the caller's; that it expires then was said by the database when it came in.
        Field<Instant> insertedAt = DbTime.minus(EXECUTION_JOBS.EXPIRES_AT, DSL.val(retention, DbTime.DURATION));
        return database.confirm(
                Operation.CREATE,
                job.id(),
                (dsl, repetition) -> insert(dsl, job, () -> insert(dsl, job, values), repetition, insertedAt));
    }

    @Override
    public Optional<Job> get(String id) {
        Checks.id("id", id);
        return database.run(Operation.GET, id, dsl -> read(dsl, id));
    }

    @Override
    public JobPage query(JobQuery query) {
        return lists.query(query);
    }

    @Override
    public boolean compareAndSet(Job read, Job changed, Duration retryDelay) {
        return compareAndSet(read, changed, retryDelay, RowLock.waiting(asRead(read)));
    }

    @Override
    public boolean compareAndSet(Job read, Job changed, Duration retryDelay, Lease lease) {
        return compareAndSet(read, changed, retryDelay, RowLock.waitingUnder(lease, asRead(read)));
    }

    private boolean compareAndSet(Job read, Job changed, Duration retryDelay, RowLock lock) {
        CompareAndSet change = new CompareAndSet(rows, codec);
        Map<Field<?>, Object> values = change.assignments(read, changed, retryDelay);
        if (values.get(EXECUTION_JOBS.RECORD) instanceof JsonText record
                && JobCodec.size(record) > JobCodec.size(codec.encode(read))) {
            JobCodec.bounded(record);
        }
        return database.confirm(
                Operation.COMPARE_AND_SET,
                read.id(),
                (dsl, repetition) -> lock.update(dsl, values).execute() == 1
                        || (repetition.mayHaveHappened()
                                && changedBefore(
                                        dsl, repetition, read, row -> change.shows(row, values, read, changed))));
    }

    @Override
    public CancelResult cancel(String id, @Nullable String by, @Nullable String why) {
        Checks.id("id", id);
        Cancellation.check(by, why);
        List<Cancellation> unanswered = new ArrayList<>(); // at their times, which are nobody else's
        return database.run(Operation.CANCEL, id, dsl -> cancel(dsl, id, by, why, unanswered));
    }

    /** @param unanswered requests that were sent, and whose answers were lost; one whose answer will be lost is added */
    CancelResult cancel(
            DSLContext dsl, String id, @Nullable String by, @Nullable String why, List<Cancellation> unanswered) {
        return Rounds.first(
                () -> tryCancel(dsl, id, by, why, unanswered),
                "job \"" + id + "\" was changed by others while it was to be cancelled; try again.");
    }

    private @Nullable CancelResult tryCancel(
            DSLContext dsl, String id, @Nullable String by, @Nullable String why, List<Cancellation> unanswered) {
        Record row = dsl.select(JobRows.FIELDS)
                .select(DbTime.CLOCK.as("clock"))
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .fetchOne();
        if (row == null) {
            return CancelResult.NOT_FOUND;
        }
        if (row.get(EXECUTION_JOBS.STATUS).isFinal()) {
            return endedBy(row, unanswered) ? CancelResult.CANCELLED : CancelResult.ALREADY_ENDED;
        }
        Job job = rows.job(row);
        boolean queued = job.status() == JobStatus.QUEUED;
        if (!queued && job.cancellationRequested()) {
            return CancelResult.REQUESTED;
        }
        Instant now = row.get("clock", Instant.class);
        Job changed = job.cancellationRequested()
                ? job
                : job.withAudit(job.audit().withCancellation(new Cancellation(now, by, why)));
        Map<Field<?>, Object> values = new CompareAndSet(rows, codec)
                .assignments(job, queued ? changed.withStatus(JobStatus.CANCELLED) : changed, Duration.ZERO);
        unanswered.add(Objects.requireNonNull(changed.audit().cancellation()));
        boolean updated = RowLock.waiting(asRead(job)).update(dsl, values).execute() == 1;
        unanswered.remove(unanswered.size() - 1);
        if (!updated) {
            return null;
        }
        return queued ? CancelResult.CANCELLED : CancelResult.REQUESTED;
    }

    /** Whether a request of an earlier try, whose answer was lost, has ended the job. */
    private boolean endedBy(Record row, List<Cancellation> unanswered) {
        return !unanswered.isEmpty()
                && row.get(EXECUTION_JOBS.STATUS) == JobStatus.CANCELLED
                && unanswered.contains(rows.job(row).audit().cancellation());
    }

    /** Whether an earlier try, whose answer was lost, has made this very change. */
    private static boolean changedBefore(
            DSLContext dsl, Repetition repetition, Job read, Predicate<Record> showsTheChange) {
        Record row = dsl.select(JobRows.FIELDS)
                .select(DbTime.CLOCK.as("clock"))
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(read.id()))
                .and(EXECUTION_JOBS.VERSION.eq(read.version() + 1))
                .fetchOne();
        return row != null
                && !row.get(EXECUTION_JOBS.UPDATED_AT).isBefore(repetition.notBefore(row.get("clock", Instant.class)))
                && showsTheChange.test(row);
    }

    /** The row, if it is still of the version that was read. */
    private static Condition asRead(Job read) {
        return EXECUTION_JOBS.OPERATION_ID.eq(read.id()).and(EXECUTION_JOBS.VERSION.eq(read.version()));
    }

    /** Null if there is one of its id. */
    private static @Nullable Job insert(DSLContext dsl, Job job, Map<Field<?>, Object> values) {
        int inserted = dsl.insertInto(EXECUTION_JOBS)
                .set(values)
                .onConflict(EXECUTION_JOBS.OPERATION_ID)
                .doNothing()
                .execute();
        return inserted == 0 ? null : job;
    }

    /** @param insertedAt when a row that has not ended came in, by the database's time */
    private Creation insert(
            DSLContext dsl,
            Job wanted,
            Supplier<@Nullable Job> insertion,
            Repetition repetition,
            Field<Instant> insertedAt) {
        return Rounds.first(
                () -> tryInsert(dsl, wanted, insertion, repetition, insertedAt),
                "job \"" + wanted.id()
                        + "\" was neither there nor could it be created: it was deleted in between, or the"
                        + " transaction's snapshot can't see it.");
    }

    /** The answer, or null if the job was there when it was to be inserted, and gone when it was to be read. */
    private @Nullable Creation tryInsert(
            DSLContext dsl,
            Job wanted,
            Supplier<@Nullable Job> insertion,
            Repetition repetition,
            Field<Instant> insertedAt) {
        Job inserted = insertion.get();
        if (inserted != null) {
            return new Creation(inserted, true);
        }
        Record row = dsl.select(JobRows.FIELDS)
                .select(insertedAt.as("inserted_at"), DbTime.CLOCK.as("clock"))
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(wanted.id()))
                .fetchOne();
        if (row != null) {
            Job there = rows.job(row);
            refuseOther(wanted, there);
            return new Creation(there, repetition.mayHaveHappened() && cameInSince(row, repetition));
        }
        return null;
    }

    /**
     * Whether the job came in while this call was under way: then it is taken for the work of an earlier try. It may be
     * that of another call with the same id and content in the same seconds, of which nothing can tell.
     */
    private static boolean cameInSince(Record row, Repetition repetition) {
        Instant began = repetition.notBefore(row.get("clock", Instant.class));
        return !row.get("inserted_at", Instant.class).isBefore(began);
    }

    private Optional<Job> read(DSLContext dsl, String id) {
        return dsl.select(JobRows.FIELDS)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .fetchOptional(rows::job);
    }

    private void refuseOther(Job wanted, Job there) {
        List<String> differences = differences(codec, wanted, there);
        if (!differences.isEmpty()) {
            throw new JobConflictException(wanted.id(), differences);
        }
    }

    /** In what a job differs from the one that was submitted under its id; nothing if that one is the same. */
    static List<String> differences(JobCodec codec, Job wanted, Job there) {
        Map<String, Boolean> same = new LinkedHashMap<>();
        same.put("kind", wanted.spec().kind().equals(there.spec().kind()));
        same.put(
                "runtimeProfile",
                wanted.spec().runtimeProfile().equals(there.spec().runtimeProfile()));
        same.put("queue", wanted.spec().queue().equals(there.spec().queue()));
        same.put("backend", wanted.spec().backend().equals(there.spec().backend()));
        same.put("priority", wanted.priority() == there.priority());
        same.put("policies", wanted.policies().equals(there.policies()));
        same.put(
                "parameters",
                codec.sameJson(wanted.spec().parameters(), there.spec().parameters()));
        List<String> differences = new ArrayList<>();
        same.forEach((part, equal) -> {
            if (!equal) {
                differences.add(part);
            }
        });
        return differences;
    }
}
