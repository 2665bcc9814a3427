package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.job.Job;
import dev.millrace.job.TraceContext;
import dev.millrace.store.Claim;
import dev.millrace.worker.FakeSource.Fault;
import dev.millrace.worker.FakeSource.Op;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.spi.MDCAdapter;

/** The MDC while handlers run. The logging of these tests has none, so one is put in its place for the time being. */
@Timeout(60)
class LogContextTest {
    private static MDCAdapter before;

    @BeforeAll
    static void useRealMdc() throws ReflectiveOperationException {
        before = MDC.getMDCAdapter();
        use(new BasicMDCAdapter());
    }

    @AfterAll
    static void restore() throws ReflectiveOperationException {
        use(before);
    }

    private static void use(MDCAdapter adapter) throws ReflectiveOperationException {
        Method set = MDC.class.getDeclaredMethod("setMDCAdapter", MDCAdapter.class);
        set.setAccessible(true);
        set.invoke(null, adapter);
    }

    @Test
    void mdc_namesTheAttempt_andLeavesWhatIsNotItsOwn() {
        List<Map<String, String>> seen = new CopyOnWriteArrayList<>();
        try (WorkerFixture fixture = new WorkerFixture()) {
            List<String> ids = fixture.source.submit(2, "work");
            fixture.source.forgive(ids.get(0), 6, 6);
            fixture.start(
                    settings -> settings.withConcurrency(1), (payload, context) -> seen.add(MDC.getCopyOfContextMap()));
            until(() -> seen.size() == 2);
            assertThat(seen).extracting(map -> map.get("millrace.job")).containsExactlyInAnyOrderElementsOf(ids);
            assertThat(seen).extracting(map -> map.get("millrace.attempt")).containsExactlyInAnyOrder("7", "1");
            assertThat(seen)
                    .allSatisfy(map -> assertThat(map)
                            .containsEntry("millrace.kind", "work")
                            .containsEntry("millrace.worker", "worker"));
        }
    }

    /** The outcome of a timeout is not written on the handler's thread, and listeners have one of their own. */
    @Test
    void mdc_namesTheAttempt_alsoOnOtherThreads() {
        Map<String, Map<String, String>> seen = new ConcurrentHashMap<>();
        try (WorkerFixture fixture = new WorkerFixture()) {
            String id = fixture.source.submit("work", WorkerFixture.lasting(Duration.ofMillis(20)));
            fixture.source.always(
                    Op.FINISH,
                    Fault.before(() -> seen.put(Thread.currentThread().getName(), MDC.getCopyOfContextMap())));
            fixture.track(fixture.setup()
                    .handle(WorkerFixture.WORK, (payload, context) -> new CountDownLatch(1).await())
                    .listener(new WorkerListener() {
                        @Override
                        public void ended(Ended event) {
                            seen.put("listener", MDC.getCopyOfContextMap());
                        }

                        @Override
                        public void closed(Worker worker) {
                            seen.put("closed", MDC.getCopyOfContextMap());
                        }
                    })
                    .start());
            until(() -> seen.containsKey("listener"));
            assertThat(seen).containsOnlyKeys("listener", "millrace-worker-outcome-0");
            assertThat(seen.values())
                    .allSatisfy(map -> assertThat(map)
                            .containsEntry("millrace.job", id)
                            .containsEntry("millrace.attempt", "1")
                            .containsEntry("millrace.worker", "worker"));
        }
        assertThat(seen.get("closed")).doesNotContainKey("millrace.job");
    }

    @Test
    void mdc_namesTheTraceContext_ofAJobThatHasOne() {
        String traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        RunningAttempt plain = TimeoutTest.attempt(() -> 0);
        Claim claim = plain.claim();
        Job job = claim.job().withAudit(claim.job().audit().withTrace(TraceContext.of(traceparent)));
        RunningAttempt traced = new RunningAttempt(new Claim(job, claim.token(), 0), () -> 0, 0, attempt -> {});
        try (LogContext outer = LogContext.enter(traced, "worker")) {
            assertThat(MDC.get("millrace.traceparent")).isEqualTo(traceparent);
            try (LogContext inner = LogContext.enter(plain, "worker")) {
                assertThat(MDC.get("millrace.traceparent")).isNull();
            }
            assertThat(MDC.get("millrace.traceparent")).isEqualTo(traceparent);
        }
    }

    @Test
    void mdc_isClearedBehindTheAttempt() {
        MDC.put("mine", "kept");
        try {
            RunningAttempt attempt = TimeoutTest.attempt(() -> 0);
            try (LogContext outer = LogContext.enter(attempt, "worker")) {
                assertThat(MDC.getCopyOfContextMap()).containsKey("millrace.job");
                try (LogContext inner = LogContext.enter(attempt, "other")) {
                    assertThat(MDC.get("millrace.worker")).isEqualTo("other");
                }
                assertThat(MDC.get("millrace.worker")).isEqualTo("worker");
            }
            assertThat(MDC.getCopyOfContextMap()).containsOnlyKeys("mine");
        } finally {
            MDC.remove("mine");
        }
    }
}
