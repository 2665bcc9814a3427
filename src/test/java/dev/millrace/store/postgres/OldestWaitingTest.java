package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.NewJob;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest.Source;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How far workers lag behind, and what a claim says of it. */
@MillraceDatabase
class OldestWaitingTest {
    private static final Source DEFAULT = new Source("managed", "default");

    private final StoreFixture db;

    OldestWaitingTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void clear() {
        db.clear();
    }

    private String submit(String queue, Priority priority, Duration dueFor) {
        NewJob job = StoreFixture.newJob("work");
        String id = db.submit(job.withSpec(job.spec().withQueue(queue)).withPriority(priority))
                .id();
        db.dsl
                .update(EXECUTION_JOBS)
                .set(
                        EXECUTION_JOBS.QUEUE_VISIBLE_AT,
                        EXECUTION_JOBS.QUEUE_VISIBLE_AT.sub(DSL.val(dueFor, DbTime.DURATION)))
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
        return id;
    }

    @Test
    void oldestWaiting_isThatOfTheOldestDueJobInEachQueue_whateverItsPriority() {
        submit("default", Priority.CRITICAL, Duration.ofMinutes(1));
        submit("default", Priority.LOW, Duration.ofHours(3));
        submit("default", Priority.NORMAL, Duration.ofHours(2));
        submit("default", Priority.HIGH, Duration.ofHours(-1));
        submit("later", Priority.NORMAL, Duration.ofHours(-1));

        Map<Source, Duration> ages = db.store.counts().oldestWaiting();

        assertThat(ages).containsOnlyKeys(DEFAULT, new Source("managed", "later"));
        assertThat(ages.get(DEFAULT)).isBetween(Duration.ofHours(3), Duration.ofHours(4));
        assertThat(ages.get(new Source("managed", "later"))).isZero();
    }

    @Test
    void oldestWaiting_doesNotCountWhatIsClaimed_norWhatHasNoPlace() {
        submit("default", Priority.NORMAL, Duration.ofHours(3));
        db.claimOne("work");
        db.queue.remove(submit("default", Priority.NORMAL, Duration.ofHours(2)));
        assertThat(db.store.counts().oldestWaiting()).isEmpty();
    }

    @Test
    void claim_saysSinceWhenTheJobWasDue() {
        String id = submit("default", Priority.NORMAL, Duration.ofHours(3));
        Instant due = db.column(id, EXECUTION_JOBS.QUEUE_VISIBLE_AT);

        Claim claim = db.claimOne("work");

        assertThat(claim.dueAt()).isEqualTo(due);
        assertThat(db.work.recover(List.of(claim.token()))).containsExactly(claim);
    }
}
