package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.CONTROLS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.store.JobPage;
import dev.millrace.store.JobQuery;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Field case A10: the order of times and ids is not the order of commits. Nobody who takes jobs remembers how far he got:
 * a claim starts at the head of the queue each time, a sweep at the smallest id. So what commits late is merely late.
 * Only who reads a list page by page does remember, and a list is no feed.
 */
@MillraceDatabase
class LateCommitTest {
    private final StoreFixture db;

    LateCommitTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.clear();
    }

    @Test
    void jobThatCommitsLate_isClaimed_thoughLaterOnesWereClaimedBefore() throws Exception {
        for (String[] kinds : new String[][] {{}, {"late"}, {"late", "other"}}) {
            NewJob first = StoreFixture.newJob("late");
            db.dsl.transaction(tx -> {
                db.store.in(tx).jobs().submit(first);
                Job second = StoreFixture.withoutWaiting(() -> db.submit("late"));
                assertThat(StoreFixture.withoutWaiting(() -> db.claim(9, kinds)))
                        .extracting(claim -> claim.job().id())
                        .containsExactly(second.id());
                assertThat(StoreFixture.withoutWaiting(() -> db.claim(9, kinds)))
                        .isEmpty();
            });
            assertThat(db.claim(9, kinds)).extracting(claim -> claim.job().id()).containsExactly(first.id());
        }
    }

    @Test
    void jobThatNeverCommits_blocksNothing() {
        db.undone(tx -> {
            db.store.in(tx).jobs().submit(StoreFixture.newJob("gone"));
            db.submit("gone");
            assertThat(StoreFixture.withoutWaiting(() -> db.claim(9, "gone"))).hasSize(1);
        });
        db.submit("gone");
        assertThat(db.claim(9, "gone")).hasSize(1);
    }

    @Test
    void unrelatedTransactionThatHasWritten_delaysNothing() {
        db.undone(tx -> {
            tx.dsl()
                    .insertInto(CONTROLS)
                    .set(CONTROLS.NAME, "unrelated")
                    .set(CONTROLS.SET_BY, "test")
                    .set(CONTROLS.SET_AT, DbTime.STATEMENT)
                    .execute();
            for (int i = 0; i < 10; i++) {
                Claim claim = StoreFixture.withoutWaiting(() -> db.running("unrelated"));
                assertThat(StoreFixture.withoutWaiting(() -> db.work.finish(claim, new Finish.Succeed())))
                        .isTrue();
            }
        });
    }

    /** Invariant 11, where the claim of the lost answer is still under way when its worker asks for the first time. */
    @Test
    void claimThatCommitsAfterItsWorkerHasAsked_isFoundWhenItAsksAgain() {
        Job job = db.submit("lost-reply");
        ClaimRequest request = StoreFixture.request(3, "lost-reply");
        db.dsl.transaction(tx -> {
            assertThat(db.store.in(tx).work().claim(request)).hasSize(1);
            assertThat(StoreFixture.withoutWaiting(() -> db.work.recover(request.tokens())))
                    .isEmpty();
        });
        assertThat(db.work.recover(request.tokens())).allSatisfy(claim -> {
            assertThat(claim.job()).isEqualTo(db.get(job.id()));
            assertThat(claim.countedAttempts()).isOne();
        });
        assertThat(db.work.recover(request.tokens())).hasSize(1);
        assertThat(db.get(job.id()).state().attemptCount()).isOne();
    }

    /** Its time of creation is that of its submit; pages go back in time, so it is found as long as they are not past that. */
    @Test
    void jobThatCommitsLate_isOnALaterPage_orMissedByAReaderWhoIsPastIt_butNotByTheNext() {
        JobQuery query = JobQuery.ALL.withLimit(1);
        Job oldest = db.submit("listed");
        NewJob late = StoreFixture.newJob("listed");
        AtomicReference<String> first = new AtomicReference<>();
        db.dsl.transaction(tx -> {
            db.store.in(tx).jobs().submit(late);
            Job newest = StoreFixture.withoutWaiting(() -> db.submit("listed"));
            JobPage page = db.jobs.query(query);
            assertThat(page.jobs()).containsExactly(newest);
            first.set(page.next().orElseThrow());
            assertThat(db.jobs.query(query.after(first.get())).jobs())
                    .as("while it is not there yet")
                    .containsExactly(oldest);
        });
        JobPage second = db.jobs.query(query.after(first.get()));
        assertThat(second.jobs()).extracting(Job::id).containsExactly(late.id());
        assertThat(db.jobs.query(query.after(second.next().orElseThrow())).jobs())
                .containsExactly(oldest);
    }
}
