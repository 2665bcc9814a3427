package dev.millrace.worker;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.jooq.Tables.CONTROLS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.PastAttempt;
import dev.millrace.job.PayloadException;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogLine;
import dev.millrace.store.LogSettings;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.groups.Tuple;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.TransactionalRunnable;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a handler can say about its job, and how it can end its attempt, on a real server. */
@MillraceDatabase
@Timeout(120)
class HandlerOutcomesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final JobType<JsonText> WORK = JobType.of("work", JsonText.class);
    private static final JsonText NOTHING = JsonText.of("{}");
    private static final SubmitOption TWO_ATTEMPTS = retry(RetryPolicy.fixed(2, Duration.ZERO));
    private static final HeartbeatPolicy BRISK = new HeartbeatPolicy(Duration.ofMillis(20), Duration.ofMinutes(1));

    record Size(int width, int height) {}

    private final Millrace millrace;
    private final DSLContext dsl;
    private Worker worker;

    HandlerOutcomesTest(TestDatabase database) {
        millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
        dsl = DSL.using(
                database.dataSource(),
                SQLDialect.POSTGRES,
                new Settings()
                        .withRenderMapping(new RenderMapping()
                                .withSchemata(
                                        new MappedSchema().withInput("millrace").withOutput(database.schema()))));
    }

    @AfterEach
    void stop() {
        worker.close();
    }

    private Job submitAndRun(JobHandler<JsonText> handler, SubmitOption... options) throws InterruptedException {
        Job job = millrace.submit(WORK, NOTHING, options);
        start(handler);
        return millrace.await(job, PATIENCE);
    }

    private void start(JobHandler<JsonText> handler) {
        worker = millrace.worker()
                .handle(WORK, handler)
                .name("worker-1")
                .concurrency(2)
                .pollInterval(Duration.ofMillis(20))
                .withoutRecovery()
                .start();
    }

    /** The same on the first attempt, and a success on the second. */
    private static JobHandler<JsonText> once(JobHandler<JsonText> handler) {
        AtomicInteger runs = new AtomicInteger();
        return (payload, context) -> {
            if (runs.incrementAndGet() == 1) {
                handler.handle(payload, context);
            }
        };
    }

    private static PastAttempt only(Job job) {
        assertThat(job.outcome().history()).hasSize(1);
        return job.outcome().history().get(0);
    }

    // How an attempt ends.

    @Test
    void fail_endsTheJob_thoughItHasAttemptsLeft() throws InterruptedException {
        Job job = submitAndRun((payload, context) -> {
            throw EndAttempt.fail("no such customer");
        });
        assertThat(job.status()).isEqualTo(JobStatus.FAILED);
        assertThat(job.outcome().errorMessage()).isEqualTo("no such customer");
        assertThat(only(job).ending()).isEqualTo(PastAttempt.Ending.FAILED);
    }

    @Test
    void failWithACauseOnly_storesWhatThatSays() throws InterruptedException {
        Job job = submitAndRun((payload, context) -> {
            throw EndAttempt.fail(null, new IllegalStateException("boom"));
        });
        assertThat(job.outcome().errorMessage()).isEqualTo("java.lang.IllegalStateException: boom");
    }

    @Test
    void retry_setsTheDelay_andCounts() throws InterruptedException {
        Job job = submitAndRun(
                once((payload, context) -> {
                    throw EndAttempt.retry(Duration.ofMillis(50), "rate limited");
                }),
                retry(RetryPolicy.fixed(2, Duration.ofDays(1))));
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isEqualTo(2);
        assertThat(only(job).ending()).isEqualTo(PastAttempt.Ending.RETRIED);
        assertThat(only(job).message()).isEqualTo("rate limited");
    }

    @Test
    void retryWithoutAnAttemptLeft_fails() throws InterruptedException {
        Job job = submitAndRun(
                (payload, context) -> {
                    throw EndAttempt.retry(Duration.ZERO, "rate limited");
                },
                TWO_ATTEMPTS);
        assertThat(job.status()).isEqualTo(JobStatus.FAILED);
        assertThat(job.state().attemptCount()).isEqualTo(2);
        assertThat(job.outcome().errorMessage()).isEqualTo("rate limited");
    }

    @Test
    void snooze_costsNoAttempt_howeverOften() throws InterruptedException {
        AtomicInteger runs = new AtomicInteger();
        Job job = submitAndRun(
                (payload, context) -> {
                    if (runs.incrementAndGet() < 5) {
                        throw EndAttempt.snooze(Duration.ofMillis(1), "not ready");
                    }
                },
                retry(RetryPolicy.fixed(1, Duration.ZERO)));
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isEqualTo(5);
        assertThat(job.outcome().errorMessage()).isNull();
        assertThat(job.outcome().history())
                .extracting(PastAttempt::ending)
                .containsOnly(PastAttempt.Ending.HANDED_BACK)
                .hasSize(4);
    }

    @Test
    void snoozeOfAJobThatIsToBeCancelled_cancelsIt() throws InterruptedException {
        Job job = submitAndRun(
                (payload, context) -> {
                    millrace.cancel(context.job().id(), "someone", null);
                    throw EndAttempt.snooze(Duration.ofDays(1), null);
                },
                TWO_ATTEMPTS);
        assertThat(job.status()).isEqualTo(JobStatus.CANCELLED);
    }

    @Test
    void cancel_endsTheJob_andSaysWhy() throws InterruptedException {
        Job job = submitAndRun((payload, context) -> {
            throw EndAttempt.cancel("superseded");
        });
        assertThat(job.status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(only(job).ending()).isEqualTo(PastAttempt.Ending.CANCELLED);
        assertThat(only(job).message()).isEqualTo("superseded");
        assertThat(job.audit().cancellation()).as("a request").isNull();
    }

    @Test
    void endThrownOnAnotherThread_isUnwrapped() throws InterruptedException {
        Job job = submitAndRun((payload, context) -> {
            throw new CompletionException(EndAttempt.cancel("superseded"));
        });
        assertThat(job.status()).isEqualTo(JobStatus.CANCELLED);
    }

    @Test
    void delayThatIsNotAllowed_isRefusedWhereItIsSaid() throws InterruptedException {
        Job job = submitAndRun(
                (payload, context) -> {
                    throw EndAttempt.snooze(Duration.ofSeconds(-1), null);
                },
                retry(RetryPolicy.fixed(1, Duration.ZERO)));
        assertThat(job.status()).isEqualTo(JobStatus.FAILED);
        assertThat(job.outcome().errorMessage()).contains("delay", "PT-1S");
    }

    // What it leaves.

    @Test
    void warningsAndArtifacts_areKept_whateverTheEnd_andAddUp() throws InterruptedException {
        AtomicInteger runs = new AtomicInteger();
        Job job = submitAndRun(
                (payload, context) -> {
                    context.warn("attempt " + context.attempt() + ": \u0000 odd");
                    context.publishArtifact("s3://bucket/" + context.attempt());
                    context.publishArtifact("s3://bucket/same");
                    if (runs.incrementAndGet() == 1) {
                        throw new IllegalStateException("boom");
                    }
                },
                TWO_ATTEMPTS);
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().percentComplete()).isEqualTo(100);
        assertThat(job.outcome().warnings()).containsExactly("attempt 1: \uFFFD odd", "attempt 2: \uFFFD odd");
        assertThat(job.outcome().artifacts()).containsExactly("s3://bucket/1", "s3://bucket/same", "s3://bucket/2");
    }

    @Test
    void moreWarningsThanThereIsRoomFor_keepTheNewest() throws InterruptedException {
        Job job = submitAndRun((payload, context) -> {
            for (int i = 0; i < 150; i++) {
                context.warn("warning " + i);
                context.publishArtifact("artifact " + i);
            }
        });
        assertThat(job.outcome().warnings())
                .hasSize(100)
                .startsWith("warning 50")
                .endsWith("warning 149");
        assertThat(job.outcome().artifacts())
                .hasSize(100)
                .startsWith("artifact 50")
                .endsWith("artifact 149");
    }

    @Test
    void artifactThatIsNotAllowed_isRefused() throws InterruptedException {
        Job job = submitAndRun((payload, context) -> {
            assertThatExceptionOfType(InvalidJobException.class).isThrownBy(() -> context.publishArtifact(""));
            assertThatExceptionOfType(InvalidJobException.class).isThrownBy(() -> context.publishArtifact("a\0b"));
        });
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
    }

    @Test
    void warningWithoutText_harmsNothing() throws InterruptedException {
        Job job = submitAndRun((payload, context) -> context.warn(""));
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.outcome().warnings()).containsExactly("(a warning without text)");
    }

    @Test
    void lines_goToTheJobsLog_withTheirAttempt() throws InterruptedException {
        Job job = submitAndRun(
                once((payload, context) -> {
                    context.log("reading");
                    context.log(LogEntry.Level.WARN, "slow", Map.of("seconds", "12"));
                    throw new IllegalStateException("boom");
                }),
                TWO_ATTEMPTS);
        List<LogLine> lines = millrace.logs().tail(job.id(), 10).lines();
        assertThat(lines).extracting(LogLine::message).containsExactly("reading", "slow");
        assertThat(lines).extracting(LogLine::attempt).containsOnly(1);
        assertThat(lines.get(1).fields()).containsEntry("seconds", "12");
    }

    @Test
    void log_keepsAsManyLines_asTheWorkerIsTold() throws InterruptedException {
        Job job = millrace.submit(WORK, NOTHING);
        worker = millrace.worker()
                .handle(WORK, (payload, context) -> {
                    for (int line = 1; line <= 5; line++) {
                        context.log("line " + line);
                    }
                })
                .logs(LogSettings.DEFAULT.withMaxLogEntries(2))
                .start();
        assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(millrace.logs().tail(job.id(), 10).lines())
                .extracting(LogLine::message)
                .containsExactly("line 4", "line 5");
    }

    @Test
    void result_isThereForCallers_asAValueAndAsItIs() throws InterruptedException {
        Job job = submitAndRun((payload, context) -> context.resultPackage(new Size(640, 480)));
        assertThat(millrace.result(job.id(), Size.class)).contains(new Size(640, 480));
        assertThat(millrace.result(job.id(), JsonText.class)).contains(JsonText.of("{\"width\":640,\"height\":480}"));
        assertThat(millrace.result("another", Size.class)).isEmpty();
        assertThatExceptionOfType(PayloadException.class)
                .isThrownBy(() -> millrace.result(job.id(), Integer.class))
                .withMessageContaining("can't be read as java.lang.Integer")
                .satisfies(e -> assertThat(e.kind()).isNull());
    }

    @Test
    void resultThatCannotBeWritten_failsTheAttempt() throws InterruptedException {
        Job job = submitAndRun(
                (payload, context) -> context.resultPackage(new Object()), retry(RetryPolicy.fixed(1, Duration.ZERO)));
        assertThat(job.status()).isEqualTo(JobStatus.FAILED);
        assertThat(job.outcome().errorMessage()).contains("result", "java.lang.Object", "Jackson");
    }

    @Test
    void attemptThatIsLost_canSayNothing_andItsWarningsGoToTheLog() throws Exception {
        CountDownLatch tried = new CountDownLatch(1);
        Job submitted = millrace.submit(WORK, NOTHING, heartbeat(BRISK));
        start(once((payload, context) -> {
            context.warn("half done");
            millrace.queue().requeue(context.claim().attempt(), Duration.ZERO);
            while (!context.cancelled()) {
                Thread.onSpinWait();
            }
            for (Runnable write : List.<Runnable>of(
                    () -> context.log("late"),
                    () -> context.warn("late"),
                    () -> context.publishArtifact("late"),
                    () -> context.resultPackage("late"),
                    () -> context.progress(1),
                    () -> context.completeIn(null))) {
                assertThatThrownBy(write::run).isInstanceOf(AttemptLostException.class);
            }
            tried.countDown();
        }));
        Job job = millrace.await(submitted, PATIENCE);
        assertThat(tried.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.outcome().warnings()).isEmpty();
        WorkerFixture.until(() -> !millrace.logs().tail(job.id(), 10).lines().isEmpty());
        assertThat(millrace.logs().tail(job.id(), 10).lines())
                .extracting(LogLine::attempt, LogLine::level, LogLine::message)
                .containsExactly(Tuple.tuple(1, LogEntry.Level.WARN, "half done"));
        assertThat(millrace.result(job.id(), JsonText.class)).isEmpty();
    }

    @Test
    void resultOfAnAttemptThatLostItsJobSince_isRefused_beforeAnyBeat() throws InterruptedException {
        AtomicReference<Throwable> refusal = new AtomicReference<>();
        Job job = submitAndRun(once((payload, context) -> {
            millrace.queue().requeue(context.claim().attempt(), Duration.ZERO);
            try {
                context.resultPackage("late");
            } catch (AttemptLostException e) {
                refusal.set(e);
                throw e;
            }
        }));
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(refusal.get()).isInstanceOf(AttemptLostException.class);
        assertThat(millrace.result(job.id(), JsonText.class)).isEmpty();
    }

    // Completion in the handler's own transaction.

    /** Also where sessions begin with a stricter isolation, under which a beat would end it. */
    private void transaction(TransactionalRunnable run) {
        dsl.transaction(tx -> {
            tx.dsl().execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
            run.run(tx);
        });
    }

    private int marks(String job) {
        return dsl.fetchCount(CONTROLS, CONTROLS.NAME.eq("mark:" + job));
    }

    /** The handler's own work: a row, which must be there exactly if the job has succeeded. */
    private static void mark(DSLContext tx, String job) {
        tx.insertInto(CONTROLS)
                .set(CONTROLS.NAME, "mark:" + job)
                .set(CONTROLS.SET_BY, "handler")
                .set(CONTROLS.SET_AT, Instant.EPOCH)
                .execute();
    }

    @Test
    void completionInAHandlersTransaction_isCommittedWithItsWork() throws InterruptedException {
        Job job = submitAndRun((payload, context) -> {
            context.warn("looked at twice");
            transaction(tx -> {
                mark(tx.dsl(), context.job().id());
                millrace.in(tx).complete(context);
                assertThat(millrace.get(context.job().id()).orElseThrow().status())
                        .as("before the commit")
                        .matches(JobStatus::isClaimed);
            });
        });
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.outcome().warnings()).containsExactly("looked at twice");
        assertThat(marks(job.id())).isOne();
    }

    @Test
    void completionThatIsRolledBack_leavesTheJobToItsRetries() throws InterruptedException {
        AtomicInteger runs = new AtomicInteger();
        Job job = submitAndRun(
                (payload, context) -> transaction(tx -> {
                    mark(tx.dsl(), context.job().id());
                    millrace.in(tx).complete(context);
                    if (runs.incrementAndGet() == 1) {
                        throw new IllegalStateException("boom");
                    }
                }),
                TWO_ATTEMPTS);
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isEqualTo(2);
        assertThat(marks(job.id())).isOne();
    }

    @Test
    void completionThatIsRolledBackInSilence_isNoSuccess() throws InterruptedException {
        Job job = submitAndRun(
                (payload, context) -> {
                    try {
                        transaction(tx -> {
                            mark(tx.dsl(), context.job().id());
                            millrace.in(tx).complete(context);
                            throw new IllegalStateException("boom");
                        });
                    } catch (IllegalStateException e) {
                        // swallowed, as it shouldn't be
                    }
                },
                TWO_ATTEMPTS);
        assertThat(job.status()).isEqualTo(JobStatus.FAILED);
        assertThat(job.state().attemptCount()).isEqualTo(2);
        assertThat(job.outcome().errorMessage()).contains("was not committed");
        assertThat(marks(job.id())).isZero();
    }

    @Test
    void handlerThatGoesOnAfterItsCommit_isNotInterrupted_andSucceeds() throws Exception {
        AtomicReference<StopReason> reason = new AtomicReference<>();
        CountDownLatch returned = new CountDownLatch(1);
        Job job = submitAndRun(
                (payload, context) -> {
                    transaction(tx -> millrace.in(tx).complete(context));
                    int beats = beats();
                    while (beats() < beats + 5 && !Thread.currentThread().isInterrupted()) {
                        Thread.onSpinWait();
                    }
                    reason.set(context.stopReason().orElse(null));
                    returned.countDown();
                },
                heartbeat(BRISK));
        assertThat(returned.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(reason).hasNullValue();
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
    }

    /** How many beats there would have been by now. */
    private static int beats() {
        return (int) (System.nanoTime() / BRISK.interval().toNanos() % Integer.MAX_VALUE);
    }

    @Test
    void completionOfAnAttemptThatIsLost_rollsTheTransactionBack() throws InterruptedException {
        Job job = submitAndRun(once((payload, context) -> transaction(tx -> {
            mark(tx.dsl(), context.job().id());
            millrace.queue().requeue(context.claim().attempt(), Duration.ZERO);
            millrace.in(tx).complete(context);
        })));
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isEqualTo(2);
        assertThat(marks(job.id())).isZero();
    }

    /** Its row is locked by the handler's own transaction: to report progress on another connection would wait for itself. */
    @Test
    void contextOfACompletedJob_reportsNothing_andTakesNothingMore() throws InterruptedException {
        Job job = submitAndRun((payload, context) -> transaction(tx -> {
            context.warn("before");
            millrace.in(tx).complete(context);
            context.progress(50, "late");
            for (Runnable late : List.<Runnable>of(
                    () -> context.warn("late"),
                    () -> context.publishArtifact("late"),
                    () -> context.resultPackage("late"))) {
                assertThatThrownBy(late::run)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("before MillraceTransaction.complete");
            }
        }));
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.outcome().warnings()).containsExactly("before");
        assertThat(job.state().percentComplete()).isEqualTo(100);
    }

    @Test
    void handlerThatThrowsAfterItsCommit_hasSucceeded() throws Exception {
        CountDownLatch heard = new CountDownLatch(1);
        AtomicReference<Object> told = new AtomicReference<>();
        Job submitted = millrace.submit(WORK, NOTHING, TWO_ATTEMPTS);
        worker = millrace.worker()
                .handle(WORK, (payload, context) -> {
                    context.warn("odd");
                    transaction(tx -> millrace.in(tx).complete(context));
                    throw new IllegalStateException("boom");
                })
                .listener(new WorkerListener() {
                    @Override
                    public void ended(Ended event) {
                        told.set(event.how());
                        heard.countDown();
                    }

                    @Override
                    public void lost(Lost event) {
                        told.set(event);
                        heard.countDown();
                    }
                })
                .pollInterval(Duration.ofMillis(20))
                .withoutRecovery()
                .start();
        Job job = millrace.await(submitted, PATIENCE);
        assertThat(heard.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(job.state().attemptCount()).isOne();
        assertThat(told.get()).isEqualTo(WorkerListener.End.SUCCEEDED);
        assertThat(millrace.logs().tail(job.id(), 10).lines()).isEmpty();
    }
}
