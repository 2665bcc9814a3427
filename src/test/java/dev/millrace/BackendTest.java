package dev.millrace;

import static dev.millrace.SubmitOption.backend;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.backend.Backend;
import dev.millrace.backend.Observation;
import dev.millrace.backend.RemoteOperation;
import dev.millrace.backend.StartRequest;
import dev.millrace.backend.StartResult;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Cancellation;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.recovery.BackendReport;
import dev.millrace.recovery.BackendSettings;
import dev.millrace.recovery.RecoveryListener;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A worker looks after the jobs of the backends that it is given. */
@MillraceDatabase
class BackendTest {
    record Sum(int a, int b) {}

    private static final JobType<Sum> SUM = JobType.of("sum", Sum.class);
    private static final BackendSettings BRISK =
            BackendSettings.DEFAULT.withBackendSweepInterval(Duration.ofMillis(20));

    private final Millrace millrace;

    BackendTest(TestDatabase database) {
        millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
    }

    private WorkerBuilder worker() {
        return millrace.worker().handle(JobType.of("local", Sum.class), (sum, context) -> {});
    }

    @Test
    void worker_withABackend_hasItRunItsJobs() throws InterruptedException {
        try (Worker worker = worker().backend(new Prompt("calculator"))
                .backendRecovery(BRISK)
                .start()) {
            assertThat(worker).isNotNull();
            Job job = millrace.submit(SUM, new Sum(1, 2), backend("calculator"));
            assertThat(millrace.await(job, Duration.ofSeconds(30)).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(millrace.results().get(job.id())).contains(JsonText.of("{\"a\":1,\"b\":2}"));
        }
    }

    @Test
    void worker_tellsItsListenersOfItsBackendsSweeps() throws InterruptedException {
        BlockingQueue<BackendReport> told = new LinkedBlockingQueue<>();
        RecoveryListener listener = new RecoveryListener() {
            @Override
            public void backendSwept(BackendReport report, Duration took) {
                told.add(report);
            }
        };
        try (Worker worker =
                worker().backendRecovery(BRISK).recoveryListener(listener).start()) {
            assertThat(worker).isNotNull();
            assertThat(told.poll(30, TimeUnit.SECONDS)).isNotNull();
        }
    }

    /** With recovery left to others it looks after its own backends nevertheless. */
    @Test
    void worker_withoutRecovery_hasItsBackendsNevertheless() throws InterruptedException {
        try (Worker worker = worker().withoutRecovery()
                .backend(new Prompt("abacus"))
                .backendRecovery(BRISK)
                .start()) {
            assertThat(worker).isNotNull();
            Job job = millrace.submit(SUM, new Sum(1, 2), backend("abacus"));
            assertThat(millrace.await(job, Duration.ofSeconds(30)).status()).isEqualTo(JobStatus.SUCCEEDED);
        }
    }

    /** Nobody claims such a job, and nobody gives it its place back. */
    @Test
    void worker_withoutBackends_endsQueuedJobsThatAreToBeCancelled() {
        Job job = millrace.submit(SUM, new Sum(1, 2));
        millrace.queue().remove(job.id());
        Job unwanted = job.withAudit(
                job.audit().withCancellation(new Cancellation(millrace.clock().now(), "me", null)));
        assertThat(millrace.jobs().compareAndSet(job, unwanted)).isTrue();
        try (Worker worker = worker().backendRecovery(BRISK).start()) {
            await().until(() -> millrace.get(job.id()).orElseThrow().status() == JobStatus.CANCELLED);
            assertThat(worker).isNotNull();
        }
    }

    @Test
    void twoBackendsOfOneName_areRefused() {
        WorkerBuilder builder = worker().backend(new Prompt("twice")).backend(new Prompt("twice"));
        assertThatThrownBy(builder::start)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("twice");
    }

    /** Has done all when it is started, and gives back the parameters. */
    private static final class Prompt implements Backend {
        private final String name;
        private volatile JsonText parameters = JsonText.of("null");

        Prompt(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public StartResult start(StartRequest request) {
            parameters = request.job().spec().parameters();
            return new StartResult.Started("op-1");
        }

        @Override
        public Observation observe(RemoteOperation operation) {
            return new Observation.Succeeded(parameters, List.of());
        }

        @Override
        public void cancel(RemoteOperation operation) {}
    }
}
