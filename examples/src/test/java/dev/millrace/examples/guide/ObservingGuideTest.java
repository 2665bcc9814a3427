package dev.millrace.examples.guide;

import static dev.millrace.SubmitOption.retry;
import static dev.millrace.SubmitOption.tenant;
import static dev.millrace.examples.guide.Kinds.MAIL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.Millrace;
import dev.millrace.Readiness;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.examples.guide.Kinds.Mail;
import dev.millrace.job.Job;
import dev.millrace.job.RetryPolicy;
import dev.millrace.job.TraceContext;
import dev.millrace.micrometer.MillraceMetrics;
import dev.millrace.store.Dimension;
import dev.millrace.store.JobQuery;
import dev.millrace.types.JobStatus;
import dev.millrace.worker.JobInterceptor;
import dev.millrace.worker.Worker;
import dev.millrace.worker.WorkerListener;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The chapter about interceptors, listeners, metrics and traces. */
@MillraceDatabase
@Timeout(120)
class ObservingGuideTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Mail WELCOME = new Mail("anna@example.com", "Welcome");

    private final Mailer mailer = new Mailer();
    private final Millrace millrace;

    ObservingGuideTest(TestDatabase database) {
        this.millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
    }

    private final ThreadLocal<String> currentTenant = new ThreadLocal<>();

    @Test
    void interceptor_isAroundEachRun() throws InterruptedException {
        List<String> seen = new CopyOnWriteArrayList<>();
        // tag::interceptor[]
        JobInterceptor asTenant = (context, handler) -> {
            currentTenant.set(context.job().audit().tenantId());
            try {
                handler.proceed();
            } finally {
                currentTenant.remove();
            }
        };
        Worker worker = millrace.worker()
                .intercept(asTenant)
                .handle(MAIL, (mail, context) -> seen.add(currentTenant.get()))
                .start();
        // end::interceptor[]
        try (worker) {
            Job job = millrace.submit(MAIL, WELCOME, tenant("acme"));
            worker.wakeUp();
            assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
        }
        assertThat(seen).containsExactly("acme");
    }

    @Test
    void interceptor_thatLeavesTheHandlerOut_isASuccess() throws InterruptedException {
        Job job = millrace.submit(MAIL, WELCOME);
        try (Worker worker = millrace.worker()
                .intercept((context, handler) -> {})
                .handle(MAIL, (mail, context) -> mailer.send(mail))
                .start()) {
            assertThat(worker.status().alive()).isTrue();
            assertThat(millrace.await(job, PATIENCE).status()).isEqualTo(JobStatus.SUCCEEDED);
        }
        assertThat(mailer.sent()).isEmpty();
    }

    @Test
    void listener_isToldOfEnds() throws InterruptedException {
        mailer.broken(true);
        List<String> alarms = new CopyOnWriteArrayList<>();
        Job job = millrace.submit(MAIL, WELCOME, retry(RetryPolicy.NEVER));
        // tag::listener[]
        WorkerListener alarm = new WorkerListener() {
            @Override
            public void ended(Ended event) {
                if (event.how() == End.FAILED) {
                    alarms.add(event.attempt().jobId() + " has failed");
                }
            }
        };
        Worker worker = millrace.worker()
                .listener(alarm)
                .handle(MAIL, (mail, context) -> mailer.send(mail))
                .start();
        // end::listener[]
        try (worker) {
            millrace.await(job, PATIENCE);
        }
        assertThat(alarms).containsExactly(job.id() + " has failed");
    }

    @Test
    void meters_countWhatWorkersDo() throws InterruptedException {
        MeterRegistry meterRegistry = new SimpleMeterRegistry();
        Job job = millrace.submit(MAIL, WELCOME);
        // tag::metrics[]
        MillraceMetrics metrics = MillraceMetrics.of(meterRegistry);
        metrics.watchQueues(millrace);
        Worker worker = millrace.worker()
                .with(metrics::observe)
                .handle(MAIL, (mail, context) -> mailer.send(mail))
                .start();
        // end::metrics[]
        try (metrics;
                worker) {
            millrace.await(job, PATIENCE);
        }
        assertThat(meterRegistry.get("millrace.jobs.claimed").counter().count()).isEqualTo(1);
        assertThat(meterRegistry
                        .get("millrace.jobs.run")
                        .tag("outcome", "succeeded")
                        .timer()
                        .count())
                .isEqualTo(1);
    }

    private static String currentSpan() {
        return "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    }

    @Test
    void job_keepsTheTraceOfItsSubmission() {
        // tag::tracing[]
        Millrace traced = millrace.withTracing(() -> TraceContext.of(currentSpan()));
        Job job = traced.submit(MAIL, new Mail("anna@example.com", "Welcome"));
        assertThat(job.audit().traceContext()).isEqualTo(currentSpan());
        // end::tracing[]
        assertThat(millrace.jobs()
                        .query(JobQuery.ALL.with(Dimension.TRACE, currentSpan()))
                        .jobs())
                .containsExactly(job);
        millrace.cancel(job.id(), null, null);
    }

    @Test
    void readiness_asksTheDatabase() {
        // tag::readiness[]
        Readiness readiness = millrace.readiness();
        assertThat(readiness.ready()).isTrue();
        // end::readiness[]
        assertThat(readiness.reason()).isNull();
    }
}
