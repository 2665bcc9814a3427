package dev.millrace.worker;

import static dev.millrace.worker.WorkerFixture.until;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
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

    @Test
    void mdc_isClearedBehindTheAttempt() {
        MDC.put("mine", "kept");
        try {
            RunningAttempt attempt = TimeoutTest.attempt(() -> 0);
            LogContext.enter(attempt, "worker");
            assertThat(MDC.getCopyOfContextMap()).containsKey("millrace.job");
            LogContext.leave();
            assertThat(MDC.getCopyOfContextMap()).containsOnlyKeys("mine");
        } finally {
            MDC.remove("mine");
        }
    }
}
