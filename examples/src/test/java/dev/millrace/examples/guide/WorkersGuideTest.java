package dev.millrace.examples.guide;

import static dev.millrace.SubmitOption.heartbeat;
import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.queue;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.examples.guide.Kinds.INVOICE;
import static dev.millrace.examples.guide.Kinds.MAIL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.AssignedRun;
import dev.millrace.Millrace;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.examples.guide.Kinds.Invoice;
import dev.millrace.examples.guide.Kinds.Mail;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.PastAttempt.Ending;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.Assignment.Reason;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.JobContext;
import dev.millrace.worker.Worker;
import dev.millrace.worker.WorkerStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The chapters about a first job, workers, and a worker for one job. */
@MillraceDatabase
@Timeout(120)
class WorkersGuideTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Mail WELCOME = new Mail("anna@example.com", "Welcome");

    private final Mailer mailer = new Mailer();
    private final DataSource dataSource;
    private final String schema;
    private final Millrace millrace;

    WorkersGuideTest(TestDatabase database) {
        this.dataSource = database.dataSource();
        this.schema = database.schema();
        this.millrace = Millrace.on(dataSource).withSchema(schema);
    }

    private JobStatus statusOf(Job job) {
        return millrace.get(job.id()).orElseThrow().status();
    }

    @Test
    void job_isRunByAWorker_andAwaited() throws InterruptedException {
        // tag::open[]
        Millrace millrace = Millrace.on(dataSource).withSchema(schema);
        millrace.migrate();
        // end::open[]

        // tag::submit[]
        Job job = millrace.submit(MAIL, new Mail("anna@example.com", "Welcome"));
        // end::submit[]

        // tag::work[]
        Worker worker = millrace.worker()
                .handle(MAIL, (mail, context) -> mailer.send(mail))
                .start();
        // end::work[]
        try (worker) {
            // tag::await[]
            Job ended = millrace.await(job, Duration.ofSeconds(30));
            assertThat(ended.status()).isEqualTo(JobStatus.SUCCEEDED);
            // end::await[]
        }
        assertThat(mailer.sent()).containsExactly(WELCOME);
    }

    /** Counts how many run at a time. */
    private static final class Printer {
        private final AtomicInteger running = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();

        void print(Invoice invoice) throws InterruptedException {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            TimeUnit.MILLISECONDS.sleep(invoice.order() % 20); // the work
            running.decrementAndGet();
        }
    }

    @Test
    void worker_hasItsSettings_andRunsFewInvoicesAtATime() throws InterruptedException {
        Printer printer = new Printer();
        Job elsewhere = millrace.submit(MAIL, WELCOME, queue("elsewhere"));
        Job welcome = millrace.submit(MAIL, WELCOME, queue("mails"));
        List<Job> invoices = millrace.submitAll(
                INVOICE, LongStream.rangeClosed(1, 12).mapToObj(Invoice::new).toList());
        // tag::settings[]
        Worker worker = millrace.worker()
                .name("shop-1")
                .queues("default", "mails")
                .concurrency(20)
                .concurrency(INVOICE, 2)
                .pollInterval(Duration.ofSeconds(1))
                .drainTimeout(Duration.ofSeconds(60))
                .handle(MAIL, (mail, context) -> mailer.send(mail))
                .handle(INVOICE, (invoice, context) -> printer.print(invoice))
                .start();
        // end::settings[]
        try (worker) {
            for (Job invoice : invoices) {
                millrace.await(invoice, PATIENCE);
            }
            assertThat(millrace.await(welcome, PATIENCE).state().claimedBy()).isEqualTo("shop-1");
        }
        assertThat(printer.most).hasValueLessThanOrEqualTo(2);
        assertThat(statusOf(elsewhere)).isEqualTo(JobStatus.QUEUED);
    }

    @Test
    void worker_isWoken_whenAJobComesIn() throws InterruptedException {
        // tag::wake-ups[]
        Millrace millrace = Millrace.on(dataSource).withSchema(schema).withWakeUps();
        Worker worker = millrace.worker()
                .pollInterval(Duration.ofMinutes(1))
                .handle(MAIL, (mail, context) -> mailer.send(mail))
                .start();
        // end::wake-ups[]
        try (worker) {
            Job job = millrace.submit(MAIL, WELCOME);
            assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
        }
    }

    @Test
    void manyShortJobs_areClaimedAhead_andTheirOutcomesWrittenTogether() throws InterruptedException {
        List<Job> jobs = millrace.submitAll(
                MAIL,
                LongStream.range(0, 60)
                        .mapToObj(n -> new Mail("reader-" + n, "News"))
                        .toList());
        // tag::short-jobs[]
        Worker worker = millrace.worker()
                .concurrency(4)
                .prefetch(300)
                .outcomeBuffer(200, Duration.ofMillis(20))
                .handle(MAIL, (mail, context) -> mailer.send(mail))
                .start();
        // end::short-jobs[]
        try (worker) {
            for (Job job : jobs) {
                assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            }
        }
        assertThat(mailer.sent()).hasSize(60);
    }

    @Test
    void closing_letsHandlersFinish() throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch closing = new CountDownLatch(1);
        Job job = millrace.submit(MAIL, WELCOME);
        Worker worker = millrace.worker()
                .handle(MAIL, (mail, context) -> {
                    started.countDown();
                    closing.await();
                    mailer.send(mail);
                })
                .start();
        started.await();
        // tag::status[]
        WorkerStatus status = worker.status();
        assertThat(status.claiming()).isEqualTo(WorkerStatus.Claiming.YES);
        assertThat(status.running()).isEqualTo(1);
        // end::status[]
        closing.countDown();
        worker.close();
        assertThat(statusOf(job)).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(worker.status().claiming()).isEqualTo(WorkerStatus.Claiming.CLOSED);
    }

    @Test
    void handlerThatRunsOn_whenTheDrainTimeoutIsOver_isInterrupted_andItsJobHandedBack() throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        Job job = millrace.submit(MAIL, WELCOME, retry(RetryPolicy.NEVER));
        Worker worker = millrace.worker()
                .drainTimeout(Duration.ZERO)
                .handle(MAIL, (mail, context) -> {
                    started.countDown();
                    new CountDownLatch(1).await();
                })
                .start();
        started.await();
        // tag::close[]
        worker.close();
        Job handedBack = millrace.get(job.id()).orElseThrow();
        assertThat(handedBack.status()).isEqualTo(JobStatus.QUEUED);
        assertThat(handedBack.outcome().history().get(0).ending()).isEqualTo(Ending.HANDED_BACK);
        // end::close[]
        millrace.cancel(job.id(), null, null);
    }

    private void print(Invoice invoice, JobContext context) {
        context.progress(100, "Printed " + invoice.order());
    }

    @Test
    void assignedJob_isRunByAProcessOfItsOwn() throws InterruptedException {
        String jobId = "invoice-17";
        millrace.submit(
                INVOICE,
                new Invoice(17),
                id(jobId),
                queue("one process each"),
                heartbeat(new HeartbeatPolicy(Duration.ofSeconds(5), Duration.ofSeconds(15))));
        // tag::assigned[]
        AssignedRun run = millrace.worker().handle(INVOICE, this::print).runAssigned(jobId, Duration.ofMinutes(1));
        assertThat(run.ran()).isTrue();
        assertThat(run.job().status()).isEqualTo(JobStatus.SUCCEEDED);
        // end::assigned[]

        // tag::refused[]
        AssignedRun again = millrace.worker().handle(INVOICE, this::print).runAssigned(jobId, Duration.ZERO);
        assertThat(again.ran()).isFalse();
        assertThat(again.refusal().reason()).isEqualTo(Reason.ENDED);
        // end::refused[]
    }
}
