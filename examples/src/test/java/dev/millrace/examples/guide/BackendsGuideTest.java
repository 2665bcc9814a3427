package dev.millrace.examples.guide;

import static dev.millrace.SubmitOption.backend;
import static dev.millrace.SubmitOption.delay;
import static dev.millrace.SubmitOption.id;
import static dev.millrace.SubmitOption.retry;
import static dev.millrace.examples.guide.Kinds.INVOICE;
import static dev.millrace.examples.guide.Kinds.MAIL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.millrace.Millrace;
import dev.millrace.backend.ProcessPool;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.examples.guide.Kinds.Invoice;
import dev.millrace.examples.guide.Kinds.Mail;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.RetryPolicy;
import dev.millrace.recovery.BackendReconciler;
import dev.millrace.recovery.BackendSettings;
import dev.millrace.store.CancelResult;
import dev.millrace.store.LogLine;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.InvalidWorkerException;
import dev.millrace.worker.Worker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The chapter about jobs that something else runs. */
@MillraceDatabase
@Timeout(120)
class BackendsGuideTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final BackendSettings OFTEN =
            BackendSettings.DEFAULT.withBackendSweepInterval(Duration.ofMillis(50));

    private final Mailer mailer = new Mailer();
    private final Millrace millrace;

    BackendsGuideTest(TestDatabase database) {
        this.millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
    }

    // tag::type[]
    record Report(String month) {}

    static final JobType<Report> REPORT = JobType.of("report", Report.class);
    // end::type[]

    @Test
    void process_runsAJob(@TempDir Path folder) throws InterruptedException {
        String script = Path.of("src/test/sh/report.sh").toAbsolutePath().toString();
        // tag::pool[]
        ProcessPool pool = ProcessPool.in(folder)
                .run("report", Path.of("/bin/sh"), script)
                .maxProcesses(2)
                .logs(millrace.logs())
                .open();
        // end::pool[]
        // tag::worker[]
        Worker worker = millrace.worker()
                .backend(pool)
                .backendRecovery(BackendSettings.DEFAULT.withBackendSweepInterval(Duration.ofMillis(200)))
                .handle(MAIL, (mail, context) -> mailer.send(mail))
                .start();
        // end::worker[]
        try (pool;
                worker) {
            // tag::submit-process[]
            Job job = millrace.submit(REPORT, new Report("2026-05"), backend("processes"));
            // end::submit-process[]
            assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(millrace.result(job.id(), Map.class)).contains(Map.of("orders", 7));
            assertThat(millrace.logs().tail(job.id(), 10).lines())
                    .extracting(LogLine::message)
                    .containsExactly("Report of 2026-05, attempt 1");
            Job unknown = millrace.submit(INVOICE, new Invoice(1), backend("processes"));
            assertThat(millrace.await(unknown, PATIENCE).status()).isEqualTo(JobStatus.FAILED);
        }
    }

    @Test
    void delay_ofAJobOfABackend_isRefused() {
        assertThatExceptionOfType(InvalidJobException.class)
                .isThrownBy(() -> millrace.submit(
                        REPORT, new Report("2026-05"), backend("processes"), delay(Duration.ofMinutes(1))));
    }

    @Test
    void worker_withoutAHandler_isRefused() {
        assertThatExceptionOfType(InvalidWorkerException.class)
                .isThrownBy(millrace.worker().backend(new ClusterBackend(new Cluster()))::start);
    }

    @Test
    void backend_ofOnesOwn_runsJobs() throws InterruptedException {
        Cluster cluster = new Cluster();
        BackendSettings settings = OFTEN;
        // tag::reconciler[]
        BackendReconciler reconciler = millrace.backendReconciler(settings, new ClusterBackend(cluster));
        reconciler.start();
        // end::reconciler[]
        try (reconciler) {
            Job job = millrace.submit(MAIL, new Mail("anna@example.com", "Welcome"), backend("cluster"));
            cluster.awaitFirst();
            assertThat(reconciler.status().running()).isTrue();
            cluster.finishAll();
            assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
            Job broken = millrace.submit(
                    MAIL, new Mail("anna@example.com", "broken"), backend("cluster"), retry(RetryPolicy.NEVER));
            assertThat(millrace.await(broken, PATIENCE).outcome().errorMessage())
                    .contains("The pod broke");
        }
    }

    @Test
    void job_atABackend_isCancelledThere() throws InterruptedException {
        Cluster cluster = new Cluster();
        try (BackendReconciler reconciler = millrace.backendReconciler(OFTEN, new ClusterBackend(cluster))) {
            reconciler.start();
            Job job = millrace.submit(INVOICE, new Invoice(17), backend("cluster"), id("invoice-17"));
            cluster.awaitFirst();
            assertThat(millrace.cancel(job.id(), "anna", null)).isEqualTo(CancelResult.REQUESTED);
            assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.CANCELLED);
            assertThat(cluster.isEmpty()).isTrue();
        }
    }
}
