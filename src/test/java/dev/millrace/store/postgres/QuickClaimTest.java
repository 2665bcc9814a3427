package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Claims that begin where the last one did find all that can have come in since, and leave out what can't. */
@MillraceDatabase
class QuickClaimTest {
    private final StoreFixture db;

    QuickClaimTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.dsl.deleteFrom(EXECUTION_JOBS).execute();
    }

    /** A job that has been due for so long. */
    private String due(Duration since, String kind, Priority priority) {
        String id = db.jobs
                .submit(StoreFixture.newJob(kind).withPriority(priority))
                .job()
                .id();
        db.dsl
                .update(EXECUTION_JOBS)
                .set(
                        EXECUTION_JOBS.QUEUE_VISIBLE_AT,
                        EXECUTION_JOBS.QUEUE_VISIBLE_AT.sub(DSL.val(since, DbTime.DURATION)))
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
        return id;
    }

    private String due(Duration since) {
        return due(since, "a", Priority.NORMAL);
    }

    private List<String> claim(ClaimRequest request) {
        return db.work.claim(request).stream().map(QuickClaimTest::id).toList();
    }

    private static String id(Claim claim) {
        return claim.job().id();
    }

    private static ClaimRequest quick(String... kinds) {
        return StoreFixture.request(10, kinds).quick();
    }

    @Test
    void firstClaim_findsEverything() {
        String old = due(Duration.ofHours(1));
        assertThat(claim(quick("a"))).containsExactly(old);
    }

    @Test
    void jobBehindTheHead_isLeftOut_andFoundByAThoroughClaim() {
        String head = due(Duration.ofMinutes(1));
        assertThat(claim(quick("a"))).containsExactly(head);
        String behind = due(Duration.ofMinutes(2));
        assertThat(claim(quick("a"))).isEmpty();
        assertThat(claim(StoreFixture.request(10, "a"))).containsExactly(behind);
    }

    @Test
    void jobThatComesInLate_byLessThanFiveSeconds_isFound() {
        String head = due(Duration.ZERO);
        assertThat(claim(quick("a"))).containsExactly(head);
        String late = due(Duration.ofSeconds(2));
        assertThat(claim(quick("a"))).containsExactly(late);
    }

    @Test
    void jobOfTheSameTime_withAGreaterId_isFound() {
        List<String> ids = Stream.of(due(Duration.ofMinutes(1)), due(Duration.ofMinutes(1)))
                .sorted()
                .toList();
        db.dsl
                .update(EXECUTION_JOBS)
                .set(
                        EXECUTION_JOBS.QUEUE_VISIBLE_AT,
                        DSL.select(DSL.min(EXECUTION_JOBS.QUEUE_VISIBLE_AT)).from(EXECUTION_JOBS))
                .execute();
        assertThat(claim(StoreFixture.request(1, "a").quick())).containsExactly(ids.get(0));
        assertThat(claim(quick("a"))).containsExactly(ids.get(1));
    }

    @Test
    void jobOfAnotherPriority_orQueue_hasItsOwnHead() {
        String normal = due(Duration.ofMinutes(1));
        assertThat(claim(quick("a"))).containsExactly(normal);
        String urgent = due(Duration.ofMinutes(2), "a", Priority.HIGH);
        String slow = due(Duration.ofMinutes(2), "a", Priority.LOW);
        assertThat(claim(quick("a"))).containsExactly(urgent, slow);
    }

    /** What a claim for one kind has passed over was not its own. */
    @Test
    void claimForOtherKinds_hasAnotherHead() {
        String passedOver = due(Duration.ofMinutes(2), "b", Priority.NORMAL);
        String head = due(Duration.ofMinutes(1));
        assertThat(claim(quick("a"))).containsExactly(head);
        assertThat(claim(quick("b"))).containsExactly(passedOver);
        String more = due(Duration.ofMinutes(2), "b", Priority.NORMAL);
        assertThat(claim(quick("a", "b"))).containsExactly(more);
    }

    @Test
    void jobOfAllKinds_orSeveral_isLeftOutBehindTheHead() {
        for (String[] kinds : List.of(new String[] {}, new String[] {"a", "b"})) {
            String head = due(Duration.ofMinutes(1));
            assertThat(claim(quick(kinds))).containsExactly(head);
            String behind = due(Duration.ofMinutes(2));
            assertThat(claim(quick(kinds))).isEmpty();
            assertThat(claim(StoreFixture.request(10, kinds))).containsExactly(behind);
        }
    }

    @Test
    void jobThatIsHandedBack_orDelayed_isFoundWhenItIsDue() {
        String first = due(Duration.ofMinutes(1));
        Claim claim = db.work.claim(quick("a")).get(0);
        String head = due(Duration.ofSeconds(30));
        assertThat(claim(quick("a"))).containsExactly(head);
        assertThat(db.queue.requeue(claim.attempt(), Duration.ZERO)).isTrue();
        assertThat(claim(quick("a"))).containsExactly(first);
    }
}
