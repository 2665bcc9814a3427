package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.NewJob;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

@MillraceDatabase
class QueueTest {
    private final StoreFixture db;

    QueueTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    private Job created(String kind) {
        return db.jobs
                .create(Job.of(
                        StoreFixture.newId(),
                        JobSpec.of(kind, JsonText.of("{}")),
                        Instant.parse("2020-01-01T00:00:00Z")))
                .job();
    }

    @Test
    void enqueue_givesAPlaceOnce() {
        Job job = created("enqueue");
        assertThat(db.claim(1, "enqueue")).isEmpty();
        assertThat(db.queue.enqueue(job.id())).isTrue();
        Instant place = db.column(job.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT);
        assertThat(db.queue.enqueue(job.id())).isTrue();
        assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT)).isEqualTo(place);
        assertThat(db.get(job.id()).version()).isEqualTo(1);
        assertThat(db.claim(1, "enqueue")).hasSize(1);
    }

    @Test
    void enqueue_ofWhatCanHaveNoPlace_saysNo() {
        assertThat(db.queue.enqueue("no such job")).isFalse();
        assertThat(db.queue.enqueue(db.running("running").job().id())).isFalse();
        NewJob remote = StoreFixture.newJob("remote");
        db.submit(remote.withSpec(remote.spec().withBackend("farm")));
        assertThat(db.queue.enqueue(remote.id())).isFalse();
    }

    @Test
    void requeue_movesThePlaceOfAQueuedJob() {
        Job job = db.submit("requeue");
        Instant before = db.now();
        assertThat(db.queue.requeue(job.id(), Duration.ofMinutes(3))).isTrue();
        assertThat(db.column(job.id(), EXECUTION_JOBS.QUEUE_VISIBLE_AT))
                .isBetween(before.plusSeconds(180), db.now().plusSeconds(180));
        assertThat(db.queue.requeue("no such job", Duration.ZERO)).isFalse();
        assertThatThrownBy(() -> db.queue.requeue(job.id(), Duration.ofSeconds(-1)))
                .isInstanceOf(InvalidJobException.class);
    }

    @Test
    void requeue_byTheHolderOfTheClaim_givesTheJobBack() {
        Claim claim = db.running("holder");
        assertThat(db.queue.requeue(claim.job().id(), Duration.ZERO))
                .as("by someone else")
                .isFalse();
        assertThat(db.queue.requeue(claim.attempt(), Duration.ZERO)).isTrue();
        assertThat(db.get(claim.job().id()).status()).isEqualTo(JobStatus.QUEUED);
        assertThat(db.claimOne("holder").countedAttempts()).isEqualTo(1);
    }

    @Test
    void remove_takesThePlaceUntilRepair() {
        Job job = db.submit("remove");
        assertThat(db.queue.remove(job.id())).isTrue();
        assertThat(db.queue.remove(job.id())).isFalse();
        assertThat(db.claim(1, "remove")).isEmpty();
        db.queue.repair(Duration.ofSeconds(60), 100);
        assertThat(db.claim(1, "remove")).as("repaired too early").isEmpty();
        db.age(job.id(), Duration.ofSeconds(61));
        assertThat(db.queue.repair(Duration.ofSeconds(60), 100)).isPositive();
        assertThat(db.claim(1, "remove")).hasSize(1);
    }

    @Test
    void repair_sparesJobsThatAreToBeCancelledOrRemote() {
        NewJob remote = StoreFixture.newJob("repair-remote");
        db.submit(remote.withSpec(remote.spec().withBackend("farm")));
        db.age(remote.id(), Duration.ofDays(1));
        Job cancelled = created("repair-cancelled");
        db.dsl
                .update(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.CANCELLATION_REQUESTED, true)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(cancelled.id()))
                .execute();
        db.queue.repair(Duration.ZERO, 100);
        assertThat(db.column(remote.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
        assertThat(db.column(cancelled.id(), EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
    }

    /** Invariant 5 on a detour: a place that was taken away and given back is not an earlier one. */
    @Test
    void repairAndEnqueue_ofAJobBetweenTwoAttempts_wakeItNoEarlierThanItsRetry() {
        Claim claim = db.running("detour");
        String id = claim.job().id();
        db.work.finish(claim, new Finish.Retry(Duration.ofHours(1), "boom"));
        Instant due = db.get(id).state().nextRetryAt();
        assertThat(db.queue.remove(id)).isTrue();
        db.age(id, Duration.ofSeconds(61));
        assertThat(db.queue.repair(Duration.ofSeconds(60), 100)).isPositive();
        assertThat(db.column(id, EXECUTION_JOBS.QUEUE_VISIBLE_AT)).isEqualTo(due);
        assertThat(db.queue.remove(id)).isTrue();
        assertThat(db.queue.enqueue(id)).isTrue();
        assertThat(db.column(id, EXECUTION_JOBS.QUEUE_VISIBLE_AT)).isEqualTo(due);
    }

    @Test
    void depth_countsWhatIsDue() {
        NewJob job = StoreFixture.newJob("depth");
        JobSpec spec = job.spec().withQueue("deep");
        db.submit(job.withSpec(spec));
        db.submit(StoreFixture.newJob("depth").withSpec(spec));
        db.submit(StoreFixture.newJob("depth").withSpec(spec).withDelay(Duration.ofHours(1)));
        assertThat(db.queue.depth("managed", "deep")).isEqualTo(2);
        assertThat(db.queue.depth("managed", "empty")).isZero();
    }

    @Test
    void cancel_ofQueuedJob_endsItAtOnce() {
        Job job = db.submit("cancel");
        assertThat(db.jobs.cancel(job.id(), "ann", "not needed")).isEqualTo(CancelResult.CANCELLED);
        Job ended = db.get(job.id());
        assertThat(ended.status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(ended.audit().cancellation().why()).isEqualTo("not needed");
        assertThat(db.claim(1, "cancel")).isEmpty();
        assertThat(db.jobs.cancel(job.id(), null, null)).isEqualTo(CancelResult.ALREADY_ENDED);
    }

    @Test
    void cancel_ofClaimedJob_isARequestThatStays() {
        Claim claim = db.running("cancel-running");
        String id = claim.job().id();
        assertThat(db.jobs.cancel(id, "ann", null)).isEqualTo(CancelResult.REQUESTED);
        assertThat(db.jobs.cancel(id, "bob", null)).isEqualTo(CancelResult.REQUESTED);
        assertThat(db.get(id).audit().cancellation().by()).isEqualTo("ann");
        assertThat(db.column(id, EXECUTION_JOBS.CANCELLATION_REQUESTED)).isTrue();
        assertThat(db.jobs.cancel("no such job", null, null)).isEqualTo(CancelResult.NOT_FOUND);
    }
}
