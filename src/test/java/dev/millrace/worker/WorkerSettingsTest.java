package dev.millrace.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.millrace.job.JobType;
import dev.millrace.store.ClaimRequest;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class WorkerSettingsTest {
    private static final WorkerSettings DEFAULTS = WorkerSettings.defaults();

    @Test
    void defaults_areThoseOfTheDocumentation() {
        assertThat(DEFAULTS.runtimeProfiles()).containsExactly("managed");
        assertThat(DEFAULTS.queues()).containsExactly("default");
        assertThat(DEFAULTS.concurrency()).isEqualTo(10);
        assertThat(DEFAULTS.claimLimit()).isEqualTo(1_000);
        assertThat(DEFAULTS.pollInterval()).isEqualTo(Duration.ofSeconds(5));
        assertThat(DEFAULTS.drainTimeout()).isEqualTo(Duration.ofSeconds(30));
        assertThat(DEFAULTS.beatRetryDelay()).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void defaultName_namesTheProcess_andIsNewEachTime() {
        assertThat(DEFAULTS.name()).contains(":" + ProcessHandle.current().pid() + ":");
        assertThat(WorkerSettings.defaults().name()).isNotEqualTo(DEFAULTS.name());
    }

    @Test
    void sources_areEachProfileWithEachQueue() {
        assertThat(DEFAULTS.withRuntimeProfiles(List.of("a", "b"))
                        .withQueues(List.of("x", "y"))
                        .sources())
                .containsExactly(
                        new ClaimRequest.Source("a", "x"),
                        new ClaimRequest.Source("a", "y"),
                        new ClaimRequest.Source("b", "x"),
                        new ClaimRequest.Source("b", "y"));
    }

    static List<Arguments> refused() {
        return List.of(
                refused("name", "0 characters", s -> s.withName("")),
                refused("name", "513 characters", s -> s.withName("x".repeat(513))),
                refused("name", "a NUL character", s -> s.withName("a\0b")),
                refused("name", "a lone surrogate", s -> s.withName("a\uD800b")),
                refused("name", "null", s -> s.withName(null)),
                refused("runtimeProfiles", "none", s -> s.withRuntimeProfiles(List.of())),
                refused("runtimeProfiles", "65 characters", s -> s.withRuntimeProfiles(List.of("x".repeat(65)))),
                refused("runtimeProfiles", "129 bytes", s -> s.withRuntimeProfiles(List.of("\u20AC".repeat(43)))),
                refused("queues", "null", s -> s.withQueues(null)),
                refused("queues", "null", s -> s.withQueues(Arrays.asList("a", null))),
                refused("queues", "\"a\" twice", s -> s.withQueues(List.of("a", "b", "a"))),
                refused("concurrency", "0", s -> s.withConcurrency(0)),
                refused("concurrency", "10001", s -> s.withConcurrency(10_001)),
                refused("claimLimit", "0", s -> s.withClaimLimit(0)),
                refused("claimLimit", "1001", s -> s.withClaimLimit(1_001)),
                refused("pollInterval", "PT0S", s -> s.withPollInterval(Duration.ZERO)),
                refused("pollInterval", "PT2H", s -> s.withPollInterval(Duration.ofHours(2))),
                refused("drainTimeout", "PT-1S", s -> s.withDrainTimeout(Duration.ofSeconds(-1))),
                refused("drainTimeout", "null", s -> s.withDrainTimeout(null)),
                refused("beatRetryDelay", "PT1M", s -> s.withBeatRetryDelay(Duration.ofMinutes(1))));
    }

    private static Arguments refused(String setting, String found, UnaryOperator<WorkerSettings> change) {
        return Arguments.of(setting, found, change);
    }

    @ParameterizedTest
    @MethodSource("refused")
    void whatIsNotAllowed_isRefused_withNameValueAndRemedy(
            String setting, String found, UnaryOperator<WorkerSettings> change) {
        assertThatExceptionOfType(InvalidWorkerException.class)
                .isThrownBy(() -> change.apply(DEFAULTS))
                .satisfies(e -> {
                    assertThat(e.setting()).isEqualTo(setting);
                    assertThat(e.found()).isEqualTo(found);
                    assertThat(e.allowed()).isNotEmpty();
                    assertThat(e).hasMessageMatching("(?s)Invalid .* found .*, allowed is .*\\. .*\\.");
                });
    }

    @Test
    void lists_areCopied() {
        List<String> queues = Arrays.asList("a", "b");
        WorkerSettings settings = DEFAULTS.withQueues(queues);
        queues.set(0, "c");
        assertThat(settings.queues()).containsExactly("a", "b");
    }

    @Test
    void workerWithoutHandler_isRefused() {
        assertThatExceptionOfType(InvalidWorkerException.class)
                .isThrownBy(
                        () -> Worker.on(new FakeSource(), WorkerFixture.CODEC).build())
                .withMessageContaining("found none")
                .withMessageContaining("handle(type, handler)")
                .satisfies(e -> assertThat(e.setting()).isEqualTo("handlers"));
    }

    @Test
    void secondHandlerOfAKind_isRefused() {
        WorkerSetup setup = Worker.on(new FakeSource(), WorkerFixture.CODEC)
                .handle(JobType.of("work", String.class), (payload, context) -> {});
        assertThatExceptionOfType(InvalidWorkerException.class)
                .isThrownBy(() -> setup.handle(JobType.of("work", Integer.class), (payload, context) -> {}))
                .withMessageContaining("a second handler for the kind \"work\"");
    }
}
