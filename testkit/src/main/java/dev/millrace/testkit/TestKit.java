package dev.millrace.testkit;

import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.WorkerBuilder;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.recovery.JobReconciler;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.recovery.RetentionReport;
import dev.millrace.recovery.RetentionSettings;
import dev.millrace.recovery.RetentionSweeper;
import dev.millrace.recovery.SweepReport;
import dev.millrace.worker.InlineWorker;
import dev.millrace.worker.JobHandler;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jooq.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * What tests of an application need of its jobs: to say what was submitted, to run jobs without a worker, and to let time
 * pass without waiting.
 *
 * <pre>{@code
 * TestKit kit = TestKit.on(millrace).handle(SHIP, shipping::ship);
 *
 * orders.place(7);
 * kit.assertSubmitted(SHIP).withPayload(new Ship(7)).once();
 * kit.runAllDue().forEach(JobRun::assertSucceeded);
 * }</pre>
 *
 * <p>Jobs run on the caller's thread, by the library's own code for attempts: see {@link InlineWorker} for what is missing. There
 * should be no worker beside it, or that may have the jobs first.
 *
 * <p>By itself a kit does everything in transactions of its own. One made by {@code in} does everything in the test's
 * transaction, and commits nothing: a rollback undoes the jobs' runs like all else. What handlers do is undone with that if
 * they do it in the same transaction, as those do that join the thread's.
 *
 * <p>Immutable: methods that change something of the kit return another one. As safe for use by several threads as the
 * handlers are, and, in a transaction, as the caller's connection is.
 */
public final class TestKit {
    /** How many jobs {@link #runAllDue} runs at most, unless told otherwise. */
    public static final int DEFAULT_RUN_LIMIT = 1_000;

    private final Millrace millrace;
    private final InlineWorker worker;
    private final Scope scope;
    private final Selection selection;
    private final boolean othersLeftAlone;
    private final int runLimit;

    private TestKit(
            Millrace millrace,
            InlineWorker worker,
            Scope scope,
            Selection selection,
            boolean othersLeftAlone,
            int runLimit) {
        this.millrace = millrace;
        this.worker = worker;
        this.scope = scope;
        this.selection = selection;
        this.othersLeftAlone = othersLeftAlone;
        this.runLimit = runLimit;
    }

    /**
     * A kit without handlers, which sees all jobs.
     *
     * @param millrace where the jobs are
     * @return the kit; it has not looked at the database yet
     */
    public static TestKit on(Millrace millrace) {
        InlineWorker none = millrace.worker().inline();
        return new TestKit(millrace, none, Scope.own(millrace), Selection.ALL, false, DEFAULT_RUN_LIMIT);
    }

    // What it works with.

    /**
     * With one more handler.
     *
     * @param <T> the payload's type
     * @param type the kind of job, and the type of its payload
     * @param handler runs a job
     * @return such a kit
     * @throws dev.millrace.worker.InvalidWorkerException if the kind has a handler already
     */
    public <T> TestKit handle(JobType<T> type, JobHandler<? super T> handler) {
        return new TestKit(millrace, worker.handle(type, handler), scope, selection, othersLeftAlone, runLimit);
    }

    /**
     * With the application's own handlers, in the place of those that the kit had.
     *
     * @param worker the worker as the application sets it up. It is not started; of it only the handlers and the name are
     *     used
     * @return such a kit
     */
    public TestKit withHandlersOf(WorkerBuilder worker) {
        return new TestKit(millrace, worker.inline(), scope, selection, othersLeftAlone, runLimit);
    }

    /**
     * In the caller's jOOQ transaction.
     *
     * @param transaction the configuration that jOOQ hands to the body of a transaction, or one whose connections are the
     *     transaction's, such as that of Spring Boot's {@code DSLContext}
     * @return such a kit
     */
    public TestKit in(Configuration transaction) {
        return in(Scope.in(millrace, transaction));
    }

    /**
     * In the transaction on the caller's connection.
     *
     * @param connection open, and not in auto-commit mode
     * @return such a kit
     */
    public TestKit in(Connection connection) {
        return in(Scope.in(millrace, connection));
    }

    /**
     * In whatever transaction a framework has open.
     *
     * @param transactionAware hands out the connection of the surrounding transaction, as Spring's {@code
     *     TransactionAwareDataSourceProxy} does; not an ordinary pool
     * @return such a kit
     */
    public TestKit in(DataSource transactionAware) {
        return in(Scope.in(millrace, transactionAware));
    }

    private TestKit in(Scope transaction) {
        return new TestKit(millrace, worker, transaction, selection, othersLeftAlone, runLimit);
    }

    /**
     * For the jobs that are submitted from now on: all others are neither run, nor made older, nor seen by assertions. So
     * tests that share a database don't see each other's jobs, as long as they don't run at the same time. Reads the
     * ids of all jobs that are there.
     *
     * @return such a kit
     */
    public TestKit sinceNow() {
        return seeing(selection.since(scope.dsl()));
    }

    /**
     * For the jobs of these queues only.
     *
     * @param queues their names; none for all queues
     * @return such a kit
     */
    public TestKit onlyQueues(String... queues) {
        return seeing(selection.ofQueues(queues));
    }

    /**
     * For the jobs of these profiles only.
     *
     * @param profiles their names; none for all profiles
     * @return such a kit
     */
    public TestKit onlyProfiles(String... profiles) {
        return seeing(selection.ofProfiles(profiles));
    }

    private TestKit seeing(Selection jobs) {
        return new TestKit(millrace, worker, scope, jobs, othersLeftAlone, runLimit);
    }

    /**
     * Leaves due jobs alone for whose kind there is no handler, rather than to throw when it is their turn.
     *
     * @return such a kit
     */
    public TestKit leavingOthersAlone() {
        return new TestKit(millrace, worker, scope, selection, true, runLimit);
    }

    /**
     * With another limit of {@link #runAllDue}; {@value #DEFAULT_RUN_LIMIT} by default.
     *
     * @param limit how many jobs are run at most, from 1
     * @return such a kit
     */
    public TestKit withRunLimit(int limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("Invalid run limit: found " + limit + ", allowed is 1 or more.");
        }
        return new TestKit(millrace, worker, scope, selection, othersLeftAlone, limit);
    }

    // Running jobs.

    /**
     * Runs a job that is due.
     *
     * @param job the job
     * @return what became of it
     * @throws JobNotRunException if it can't be claimed now, or there is no handler for it
     */
    public JobRun run(Job job) {
        return run(job.id());
    }

    /**
     * Runs a job that is due.
     *
     * @param id the job's id
     * @return what became of it
     * @throws JobNotRunException if it can't be claimed now, or there is no handler for it
     */
    public JobRun run(String id) {
        return new JobRuns(scope, worker).run(id);
    }

    /**
     * Submits a job and runs it: the shortest way to test a handler.
     *
     * @param <T> the payload's type
     * @param type the kind of job, and the type of its payload
     * @param payload the handler's input
     * @param options what is to be other than the default
     * @return what became of it
     * @throws JobNotRunException if it can't be claimed now, as it is delayed, or there is no handler for it
     */
    public <T> JobRun run(JobType<T> type, T payload, SubmitOption... options) {
        return run(scope.submit(type, payload, options));
    }

    /**
     * Runs the next due job: in one queue the one that a worker would get, and of several queues the most urgent one, and
     * among equals that which was due first.
     *
     * @return what became of it; empty if none is due, or claims are on hold
     * @throws JobNotRunException if there is no handler for the kind of that job, and {@link #leavingOthersAlone} was not
     *     said; nothing was run
     */
    public Optional<JobRun> runNext() {
        return new JobRuns(scope, worker).runNext(selection, othersLeftAlone, new HashSet<>());
    }

    /**
     * Runs due jobs, in the order of {@link #runNext}, until none is due, including those that were submitted by the
     * ones before, or are due again.
     *
     * @return what became of them, in the order in which they were run
     * @throws JobNotRunException if there is no handler for the kind of a job, and {@link #leavingOthersAlone} was not said;
     *     those before it have been run
     * @throws RunLimitException if jobs are still due after as many runs as {@link #withRunLimit} says
     */
    public List<JobRun> runAllDue() {
        return new JobRuns(scope, worker).runAllDue(selection, othersLeftAlone, runLimit);
    }

    // Time.

    /**
     * Lets time pass for all jobs that this kit sees, their logs and results: all of their times are moved back. Then
     * delayed jobs are due, heartbeats are stale, retention is over. Nothing happens to them by that: see {@link #runAllDue}, {@link
     * #recoverNow} and {@link #sweepRetentionNow}. Leases, and whatever the application keeps, don't age.
     *
     * @param time how much, zero or longer
     */
    public void timePasses(Duration time) {
        scope.change(dsl -> new Aging(dsl, checked(time)).jobs(selection));
    }

    /**
     * Lets time pass for one job, its log and its result.
     *
     * @param job the job
     * @param time how much, zero or longer
     */
    public void timePasses(Job job, Duration time) {
        timePasses(job.id(), time);
    }

    /**
     * Lets time pass for one job, its log and its result.
     *
     * @param id the job's id
     * @param time how much, zero or longer
     * @throws IllegalArgumentException if there is no such job
     */
    public void timePasses(String id, Duration time) {
        scope.change(dsl -> {
            if (!new Aging(dsl, checked(time)).job(id)) {
                throw new IllegalArgumentException("There is no job \"" + id + "\" for which time could pass.");
            }
        });
    }

    private static Duration checked(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException(
                    "Invalid time to pass: found " + time + ", allowed is zero or longer. Time doesn't go back.");
        }
        return time;
    }

    /**
     * Has the recovery sweep once, over all jobs: overdue attempts are ended, as by a {@link JobReconciler} that has watched
     * the database for long enough to trust stale heartbeats.
     *
     * @return what it found and did
     * @throws IllegalStateException if the sweep failed
     */
    public SweepReport recoverNow() {
        try (JobReconciler reconciler = new JobReconciler(
                RecoverySettings.DEFAULT,
                scope.store().reconcilable(),
                scope.store().queue())) {
            SweepReport report = reconciler.tickWithoutGrace();
            throwIfFailed("The recovery", report.failure());
            return report;
        }
    }

    /**
     * Has the retention sweep once, over all jobs: what has outlived its retention is deleted.
     *
     * @return what was deleted
     * @throws IllegalStateException if the sweep failed
     */
    public RetentionReport sweepRetentionNow() {
        try (RetentionSweeper sweeper =
                new RetentionSweeper(RetentionSettings.DEFAULT, scope.store().retention())) {
            RetentionReport report = sweeper.tick();
            throwIfFailed("The retention sweep", report.failure());
            return report;
        }
    }

    private static void throwIfFailed(String what, @Nullable Throwable failure) {
        if (failure != null) {
            throw new IllegalStateException(what + " failed: " + failure.getMessage(), failure);
        }
    }

    // What was submitted.

    /**
     * Checks that jobs of this kind were submitted, whatever has become of them since. A job that retention has deleted
     * is no longer seen.
     *
     * @param <T> the payload's type
     * @param type the kind of job, and the type of its payload
     * @return the jobs of this kind, to say more of them
     * @throws AssertionError if there are none; the message shows which jobs were submitted
     */
    public <T> SubmittedJobs<T> assertSubmitted(JobType<T> type) {
        return submitted(type).assertSome();
    }

    /**
     * Checks that no job of this kind was submitted.
     *
     * @param type the kind of job
     * @throws AssertionError if there are some; the message shows them
     */
    public void assertNotSubmitted(JobType<?> type) {
        submitted(type).assertNone();
    }

    /**
     * Checks that no job of this kind was submitted with such a payload.
     *
     * @param <T> the payload's type
     * @param type the kind of job, and the type of its payload
     * @param condition is given the payload
     * @throws AssertionError if there are some; the message shows them
     */
    public <T> void assertNotSubmitted(JobType<T> type, Predicate<? super T> condition) {
        submitted(type).filteredByPayload(condition).assertNone();
    }

    /**
     * Checks that no job was submitted.
     *
     * @throws AssertionError if there are some; the message shows them
     */
    public void assertNothingSubmitted() {
        if (!SubmittedJob.ids(scope, selection.condition()).isEmpty()) {
            throw new AssertionError("Expected no jobs. " + JobTexts.submitted(scope, selection));
        }
    }

    private <T> SubmittedJobs<T> submitted(JobType<T> type) {
        return SubmittedJobs.read(type, millrace.payloads(), scope, selection);
    }
}
