package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.ReconcilableJobs.Expiry;
import dev.millrace.store.ReconcilableJobs.Suspect;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Records that a newer release has written, in the hands of this one. */
@MillraceDatabase
class NewerRecordTest {
    private static final String NOVELTY = "\"novelty\":{\"a\":[1.00, 1e400, \"x\\u0000\"]}";
    private static final String HINT = "\"hint\":1.50";

    private final StoreFixture db;

    NewerRecordTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.clear();
    }

    /** Something that this release writes to a job. */
    interface Write {
        /** Returns whether it was written. */
        boolean to(StoreFixture db, Job job, Claim claim);
    }

    private static final Map<String, Write> TO_QUEUED = new TreeMap<>(Map.of(
            "change", (db, job, claim) -> db.jobs.compareAndSet(job, job.withPriority(Priority.LOW)),
            "end", (db, job, claim) -> db.jobs.compareAndSet(job, job.withStatus(JobStatus.FAILED)),
            "cancel", (db, job, claim) -> db.jobs.cancel(job.id(), "ann", "not needed") != null,
            "requeue", (db, job, claim) -> db.queue.requeue(job.id(), Duration.ZERO),
            "remove", (db, job, claim) -> db.queue.remove(job.id()),
            "enqueue", (db, job, claim) -> db.queue.remove(job.id()) && db.queue.enqueue(job.id()),
            "repair", (db, job, claim) -> db.queue.remove(job.id()) && db.queue.repair(Duration.ZERO, 9) == 1,
            "claim", (db, job, claim) -> db.claim(1, "k").size() == 1));

    private static final Map<String, Write> TO_RUNNING = new TreeMap<>(Map.of(
            "change", (db, job, claim) -> db.jobs.compareAndSet(job, job.withPriority(Priority.LOW)),
            "requeue by hand", (db, job, claim) -> db.jobs.compareAndSet(job, job.withStatus(JobStatus.QUEUED)),
            "request to cancel", (db, job, claim) -> db.jobs.cancel(job.id(), "ann", "not needed") != null,
            "beat", (db, job, claim) -> db.work.beat(List.of(claim.attempt())).size() == 1,
            "start", (db, job, claim) -> db.work.start(claim.attempt()) != null,
            "progress", (db, job, claim) -> db.work.progress(claim.attempt(), 50.0, "half") != null,
            "requeue", (db, job, claim) -> db.queue.requeue(claim.attempt(), Duration.ZERO),
            "expire", NewerRecordTest::expire));

    private static final Map<String, Finish> ENDINGS = new TreeMap<>(Map.of(
            "succeed", new Finish.Succeed(),
            "fail", new Finish.Fail("boom", Finish.Fail.Reason.HANDLER),
            "retry", new Finish.Retry(Duration.ZERO, "boom"),
            "hand back", new Finish.HandBack(Duration.ZERO, "closing"),
            "end by cancellation", new Finish.Cancel()));

    private static boolean expire(StoreFixture db, Job job, Claim claim) {
        db.age(job.id(), Duration.ofSeconds(91));
        Suspect suspect = db.reconcilable.suspects("", 10).get(0);
        return db.reconcilable.expire(suspect, new Finish.Retry(Duration.ZERO, "silent")) == Expiry.ENDED;
    }

    static Stream<String> writesToQueued() {
        return TO_QUEUED.keySet().stream();
    }

    static Stream<String> writesToRunning() {
        return Stream.concat(TO_RUNNING.keySet().stream(), ENDINGS.keySet().stream());
    }

    @ParameterizedTest
    @MethodSource("writesToQueued")
    void write_toAQueuedJob_keepsMembersThatThisReleaseDoesNotKnow(String write) {
        Job job = db.submit("k");
        addUnknownMembers(job.id());
        assertThat(TO_QUEUED.get(write).to(db, db.get(job.id()), null)).isTrue();
        assertUnknownMembersAreThere(job.id());
    }

    @ParameterizedTest
    @MethodSource("writesToRunning")
    void write_toARunningJob_keepsMembersThatThisReleaseDoesNotKnow(String write) {
        Claim claim = db.running("k");
        String id = claim.job().id();
        addUnknownMembers(id);
        Write other = (any, job, its) -> db.work.finish(its, ENDINGS.get(write));
        assertThat(TO_RUNNING.getOrDefault(write, other).to(db, db.get(id), claim))
                .isTrue();
        assertUnknownMembersAreThere(id);
    }

    private void addUnknownMembers(String id) {
        String record = db.column(id, EXECUTION_JOBS.RECORD).text();
        db.breakRecord(
                id,
                JsonText.of(record.replaceFirst("\\{", "{" + NOVELTY.replace("\\", "\\\\") + ",")
                        .replaceFirst("\"spec\":\\{", "\"spec\":{" + HINT + ",")));
    }

    private void assertUnknownMembersAreThere(String id) {
        assertThat(db.column(id, EXECUTION_JOBS.RECORD).text()).contains(NOVELTY, HINT);
    }

    /** What a newer release might say where this one knows a few words only. */
    static List<String> newWords() {
        return List.of(
                "\"priority\":\"Urgent\"",
                "\"policies\":{\"retry\":{\"maxAttempts\":3,\"backoff\":\"FIBONACCI\",\"base\":\"PT1S\",\"cap\":\"PT9S\","
                        + "\"jitter\":0.1}}",
                "\"outcome\":{\"history\":[{\"attempt\":1,\"endedAt\":\"2027-01-01T00:00:00Z\",\"ending\":\"PREEMPTED\"}]}");
    }

    @ParameterizedTest
    @MethodSource("newWords")
    void jobWithAWordThatThisReleaseDoesNotKnow_failsAloneAndKeepsItsRecord(String word) {
        Job bad = db.submit("k");
        Job good = db.submit("k");
        String record = "{\"operationId\":\"" + bad.id() + "\",\"spec\":{\"kind\":\"k\"}," + word + "}";
        db.breakRecord(bad.id(), JsonText.of(record));
        assertThatThrownBy(() -> db.jobs.get(bad.id()))
                .isInstanceOfSatisfying(
                        UnreadableJobException.class, e -> assertThat(e.jobId()).isEqualTo(bad.id()))
                .hasMessageContaining("If a newer release has written it, upgrade this one");
        assertThatThrownBy(() -> db.jobs.cancel(bad.id(), null, null)).isInstanceOf(UnreadableJobException.class);
        assertThat(db.get(good.id()).kind()).isEqualTo("k");
        assertThat(db.claim(9, "k")).extracting(claim -> claim.job().id()).containsExactly(good.id());
        assertThat(db.column(bad.id(), EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.FAILED);
        assertThat(db.column(bad.id(), EXECUTION_JOBS.RECORD)).isEqualTo(JsonText.of(record));
    }
}
