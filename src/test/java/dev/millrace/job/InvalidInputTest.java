package dev.millrace.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a job can't be, and that the message says what was found, without its content, and what is allowed. */
class InvalidInputTest {
    private static final JsonText NONE = JsonText.of("{}");

    private static AttemptState state(long version, int attempts) {
        return new AttemptState(
                version, JobStatus.QUEUED, attempts, null, null, null, null, null, null, null, Instant.EPOCH);
    }

    static Stream<Arguments> refused() {
        NewJob job = NewJob.of("id", "k", NONE);
        return Stream.of(
                refused("id", "0 characters", () -> job.withId("")),
                refused("id", "513 characters", () -> job.withId("x".repeat(513))),
                refused("id", "NUL character at index 6", () -> job.withId("secret\u0000")),
                refused("id", "lone surrogate at index 1", () -> job.withId("x\ud83d")),
                refused("id", "lone surrogate at index 0", () -> job.withId("\ude00x")),
                refused("id", "null", () -> job.withId(null)),
                refused("kind", "65 characters", () -> NewJob.of("id", "k".repeat(65), NONE)),
                refused("kind", "132 bytes", () -> NewJob.of("id", "\u20ac".repeat(44), NONE)),
                refused("kind", "NUL", () -> NewJob.of("id", "k\u0000", NONE)),
                refused("queue", "0 characters", () -> job.spec().withQueue("")),
                refused("queue", "NUL", () -> job.spec().withQueue("\u0000")),
                refused("runtimeProfile", "surrogate", () -> job.spec().withRuntimeProfile("\ud800")),
                refused("backend", "65 characters", () -> job.spec().withBackend("b".repeat(65))),
                refused("parameters", "not an object", () -> NewJob.of("id", "k", JsonText.of("[1]"))),
                refused("tenantId", "129 characters", () -> job.audit().withTenantId("t".repeat(129))),
                refused("requestedBy", "NUL", () -> job.audit().withRequestedBy("a\u0000b")),
                refused("references.server", "513 characters", () -> JobReferences.NONE.withServer("s".repeat(513))),
                refused(
                        "references.resources",
                        "101 entries",
                        () -> JobReferences.NONE.withResources(Collections.nCopies(101, "r"))),
                refused("version", "9223372036854775807", () -> state(Long.MAX_VALUE, 0)),
                refused("version", "0", () -> state(0, 0)),
                refused("attemptCount", "2147483647", () -> state(1, Integer.MAX_VALUE)),
                refused("attemptCount", "-1", () -> state(1, -1)),
                refused("delay", "PT-1S", () -> job.withDelay(Duration.ofSeconds(-1))),
                refused("delay", "PT", () -> job.withDelay(Duration.ofDays(40_000))),
                refused("delay", "PT", () -> job.withDelay(Duration.ofSeconds(Long.MAX_VALUE))),
                refused("retention", "PT-0.000001S", () -> job.policies().withRetention(Duration.ofNanos(-1_000))),
                refused("maxDuration", "PT0S", () -> job.policies().withMaxDuration(Duration.ZERO)),
                refused(
                        "heartbeat.timeout",
                        "interval of PT30S",
                        () -> new HeartbeatPolicy(Duration.ofSeconds(30), Duration.ofSeconds(59))),
                refused("heartbeat.interval", "PT0S", () -> new HeartbeatPolicy(Duration.ZERO, Duration.ofSeconds(1))),
                refused("retry.maxAttempts", "0", () -> RetryPolicy.DEFAULT.withMaxAttempts(0)),
                refused("retry.base", "PT-1S", () -> RetryPolicy.fixed(3, Duration.ofSeconds(-1))),
                refused(
                        "retry.cap",
                        "base of PT2S",
                        () -> RetryPolicy.linear(3, Duration.ofSeconds(2), Duration.ofSeconds(1))),
                refused("retry.jitter", "NaN", () -> RetryPolicy.DEFAULT.withJitter(Double.NaN)),
                refused("retry.jitter", "1.5", () -> RetryPolicy.DEFAULT.withJitter(1.5)),
                refused("percent", "NaN", () -> new Progress(Double.NaN, null)),
                refused("percent", "-0.1", () -> new Progress(-0.1, null)),
                refused("percent", "100.1", () -> new Progress(100.1, null)),
                refused("phase", "NUL", () -> new Progress(null, "\u0000")),
                refused("createdAt", "+1000000000", () -> Job.of("id", job.spec(), Instant.MAX)),
                refused(
                        "createdAt",
                        "+294277",
                        () -> Job.of("id", job.spec(), Instant.parse("+294277-01-01T00:00:00Z"))),
                refused("cancellation.why", "2001 characters", () -> Cancellation.check(null, "w".repeat(2_001))));
    }

    /** Also of one that a later release adds: the JSON would have it twice. */
    @Test
    void more_withAMemberThatIsKnown_isRefused() {
        NewJob job = NewJob.of("id", "k", NONE);
        for (RecordComponent known : Job.class.getRecordComponents()) {
            String name = known.getName().equals("id") ? "operationId" : known.getName();
            Map<String, JsonText> more = Map.of(name, NONE);
            if (!name.equals("more")) {
                assertThatThrownBy(() -> new Job("id", job.spec(), null, null, null, null, null, null, more))
                        .isInstanceOf(InvalidJobException.class)
                        .hasMessageContainingAll("job.more", "\"" + name + "\"");
            }
        }
        for (RecordComponent known : JobSpec.class.getRecordComponents()) {
            Map<String, JsonText> more = Map.of(known.getName(), NONE);
            if (!known.getName().equals("more")) {
                assertThatThrownBy(() -> new JobSpec("k", null, null, null, null, null, more))
                        .isInstanceOf(InvalidJobException.class)
                        .hasMessageContainingAll("spec.more", "\"" + known.getName() + "\"");
            }
        }
    }

    private static Arguments refused(String field, String found, ThrowingCallable call) {
        return Arguments.of(field, found, call);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("refused")
    void badInput_isRefusedWithFieldAndFindingAndWhatIsAllowed(String field, String found, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(InvalidJobException.class, e -> {
            assertThat(e.field()).isEqualTo(field);
            assertThat(e.found()).contains(found);
            assertThat(e.allowed()).isNotBlank();
            assertThat(e.getMessage())
                    .contains(e.field(), e.found(), e.allowed())
                    .doesNotContain("secret");
        });
    }

    @Test
    void limits_areAllowed() {
        NewJob job = NewJob.of("x".repeat(512), "k".repeat(64), NONE);
        assertThat(job.withId("\ud83d\ude00".repeat(512)).id()).hasSize(1_024);
        assertThat(job.spec().withQueue("q\u00fc".repeat(32)).queue()).hasSize(64);
        assertThat(job.withPriority(Priority.CRITICAL).priority()).isEqualTo(Priority.CRITICAL);
        assertThat(JobReferences.NONE.withResources(List.of("a", "b")).resources())
                .hasSize(2);
    }

    @Test
    void times_areCutToMicrosecondsOnceAtTheEdge() {
        assertThat(Job.of("id", JobSpec.of("k", NONE), Instant.parse("2026-01-01T00:00:00.123456789Z"))
                        .createdAt())
                .isEqualTo(Instant.parse("2026-01-01T00:00:00.123456Z"));
        assertThat(Job.of("id", JobSpec.of("k", NONE), Instant.parse("2026-01-01T00:00:00.999999900Z"))
                        .createdAt())
                .isEqualTo(Instant.parse("2026-01-01T00:00:00.999999Z"));
        assertThat(NewJob.of("id", "k", NONE).withDelay(Duration.ofNanos(1_999)).delay())
                .isEqualTo(Duration.ofNanos(1_000));
    }

    @Test
    void messages_areCutAndCleaned() {
        assertThat(Messages.bounded("a\u0000b\u001b[31mc\nd\ud800")).isEqualTo("a\uFFFDb\uFFFD[31mc\nd\uFFFD");
        assertThat(Messages.bounded("\ud83d\ude00".repeat(5_000)))
                .hasSizeLessThanOrEqualTo(Messages.MAX_CHARACTERS)
                .endsWith("(cut)");
        assertThat(Messages.bounded("x".repeat(Messages.MAX_CHARACTERS)))
                .hasSizeLessThanOrEqualTo(Messages.MAX_CHARACTERS);
        assertThat(Messages.of(new IllegalStateException())).isEqualTo("java.lang.IllegalStateException");
    }
}
