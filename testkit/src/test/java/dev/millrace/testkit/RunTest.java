package dev.millrace.testkit;

import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.maxDuration;
import static dev.millrace.SubmitOption.priority;
import static dev.millrace.SubmitOption.queue;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.SubmitOption.runtimeProfile;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.Millrace;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.JobType;
import dev.millrace.job.NewJob;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.PayloadException;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Assignment;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.LogEntry;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import dev.millrace.worker.EndAttempt;
import dev.millrace.worker.InvalidWorkerException;
import dev.millrace.worker.JobHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Jobs run on the test's own thread, in transactions of their own. */
@MillraceTest
@Timeout(60)
class RunTest {
    record Work(String what) {}

    private static final JobType<Work> WORK = JobType.of("work", Work.class);
    private static final JobType<Work> OTHER = JobType.of("other", Work.class);

    private final TestDatabase database;
    private final Millrace millrace;
    private final TestKit kit;
    private final List<String> done = new ArrayList<>();
    private final JobHandler<Work> record = (work, context) -> done.add(work.what());

    RunTest(TestDatabase database, Millrace millrace, TestKit kit) {
        this.database = database;
        this.millrace = millrace;
        this.kit = kit;
    }

    /** Whatever one test leaves due, the next one must not run: {@code sinceNow} is tested by that as well. */
    @AfterEach
    void leaveSomethingBehind() {
        millrace.submit(JobType.of("left-behind", Work.class), new Work("of an earlier test"));
    }

    private static Work work(String what) {
        return new Work(what);
    }

    // One job.

    @Test
    void run_ofSucceedingJob_callsItsHandlerOnThisThread_andWritesTheOutcome() {
        List<Thread> threads = new ArrayList<>();
        Job job = millrace.submit(WORK, work("a"));
        JobRun run = kit.handle(WORK, (work, context) -> {
                    threads.add(Thread.currentThread());
                    assertThat(work).isEqualTo(work("a"));
                    assertThat(context.job().id()).isEqualTo(job.id());
                    assertThat(millrace.get(job.id()).orElseThrow().status()).isEqualTo(JobStatus.RUNNING);
                    context.progress(40, "Halfway");
                    assertThat(millrace.get(job.id()).orElseThrow().state().percentComplete())
                            .isEqualTo(40);
                })
                .run(job)
                .assertSucceeded();
        assertThat(threads).containsExactly(Thread.currentThread());
        assertThat(run.handled()).isTrue();
        assertThat(run.thrown()).isNull();
        assertThat(run.attempt()).isOne();
        assertThat(run.job()).isEqualTo(millrace.get(job.id()).orElseThrow());
    }

    @Test
    void run_ofFailingJob_queuesItAgainByItsPolicy_andShowsWhatWasThrown() {
        IllegalArgumentException failure = new IllegalArgumentException("no such file");
        JobRun run = kit.handle(WORK, failing(failure))
                .run(WORK, work("a"), retry(RetryPolicy.fixed(2, Duration.ofSeconds(7))))
                .assertQueuedAgain();
        assertThat(run.thrown()).isSameAs(failure);
        assertThat(run.retryDelay()).contains(Duration.ofSeconds(7));
        assertThat(run.job().outcome().history())
                .extracting(PastAttempt::ending)
                .containsExactly(PastAttempt.Ending.RETRIED);
        assertThatThrownBy(run::assertSucceeded)
                .isInstanceOf(AssertionError.class)
                .hasCause(failure)
                .hasMessageContaining("to have succeeded, but attempt 1 of job \""
                        + run.job().id() + "\" (work) left it" + " Queued, due again after PT7S, with the message")
                .hasMessageContaining("its handler threw java.lang.IllegalArgumentException");
    }

    @Test
    void run_ofLastAttempt_failsTheJob() {
        TestKit failing = kit.handle(WORK, failing(new IllegalStateException("broken")));
        JobRun run = failing.run(WORK, work("a"), retry(RetryPolicy.fixed(2, Duration.ZERO)));
        JobRun last = failing.run(run.job()).assertFailed();
        assertThat(last.attempt()).isEqualTo(2);
        assertThat(last.job().outcome().errorMessage()).contains("broken");
        assertThat(last.retryDelay()).isEmpty();
    }

    /** An assertion in a handler is a failure of its job; the run's own assertion shows it. */
    @Test
    void assertionErrorInAHandler_isTheCauseOfTheRuns() {
        AssertionError failure = new AssertionError("in the handler");
        JobRun run = kit.handle(WORK, failing(failure)).run(WORK, work("a"));
        assertThatThrownBy(run::assertSucceeded)
                .isInstanceOf(AssertionError.class)
                .hasCause(failure);
    }

    @Test
    void handlerThatEndsItsAttemptAsItWants_isObeyed() {
        JobRun run = kit.handle(WORK, (work, context) -> {
                    throw EndAttempt.snooze(Duration.ofMinutes(5), "not ready");
                })
                .run(WORK, work("a"))
                .assertQueuedAgain();
        assertThat(run.thrown()).isInstanceOf(EndAttempt.class);
        kit.timePasses(run.job(), Duration.ofMinutes(5));
        kit.handle(WORK, record).run(run.job()).assertSucceeded();
    }

    @Test
    void run_ofUnreadablePayload_failsWithoutItsHandler() {
        Job job = millrace.submit(JobType.of("work", JsonText.class), JsonText.of("{\"what\":[1]}"));
        JobRun run = kit.handle(WORK, record).run(job).assertQueuedAgain();
        assertThat(run.handled()).isFalse();
        assertThat(run.thrown()).isInstanceOf(PayloadException.class);
        assertThat(run.toString()).contains("its handler was not called because of");
        assertThat(done).isEmpty();
    }

    @Test
    void run_ofJobCancelledByItsHandler_endsCancelled() {
        JobRun run = kit.handle(WORK, (work, context) -> {
                    millrace.cancel(context.job().id(), null, null);
                    context.progress(1);
                    context.throwIfCancelled();
                })
                .run(WORK, work("a"))
                .assertCancelled();
        assertThatThrownBy(run::assertFailed)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("left it Cancelled");
    }

    @Test
    void run_longerThanTheJobAllows_isATimeout() {
        JobRun run = kit.handle(WORK, (work, context) -> Thread.sleep(5))
                .run(WORK, work("a"), maxDuration(Duration.ofMillis(1)))
                .assertFailed();
        assertThat(run.job().outcome().errorMessage()).startsWith("Timed out");
    }

    @Test
    void run_showsTheLinesThatItLogged_andTheResult() {
        Job job = millrace.submit(WORK, work("a"));
        millrace.logs().append(job.id(), List.of(LogEntry.of(0, LogEntry.Level.INFO, "before")));
        List<LogEntry> lines = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            lines.add(LogEntry.of(1, LogEntry.Level.INFO, "line " + i));
        }
        JobRun run = kit.handle(WORK, (work, context) -> {
                    millrace.logs().append(job.id(), lines);
                    context.log("last line");
                    context.warn("a little odd");
                    context.publishArtifact("s3://pages/3");
                    context.resultPackage(work("done"));
                })
                .run(job);
        assertThat(run.messages()).hasSize(601).startsWith("line 0").endsWith("line 599", "last line");
        assertThat(run.log().get(600).attempt()).isOne();
        assertThat(run.result()).isEqualTo(JsonText.of("{\"what\":\"done\"}"));
        assertThat(run.job().outcome().warnings()).containsExactly("a little odd");
        assertThat(run.job().outcome().artifacts()).containsExactly("s3://pages/3");
    }

    @Test
    void run_ofJobThatCannotBeClaimed_saysWhyAndWhatToDo() {
        TestKit recording = kit.handle(WORK, record);
        Job delayed = millrace.submit(WORK, work("a"), delay(Duration.ofMinutes(5)));
        assertThat(refused(() -> recording.run(delayed)))
                .hasMessageContaining("it is due at")
                .hasMessageEndingWith("timePasses(..).")
                .returns(Assignment.Reason.NOT_DUE, error -> error.reason().orElseThrow())
                .returns(delayed.id(), JobNotRunException::jobId);

        Job held = millrace.submit(WORK, work("b"));
        millrace.queue().claim(AssignedClaim.of("someone", held.id()));
        assertThat(refused(() -> recording.run(held)))
                .hasMessageContaining("worker \"someone\" holds it")
                .hasMessageContaining("don't start it there");

        Job ended = recording.run(WORK, work("c")).job();
        assertThat(refused(() -> recording.run(ended))).hasMessageContaining("it has ended: Succeeded");
        assertThat(refused(() -> recording.run("nobody")))
                .returns(Assignment.Reason.NOT_FOUND, error -> error.reason().orElseThrow());
        assertThat(done).containsExactly("c");
    }

    @Test
    void run_ofJobWithoutHandler_isRefused_andLeavesItUntouched() {
        Job job = millrace.submit(OTHER, work("a"));
        assertThat(refused(() -> kit.handle(WORK, record).run(job)))
                .hasMessageContaining("no handler for job \"" + job.id() + "\" of kind \"other\"")
                .hasMessageContaining("handlers for [work]")
                .returns(true, error -> error.reason().isEmpty());
        assertThat(millrace.get(job.id())).contains(job);
    }

    @Test
    void secondHandlerOfAKind_isRefused() {
        TestKit one = kit.handle(WORK, record);
        assertThatThrownBy(() -> one.handle(WORK, record)).isInstanceOf(InvalidWorkerException.class);
        kit.handle(WORK, record); // the kit itself has none
    }

    @Test
    void handlersOfTheApplicationsWorker_areUsed_andTheWorkerIsNotStarted() {
        TestKit theirs = kit.withHandlersOf(millrace.worker().name("theirs").handle(WORK, record));
        Job waiting = millrace.submit(WORK, work("waiting"), queue("elsewhere"));
        theirs.run(WORK, work("a")).assertSucceeded();
        assertThat(done).containsExactly("a");
        assertThat(millrace.get(waiting.id()).orElseThrow().status()).isEqualTo(JobStatus.QUEUED);
        assertThat(theirs.runNext().orElseThrow().job().state().claimedBy()).isEqualTo("theirs");
    }

    @Test
    void jobThatItsHandlerDeletes_isSaidToBeGone() {
        TestKit deleting = kit.handle(
                WORK, (work, context) -> execute("DELETE FROM %s", context.job().id()));
        assertThatThrownBy(() -> deleting.run(WORK, work("a"))).hasMessageContaining("was deleted while it ran");
    }

    @Test
    void unreadableJob_isSaidToBeSo() throws Exception {
        Job job = millrace.submit(WORK, work("a"));
        execute("UPDATE %s SET record = '{}'", job.id());
        assertThat(refused(kit.handle(WORK, record)::runAllDue))
                .hasMessageContaining("its record can't be read")
                .returns(Assignment.Reason.UNREADABLE, error -> error.reason().orElseThrow());
    }

    private void execute(String sql, String id) throws Exception {
        String table = "\"" + database.schema() + "\".execution_jobs";
        try (var connection = database.dataSource().getConnection();
                var statement = connection.prepareStatement(sql.formatted(table) + " WHERE operation_id = ?")) {
            statement.setString(1, id);
            statement.execute();
        }
    }

    // All that are due.

    @Test
    void runAllDue_runsInTheOrderOfClaims_whateverTheQueue() {
        millrace.submit(WORK, work("low"), priority(Priority.LOW));
        millrace.submit(WORK, work("first"));
        millrace.submit(WORK, work("second"), queue("mail"), runtimeProfile("gpu"));
        millrace.submit(WORK, work("third"));
        millrace.submit(OTHER, work("urgent"), queue("mail"), priority(Priority.CRITICAL));
        millrace.submit(WORK, work("later"), delay(Duration.ofHours(1)));
        List<JobRun> runs = kit.handle(WORK, record).handle(OTHER, record).runAllDue();
        assertThat(done).containsExactly("urgent", "first", "second", "third", "low");
        assertThat(runs).allSatisfy(JobRun::assertSucceeded);
        assertThat(runs).extracting(run -> run.job().kind()).startsWith("other").hasSize(5);
    }

    /** In one queue the order is that in which the library's claim gives jobs out. */
    @Test
    void runAllDue_inOneQueue_isInTheOrderInWhichAWorkerGetsThem() throws Exception {
        Random random = new Random(20);
        for (int i = 0; i < 16; i++) {
            Job job = millrace.submit(
                    i % 2 == 0 ? WORK : OTHER,
                    work("job " + i),
                    queue("ordered"),
                    priority(Priority.of(random.nextInt(4))));
            kit.timePasses(job, Duration.ofSeconds(random.nextInt(4)));
        }
        List<String> claimed = new ArrayList<>();
        var source = List.of(new ClaimRequest.Source("managed", "ordered"));
        try (var connection = millrace.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            millrace.in(connection)
                    .queue()
                    .claim(ClaimRequest.of("worker", source, List.of(), 100))
                    .forEach(claim -> claimed.add(claim.job().id()));
            connection.rollback();
        }
        assertThat(kit.handle(WORK, record).handle(OTHER, record).runAllDue())
                .extracting(run -> run.job().id())
                .hasSize(16)
                .containsExactlyElementsOf(claimed);
    }

    @Test
    void runAllDue_runsWhatJobsSubmit_andWhatIsDueAgain() {
        List<Integer> attempts = new ArrayList<>();
        millrace.submit(WORK, work("a"));
        List<JobRun> runs = kit.handle(
                        WORK,
                        (work, context) ->
                                millrace.submit(OTHER, work("b"), retry(RetryPolicy.fixed(3, Duration.ZERO))))
                .handle(OTHER, (work, context) -> {
                    attempts.add(context.attempt());
                    if (context.attempt() < 3) {
                        throw new IllegalStateException("not yet");
                    }
                })
                .runAllDue();
        assertThat(attempts).containsExactly(1, 2, 3);
        assertThat(runs)
                .extracting(JobRun::status)
                .containsExactly(JobStatus.SUCCEEDED, JobStatus.QUEUED, JobStatus.QUEUED, JobStatus.SUCCEEDED);
    }

    @Test
    void runAllDue_ofJobsThatSubmitJobsForEver_ends_andSaysSo() {
        TestKit endless = kit.handle(WORK, (work, context) -> millrace.submit(WORK, work("again")))
                .withRunLimit(5);
        millrace.submit(WORK, work("a"));
        assertThatThrownBy(endless::runAllDue)
                .isInstanceOfSatisfying(
                        RunLimitException.class,
                        error -> assertThat(error.limit()).isEqualTo(5))
                .hasMessageContaining("After 5 runs")
                .hasMessageContaining("Run were, by kind: {work=5}");
        assertThatIllegalArgumentException().isThrownBy(() -> kit.withRunLimit(0));
    }

    @Test
    void runAllDue_ofAsManyAsTheLimit_isNoError() {
        millrace.submitAll(WORK, List.of(work("a"), work("b"), work("c")));
        assertThat(kit.handle(WORK, record).withRunLimit(3).runAllDue()).hasSize(3);
    }

    @Test
    void jobWithoutHandler_thatIsNotDue_isNoError() {
        millrace.submit(OTHER, work("later"), delay(Duration.ofHours(1)));
        assertThat(kit.handle(WORK, record).runAllDue()).isEmpty();
    }

    @Test
    void runAllDue_atAJobWithoutHandler_isRefused_orLeavesItAlone_asAsked() {
        Job other = millrace.submit(OTHER, work("other"), priority(Priority.HIGH));
        Job job = millrace.submit(WORK, work("a"));
        TestKit recording = kit.handle(WORK, record);
        assertThat(refused(recording::runAllDue)).hasMessageContaining("leavingOthersAlone()");
        assertThat(done).isEmpty();

        assertThat(recording.leavingOthersAlone().runAllDue())
                .extracting(run -> run.job().id())
                .containsExactly(job.id());
        assertThat(millrace.get(other.id())).contains(other);
    }

    @Test
    void runAllDue_ofSomeQueuesOrProfiles_leavesTheOthersAlone() {
        millrace.submit(WORK, work("mail"), queue("mail"));
        millrace.submit(WORK, work("gpu"), runtimeProfile("gpu"));
        millrace.submit(OTHER, work("unknown kind"));
        TestKit recording = kit.handle(WORK, record);
        recording.onlyQueues("mail", "parcels").runAllDue();
        assertThat(done).containsExactly("mail");
        recording.onlyProfiles("gpu").runAllDue();
        assertThat(done).containsExactly("mail", "gpu");
    }

    @Test
    void runAllDue_whileClaimsAreOnHold_runsNothing() {
        millrace.submit(WORK, work("a"));
        millrace.controls().hold("operator", "restored");
        try {
            assertThat(kit.handle(WORK, record).runAllDue()).isEmpty();
        } finally {
            millrace.controls().release("operator");
        }
        assertThat(kit.handle(WORK, record).runNext()).isPresent();
        assertThat(kit.handle(WORK, record).runNext()).isEmpty();
    }

    @Test
    void runAllDue_passesOverWhatOthersHaveLocked() throws Exception {
        Job locked = millrace.submit(WORK, work("locked"), id("locked-" + System.nanoTime()));
        millrace.submit(WORK, work("free"));
        try (var connection = millrace.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            millrace.in(connection).cancel(locked.id(), null, null);
            kit.handle(WORK, record).runAllDue();
            connection.rollback();
        }
        assertThat(done).containsExactly("free");
    }

    @Test
    void remoteJobs_areLeftToTheirBackend() {
        millrace.jobs()
                .submit(NewJob.of("remote-" + System.nanoTime(), "work", JsonText.of("{}"))
                        .withSpec(JobSpec.of("work", JsonText.of("{}")).withBackend("cluster")));
        assertThat(kit.handle(WORK, record).runAllDue()).isEmpty();
    }

    private static <T> JobHandler<T> failing(Throwable failure) {
        return (payload, context) -> {
            if (failure instanceof Error error) {
                throw error;
            }
            throw (Exception) failure;
        };
    }

    private static JobNotRunException refused(ThrowingCallable call) {
        return catchThrowableOfType(JobNotRunException.class, call);
    }
}
