package dev.millrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.PayloadException;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import dev.millrace.worker.InvalidWorkerException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The way in, as a user meets it. */
@MillraceDatabase
class MillraceTest {
    record Thumbnail(String file, int width) {}

    private static final JobType<Thumbnail> THUMBNAIL = JobType.of("thumbnail", Thumbnail.class);

    private final Millrace millrace;

    MillraceTest(TestDatabase database) {
        this.millrace = Millrace.on(database.dataSource()).withSchema(database.schema());
    }

    @Test
    void submit_withOptions_makesTheJobTheySay() {
        Job job = millrace.submit(
                THUMBNAIL,
                new Thumbnail("cat.png", 640),
                SubmitOption.id("options"),
                SubmitOption.queue("images"),
                SubmitOption.runtimeProfile("gpu"),
                SubmitOption.priority(Priority.LOW),
                SubmitOption.priority(Priority.HIGH),
                SubmitOption.delay(Duration.ofMinutes(5)),
                SubmitOption.retry(RetryPolicy.NEVER),
                SubmitOption.maxDuration(Duration.ofMinutes(1)),
                SubmitOption.retention(Duration.ofDays(1)),
                SubmitOption.tenant("acme"),
                SubmitOption.requestedBy("ann"),
                SubmitOption.correlationId("order-1"));
        assertThat(millrace.get("options")).contains(job);
        assertThat(job.spec().parameters()).isEqualTo(JsonText.of("{\"file\":\"cat.png\",\"width\":640}"));
        assertThat(job.spec().queue()).isEqualTo("images");
        assertThat(job.spec().runtimeProfile()).isEqualTo("gpu");
        assertThat(job.priority()).isEqualTo(Priority.HIGH);
        assertThat(job.policies().retry()).isEqualTo(RetryPolicy.NEVER);
        assertThat(job.policies().maxDuration()).isEqualTo(Duration.ofMinutes(1));
        assertThat(job.policies().retention()).isEqualTo(Duration.ofDays(1));
        assertThat(job.audit().tenantId()).isEqualTo("acme");
        assertThat(job.audit().requestedBy()).isEqualTo("ann");
        assertThat(job.audit().correlationId()).isEqualTo("order-1");
    }

    @Test
    void generatedIds_sortByTimeAndDiffer() {
        Set<String> ids = new HashSet<>();
        String last = "";
        for (int i = 0; i < 1_000; i++) {
            String id = JobIds.next();
            assertThat(id).matches("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
            assertThat(id.substring(0, 13)).isGreaterThanOrEqualTo(last);
            last = id.substring(0, 13);
            ids.add(id);
        }
        assertThat(ids).hasSize(1_000);
    }

    @Test
    void run_ofASubmittedJob_succeeds() throws Exception {
        Job job = millrace.submit(THUMBNAIL, new Thumbnail("dog.png", 320));
        Map<String, Integer> seen = new HashMap<>();
        try (var worker = millrace.worker()
                .handle(THUMBNAIL, (args, context) -> seen.put(args.file(), args.width()))
                .start()) {
            assertThat(millrace.await(job, Duration.ofSeconds(60)).status()).isEqualTo(JobStatus.SUCCEEDED);
            assertThat(worker.settings().name()).isNotBlank();
        }
        assertThat(seen).containsEntry("dog.png", 320);
    }

    @Test
    void await_ofAJobThatNobodyRuns_saysWhereItStands() {
        Job job = millrace.submit(JobType.of("nobody", JsonText.class), JsonText.of("{}"));
        assertThatThrownBy(() -> millrace.await(job, Duration.ofMillis(20)))
                .isInstanceOfSatisfying(AwaitTimeoutException.class, e -> {
                    assertThat(e.jobId()).isEqualTo(job.id());
                    assertThat(e.job()).contains(job);
                    assertThat(e)
                            .hasMessageContaining("Queued")
                            .hasMessageContaining("kind \"nobody\"")
                            .hasMessageContaining("paused")
                            .hasMessageContaining("submitted for later");
                });
        Job remote = millrace.submit(
                JobType.of("nobody", JsonText.class), JsonText.of("{}"), SubmitOption.backend("cluster"));
        assertThatThrownBy(() -> millrace.await(remote, Duration.ofMillis(20)))
                .isInstanceOf(AwaitTimeoutException.class)
                .hasMessageContaining("backend reconciler")
                .hasMessageContaining("\"cluster\"");
        assertThatThrownBy(() -> millrace.await("no such job", Duration.ofSeconds(Long.MAX_VALUE)))
                .isInstanceOf(JobNotFoundException.class)
                .hasMessageContaining("no such job");
    }

    @Test
    void payload_thatIsNoObject_isRefusedBeforeAnySql() {
        assertThatThrownBy(
                        () -> millrace.submit(JobType.of("text", String.class), "just text", SubmitOption.id("text")))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("JSON object");
        assertThatThrownBy(() -> millrace.submit(THUMBNAIL, new Thumbnail("\ud83d", 1), SubmitOption.id("surrogate")))
                .isInstanceOf(InvalidJobException.class);
        assertThat(millrace.get("text")).isEmpty();
        assertThat(millrace.get("surrogate")).isEmpty();
    }

    @Test
    void payload_thatDoesNotFit_isToldWithoutItsContent() {
        JacksonPayloads payloads = new JacksonPayloads(new ObjectMapper());
        assertThatThrownBy(() -> payloads.decode(THUMBNAIL, JsonText.of("{\"file\":\"x\",\"width\":\"s3cret\"}")))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("width")
                .hasMessageContaining("Thumbnail")
                .hasMessageNotContaining("s3cret")
                .hasNoCause();
    }

    @Test
    void workerBuilder_startsOneWorker() {
        WorkerBuilder builder = millrace.worker().handle(THUMBNAIL, (args, context) -> {});
        try (var worker = builder.start()) {
            assertThatThrownBy(builder::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("another one");
            assertThat(worker.settings().concurrency()).isEqualTo(10);
        }
    }

    @Test
    void whatIsNotGiven_isRefusedByItsName() {
        assertRefused("type", () -> millrace.submit(null, new Thumbnail("cat.png", 640)));
        assertRefused("payload of kind \"thumbnail\"", () -> millrace.submit(THUMBNAIL, null));
        assertRefused("timeout", () -> millrace.await("some job", null));
        assertRefused("patience", () -> millrace.worker().runAssigned("some job", null));
        assertRefused("queues", () -> millrace.worker().queues((String) null));
        assertRefused("runtimeProfiles", () -> millrace.worker().runtimeProfiles("managed", null));
        assertRefused("outcomeBuffer.size", () -> millrace.worker().outcomeBuffer(0, Duration.ofMillis(1)));
        assertRefused("handlers", () -> millrace.worker().start());
    }

    private static void assertRefused(String what, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfAny(InvalidJobException.class, InvalidWorkerException.class)
                .hasMessageContaining(what);
    }

    @Test
    void schemaName_thatIsNotAllowed_isRefused() {
        assertThatThrownBy(() -> millrace.withSchema("pg_jobs")).hasMessageContaining("pg_jobs");
    }
}
