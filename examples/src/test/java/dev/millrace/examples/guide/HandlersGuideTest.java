package dev.millrace.examples.guide;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.examples.guide.Kinds.INVOICE;
import static dev.millrace.examples.guide.Kinds.MAIL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.Millrace;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.examples.guide.Kinds.Invoice;
import dev.millrace.examples.guide.Kinds.Mail;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.CancelResult;
import dev.millrace.store.LogEntry.Level;
import dev.millrace.store.LogLine;
import dev.millrace.testkit.JobRun;
import dev.millrace.testkit.MillraceTest;
import dev.millrace.testkit.TestKit;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.AttemptLostException;
import dev.millrace.worker.EndAttempt;
import dev.millrace.worker.JobContext;
import dev.millrace.worker.JobHandler;
import dev.millrace.worker.StopReason;
import dev.millrace.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The chapter about handlers. */
@MillraceTest
@Timeout(120)
class HandlersGuideTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Mail WELCOME = new Mail("anna@example.com", "Welcome");

    private final TestDatabase database;
    private final Millrace millrace;
    private final TestKit kit;

    HandlersGuideTest(TestDatabase database, Millrace millrace, TestKit kit) {
        this.database = database;
        this.millrace = millrace;
        this.kit = kit;
    }

    // tag::context[]
    record Printed(String file, int pages) {}

    void print(Invoice invoice, JobContext context) {
        context.progress(10, "rendering");
        String file = "invoice-" + invoice.order() + ".pdf";
        context.log("Rendered " + file);
        context.log(Level.DEBUG, "Details", Map.of("pages", "3", "format", "A4"));
        context.warn("The logo is missing");
        context.publishArtifact("file:///var/invoices/" + file);
        context.resultPackage(new Printed(file, 3));
    }
    // end::context[]

    @Test
    void whatAHandlerLeaves_isReadByOthers() {
        kit.handle(INVOICE, this::print)
                .run(INVOICE, new Invoice(17), id("invoice-17"))
                .assertSucceeded();
        // tag::left[]
        Job job = millrace.get("invoice-17").orElseThrow();
        assertThat(job.outcome().warnings()).containsExactly("The logo is missing");
        assertThat(job.outcome().artifacts()).containsExactly("file:///var/invoices/invoice-17.pdf");

        Printed printed = millrace.result("invoice-17", Printed.class).orElseThrow();
        assertThat(printed).isEqualTo(new Printed("invoice-17.pdf", 3));

        List<LogLine> lines = millrace.logs().tail("invoice-17", 50).lines();
        assertThat(lines).extracting(LogLine::message).containsExactly("Rendered invoice-17.pdf", "Details");
        // end::left[]
        assertThat(lines.get(1).fields()).containsEntry("pages", "3");
        assertThat(lines.get(1).attempt()).isEqualTo(1);
    }

    @Test
    void resultOfAFailedAttempt_stays() {
        JobRun run = kit.handle(INVOICE, (invoice, context) -> {
                    print(invoice, context);
                    throw new IllegalStateException("out of paper");
                })
                .run(INVOICE, new Invoice(18), retry(RetryPolicy.NEVER))
                .assertFailed();
        assertThat(millrace.result(run.job().id(), Printed.class)).isPresent();
        assertThat(run.job().outcome().warnings()).containsExactly("The logo is missing");
        assertThat(run.messages()).contains("Rendered invoice-18.pdf");
    }

    @Test
    void result_leftTwice_isTheLastOne() {
        JobRun run = kit.handle(INVOICE, (invoice, context) -> {
                    context.resultPackage("first");
                    context.resultPackage(List.of(1, 2));
                })
                .run(INVOICE, new Invoice(19));
        assertThat(millrace.result(run.job().id(), List.class)).contains(List.of(1, 2));
    }

    private Job runAndCancel(JobHandler<Mail> handler, CountDownLatch started) throws InterruptedException {
        // tag::heartbeat[]
        Job job = millrace.submit(
                MAIL,
                new Mail("everybody@example.com", "News"),
                heartbeat(new HeartbeatPolicy(Duration.ofMillis(200), Duration.ofSeconds(20))));
        // end::heartbeat[]
        try (Worker worker = millrace.worker().handle(MAIL, handler).start()) {
            started.await();
            assertThat(worker.status().alive()).isTrue();
            assertThat(millrace.cancel(job.id(), "anna", "Not today")).isEqualTo(CancelResult.REQUESTED);
            return millrace.await(job, PATIENCE);
        }
    }

    /** Sends a newsletter to one reader after the other. */
    private static final class Newsletter {
        private final CountDownLatch started = new CountDownLatch(1);
        private final CountDownLatch never = new CountDownLatch(1);
        private final List<String> readers = List.of("anna", "ben", "cleo");

        // tag::stop[]
        void send(Mail mail, JobContext context) throws InterruptedException {
            for (String reader : readers) {
                context.throwIfCancelled();
                send(mail, reader);
            }
        }
        // end::stop[]

        private void send(Mail mail, String reader) throws InterruptedException {
            assertThat(mail.subject()).isEqualTo("News");
            started.countDown();
            if (reader.equals("ben")) {
                never.await();
            }
        }
    }

    @Test
    void handler_thatIsInterrupted_endsCancelled() throws InterruptedException {
        Newsletter newsletter = new Newsletter();
        Job job = runAndCancel(newsletter::send, newsletter.started);
        assertThat(job.status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(job.audit().cancellation().by()).isEqualTo("anna");
    }

    @Test
    void handler_thatReturnsInSpiteOfTheRequest_succeeds() throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        AtomicReference<StopReason> reason = new AtomicReference<>();
        Job job = runAndCancel(
                (mail, context) -> {
                    started.countDown();
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        reason.set(context.stopReason().orElseThrow());
                    }
                },
                started);
        assertThat(reason).hasValue(StopReason.CANCELLED);
        assertThat(job.status()).isEqualTo(JobStatus.SUCCEEDED);
    }

    @Test
    void handler_thatFailsForGood_inSpiteOfTheRequest_hasFailed() throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        Job job = runAndCancel(
                (mail, context) -> {
                    started.countDown();
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        throw EndAttempt.fail("Half of them were sent", e);
                    }
                },
                started);
        assertThat(job.status()).isEqualTo(JobStatus.FAILED);
    }

    private static final class Draft {
        private volatile boolean discarded;

        void discard() {
            discarded = true;
        }
    }

    @Test
    void attempt_thatWasTakenForDead_canWriteNothing() throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch thawed = new CountDownLatch(1);
        Draft draft = new Draft();
        Job job = millrace.submit(MAIL, WELCOME);
        Worker worker = millrace.worker()
                .handle(MAIL, (mail, context) -> {
                    started.countDown();
                    thawed.await();
                    context.log("It goes on");
                    // tag::lost[]
                    try {
                        context.progress(50, "half of it");
                    } catch (AttemptLostException e) {
                        draft.discard(); // what this attempt has begun
                        throw e;
                    }
                    // end::lost[]
                })
                .start();
        try (worker) {
            started.await();
            kit.timePasses(job, Duration.ofMinutes(2)); // as if the process had been frozen
            assertThat(kit.recoverNow().requeued()).isEqualTo(1);
            thawed.countDown();
        }
        assertThat(draft.discarded).isTrue();
        Job after = millrace.get(job.id()).orElseThrow();
        assertThat(after.status()).isEqualTo(JobStatus.QUEUED);
        assertThat(after.state().currentPhase()).isNull();
        assertThat(millrace.logs().tail(job.id(), 10).lines()).hasSize(1);
        millrace.cancel(job.id(), null, null);
    }

    /** Somebody else's service, which takes a key with each payment. The first time its answer is lost. */
    private static final class Payments {
        private final Map<String, Long> charged = new TreeMap<>();
        private int calls;

        void charge(String key, long order) {
            charged.putIfAbsent(key, order);
            calls++;
            if (calls == 1) {
                throw new IllegalStateException("The answer was lost");
            }
        }
    }

    @Test
    void jobId_asAKey_makesARepetitionHarmless() {
        Payments payments = new Payments();
        // tag::key[]
        JobHandler<Invoice> charge =
                (invoice, context) -> payments.charge(context.job().id(), invoice.order());
        // end::key[]
        TestKit running = kit.handle(INVOICE, charge);
        running.run(INVOICE, new Invoice(17), id("charge-17"), retry(RetryPolicy.fixed(2, Duration.ZERO)));
        running.runAllDue().forEach(JobRun::assertSucceeded);
        assertThat(payments.calls).isEqualTo(2);
        assertThat(payments.charged).containsOnly(Map.entry("charge-17", 17L));
    }

    @Test
    void insertThatDoesNothingTheSecondTime_makesARepetitionHarmless() {
        DSLContext dsl = DSL.using(database.dataSource(), SQLDialect.POSTGRES);
        Orders ledger = Orders.create(dsl, database.schema(), "ledger");
        // tag::insert[]
        JobHandler<Invoice> book = (invoice, context) -> {
            if (!ledger.insertIfAbsent(dsl, invoice.order())) {
                context.log("It was in the ledger already");
            }
        };
        // end::insert[]
        TestKit running = kit.handle(INVOICE, book);
        running.run(INVOICE, new Invoice(17)).assertSucceeded();
        JobRun again = running.run(INVOICE, new Invoice(17)).assertSucceeded();
        assertThat(again.messages()).containsExactly("It was in the ledger already");
    }
}
