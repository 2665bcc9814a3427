package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobAudit;
import dev.millrace.job.JobPolicies;
import dev.millrace.job.JobReferences;
import dev.millrace.job.JobSpec;
import dev.millrace.job.NewJob;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.Creation;
import dev.millrace.store.JobConflictException;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

@MillraceDatabase
class JobStoreTest {
    private final StoreFixture db;

    JobStoreTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    private static NewJob everything() {
        JobReferences references = JobReferences.NONE
                .withWorkload("etl")
                .withDefinitionId("def-1")
                .withPlanId("plan-9")
                .withResources(List.of("Vm-1", " vm-2 ", "VM-1"))
                .withEnvironment("prod")
                .withServer("s1")
                .withRelease("r1")
                .withChangeSet("c1")
                .withAlert("a1")
                .withRun("run-7", "step-2");
        JobSpec spec = JobSpec.of("k", JsonText.of("{\"n\": 1.00, \"nul\": \"a\\u0000b\"}"))
                .withRuntimeProfile("gpu")
                .withQueue("nightly")
                .withReferences(references);
        JobPolicies policies = new JobPolicies(
                RetryPolicy.linear(5, Duration.ofMillis(1500), Duration.ofDays(2)),
                new HeartbeatPolicy(Duration.ofMillis(500), Duration.ofMillis(1500)),
                Duration.ofDays(365),
                Duration.ofSeconds(3, 1_000));
        JobAudit audit = JobAudit.NONE
                .withRequestedBy("ann")
                .withCorrelationId("corr")
                .withTraceContext("00-trace-01")
                .withTenantId("tenant");
        return NewJob.of(StoreFixture.newId(), spec)
                .withPriority(Priority.HIGH)
                .withPolicies(policies)
                .withAudit(audit);
    }

    @Test
    void submit_ofJobWithEverything_comesBackAsItWentIn() {
        NewJob job = everything();
        Job submitted = db.submit(job);
        Job read = db.get(job.id());
        assertThat(read).isEqualTo(submitted);
        assertThat(read.spec()).isEqualTo(job.spec());
        assertThat(read.policies()).isEqualTo(job.policies());
        assertThat(read.audit()).isEqualTo(job.audit());
        assertThat(read.priority()).isEqualTo(Priority.HIGH);
        assertThat(read.createdAt()).isEqualTo(read.state().updatedAt());
    }

    @Test
    void submit_writesProjectionsOfTheRecord() {
        NewJob job = everything();
        db.submit(job);
        var row = db.dsl.fetchSingle(EXECUTION_JOBS, EXECUTION_JOBS.OPERATION_ID.eq(job.id()));
        assertThat(row.getStatus()).isEqualTo(JobStatus.QUEUED);
        assertThat(row.getKind()).isEqualTo("k");
        assertThat(row.getRuntimeProfile()).isEqualTo("gpu");
        assertThat(row.getQueue()).isEqualTo("nightly");
        assertThat(row.getBackend()).isEqualTo("local");
        assertThat(row.getPriority()).isEqualTo(Priority.HIGH);
        assertThat(row.getQueuePriority()).isEqualTo(Priority.HIGH);
        assertThat(row.getTenantId()).isEqualTo("tenant");
        assertThat(row.getHeartbeatTimeout()).isEqualTo(Duration.ofMillis(1500));
        assertThat(row.getMaxDuration()).isEqualTo(Duration.ofDays(365));
        assertThat(row.getCancellationRequested()).isFalse();
        assertThat(row.getExpiresAt())
                .isEqualTo(row.getCreatedAt().plus(job.policies().retention()));
        assertThat(row.getLookupKeys())
                .containsExactlyInAnyOrder(
                        "backend:LOCAL",
                        "queue:NIGHTLY",
                        "requested-by:ANN",
                        "correlation:CORR",
                        "trace:00-TRACE-01",
                        "definition:DEF-1",
                        "definition:PLAN-9",
                        "resource:VM-1",
                        "resource:VM-2",
                        "environment:PROD",
                        "server:S1",
                        "release:R1",
                        "change-set:C1",
                        "alert:A1",
                        "run:RUN-7");
    }

    @Test
    void submit_withDelay_isVisibleLaterByDatabaseTime() {
        NewJob job = StoreFixture.newJob("k").withDelay(Duration.ofMinutes(5));
        Job submitted = db.submit(job);
        assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT))
                .isEqualTo(submitted.createdAt().plus(Duration.ofMinutes(5)));
    }

    @Test
    void submit_forRemoteBackend_hasNoPlaceInTheLocalQueue() {
        NewJob job = StoreFixture.newJob("k");
        job = job.withSpec(job.spec().withBackend("farm"));
        db.submit(job);
        assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
        assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT)).isNull();
    }

    @Test
    void submit_again_isNoSecondJob() {
        NewJob job = StoreFixture.newJob("k");
        NewJob sameInOtherWords =
                job.withSpec(job.spec().withParameters(JsonText.of("{\"b\":[1.0,{\"x\":null}],\"a\":10}")));
        job = job.withSpec(job.spec().withParameters(JsonText.of("{\"a\": 1e1, \"b\": [1, {\"x\": null}]}")));
        Creation first = db.jobs.submit(job);
        Creation second = db.jobs.submit(sameInOtherWords);
        assertThat(first.created()).isTrue();
        assertThat(second.created()).isFalse();
        assertThat(second.job()).isEqualTo(first.job());
    }

    @Test
    void submit_ofOtherJobUnderTheSameId_isRefusedAndNamesWhatDiffers() {
        NewJob job = StoreFixture.newJob("k");
        db.submit(job);
        NewJob other = job.withPriority(Priority.LOW)
                .withSpec(JobSpec.of("other", JsonText.of("{\"a\":1}")).withQueue("q"))
                .withPolicies(job.policies().withRetention(Duration.ZERO));
        assertThatThrownBy(() -> db.jobs.submit(other)).isInstanceOfSatisfying(JobConflictException.class, conflict -> {
            assertThat(conflict.jobId()).isEqualTo(job.id());
            assertThat(conflict.differences()).containsExactly("kind", "queue", "priority", "policies", "parameters");
        });
        assertThat(db.get(job.id()).kind()).isEqualTo("k");
    }

    @Test
    void create_keepsTheCallersTimesAndGivesNoPlace() {
        Instant created = Instant.parse("2001-02-03T04:05:06.123456789Z");
        Job job = Job.of(StoreFixture.newId(), JobSpec.of("k", JsonText.of("{}")), created);
        Creation creation = db.jobs.create(job);
        assertThat(creation.created()).isTrue();
        Job read = db.get(job.id());
        assertThat(read).isEqualTo(creation.job());
        assertThat(read.createdAt()).isEqualTo(Instant.parse("2001-02-03T04:05:06.123456Z"));
        assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
        assertThat(db.jobs.create(job).created()).isFalse();
    }

    @Test
    void create_ofJobThatHasBegun_isRefused() {
        Job job = Job.of(StoreFixture.newId(), JobSpec.of("k", JsonText.of("{}")), Instant.EPOCH)
                .withStatus(JobStatus.RUNNING);
        assertThatThrownBy(() -> db.jobs.create(job))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("Running");
        assertThat(db.jobs.get(job.id())).isEmpty();
    }

    @Test
    void get_ofUnknownId_isEmpty() {
        assertThat(db.jobs.get("no such job")).isEmpty();
    }

    @Test
    void members_thatThisReleaseDoesNotKnow_comeBackOutToTheLetter() {
        Job job = db.submit("k");
        String record = db.column(job.id(), EXECUTION_JOBS.RECORD).text();
        String newer = record.replaceFirst(
                        "\\{\"operationId\"", "{\"novelty\" : {\"a\":[1.00, 1e400, \"x\\\\u0000\"]},\"operationId\"")
                .replaceFirst("\"spec\":\\{", "\"spec\":{\"hint\":  1.50,\"flag\":null,\"text\":\"\\\\\"}\",");
        db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.RECORD, JsonText.of(newer))
                .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                .execute();
        Job read = db.get(job.id());
        assertThat(read.more()).containsEntry("novelty", JsonText.of("{\"a\":[1.00, 1e400, \"x\\u0000\"]}"));
        assertThat(read.spec().more())
                .containsEntry("hint", JsonText.of("1.50"))
                .containsEntry("flag", JsonText.of("null"))
                .containsEntry("text", JsonText.of("\"\\\"}\""));
        assertThat(db.jobs.compareAndSet(read, read.withPriority(Priority.LOW))).isTrue();
        assertThat(db.column(job.id(), EXECUTION_JOBS.RECORD).text())
                .contains(
                        "\"novelty\":{\"a\":[1.00, 1e400, \"x\\u0000\"]}",
                        "\"hint\":1.50",
                        "\"text\":\"\\\"}\"",
                        "\"flag\":null");
        assertThat(db.get(job.id()).more()).isEqualTo(read.more());
        assertThat(db.get(job.id()).spec()).isEqualTo(read.spec());
    }

    @Test
    void record_withoutParameters_hasNone() {
        Job job = db.submit("k");
        db.breakRecord(job.id(), JsonText.of("{\"operationId\":\"" + job.id() + "\",\"spec\":{\"kind\":\"k\"}}"));
        assertThat(db.get(job.id()).spec().parameters()).isEqualTo(JsonText.of("{}"));
    }

    @Test
    void get_ofAJobThatCantBeRead_saysWhich() {
        Job job = db.submit("k");
        db.breakRecord(job.id(), JsonText.of("null"));
        assertThatThrownBy(() -> db.jobs.get(job.id()))
                .isInstanceOfSatisfying(
                        UnreadableJobException.class, e -> assertThat(e.jobId()).isEqualTo(job.id()));
    }

    /** Field case A12, its last part: a NUL in a value is the payload's business. */
    @Test
    void nulInPayloadValues_survives() {
        NewJob job = NewJob.of(StoreFixture.newId(), "nul", JsonText.of("{\"x\":\"a\\u0000b\"}"));
        db.submit(job);
        assertThat(db.get(job.id()).spec().parameters()).isEqualTo(job.spec().parameters());
        assertThat(db.claimOne("nul").job().spec().parameters())
                .isEqualTo(job.spec().parameters());
    }
}
