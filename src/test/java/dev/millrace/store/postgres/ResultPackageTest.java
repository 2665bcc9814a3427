package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.RESULT_PACKAGES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@MillraceDatabase
class ResultPackageTest {
    private static final Duration DAY = Duration.ofDays(1);

    private final StoreFixture db;
    private final ResultPackageStore results;

    ResultPackageTest(TestDatabase database) {
        this.db = new StoreFixture(database);
        this.results = db.store.results();
    }

    private Instant expiry(String id) {
        return db.dsl
                .select(RESULT_PACKAGES.EXPIRES_AT)
                .from(RESULT_PACKAGES)
                .where(RESULT_PACKAGES.JOB_ID.eq(id))
                .fetchSingle()
                .value1();
    }

    /** Field case A12: what jsonb would refuse or change comes back to the letter. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":\"x\\u0000y\", \"b\":[1.00, 1e400], \"a\":2}",
                "null",
                "\"\\ud800\"",
                " {\"\u20AC\": \"\uD83D\uDE00\"} "
            })
    void put_isReadBackToTheLetter(String text) {
        String id = StoreFixture.newId();
        results.put(id, JsonText.of(text), DAY);
        assertThat(results.get(id)).contains(JsonText.of(text));
    }

    @Test
    void put_again_replacesTheResultAndItsRetention() {
        String id = StoreFixture.newId();
        results.put(id, JsonText.of("1"), DAY);
        results.put(id, JsonText.of("2"), Duration.ofDays(2));

        assertThat(results.get(id)).contains(JsonText.of("2"));
        assertThat(expiry(id)).isAfter(db.now().plus(DAY));
    }

    @Test
    void get_afterTheRetention_isEmpty() {
        String id = StoreFixture.newId();
        results.put(id, JsonText.of("1"), Duration.ZERO);
        assertThat(results.get(id)).isEmpty();
        assertThat(results.get("none")).isEmpty();
    }

    @Test
    void put_ofTooMuch_isRefusedBeforeAnySql() {
        String id = StoreFixture.newId();
        JsonText largest = JsonText.of('"' + "x".repeat(ResultPackageStore.MAX_BYTES - 2) + '"');
        JsonText tooLarge = JsonText.of('"' + "\u20AC".repeat(ResultPackageStore.MAX_BYTES / 3) + '"');
        results.put(id, largest, DAY);

        assertThatThrownBy(() -> results.put(id, tooLarge, DAY))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("bytes of JSON");
        assertThatThrownBy(() -> results.put("", JsonText.of("1"), DAY)).isInstanceOf(InvalidJobException.class);
        assertThatThrownBy(() -> results.put(id, JsonText.of("1"), Duration.ofSeconds(-1)))
                .isInstanceOf(InvalidJobException.class);
        assertThat(results.get(id)).contains(largest);
    }

    /** An expiry that waited for another writer is reckoned from when it got the row. */
    @Test
    void put_thatWaited_isKeptForItsWholeRetention() throws Exception {
        String id = StoreFixture.newId();
        results.put(id, JsonText.of("1"), DAY);
        Thread second = new Thread(() -> results.put(id, JsonText.of("2"), Duration.ofHours(1)));
        Instant released = db.dsl.transactionResult(tx -> {
            db.store.in(tx).results().put(id, JsonText.of("3"), DAY);
            second.start();
            db.awaitLockWaiter();
            return db.now();
        });
        second.join(30_000);

        assertThat(results.get(id)).contains(JsonText.of("2"));
        assertThat(expiry(id)).isAfterOrEqualTo(released.plus(Duration.ofHours(1)));
    }

    /** Field case A4: who lost the job doesn't overwrite its successor's result, and is told. */
    @Test
    void put_ofAnAttemptThatLostTheJob_writesNothing() {
        String id = db.submit("lost").id();
        Attempt first = db.claimOne("lost").attempt();
        assertThat(results.put(first, JsonText.of("1"), DAY)).isTrue();
        assertThat(results.put(first, JsonText.of("2"), DAY)).as("in its place").isTrue();
        db.queue.requeue(first, Duration.ZERO);
        assertThat(results.put(first, JsonText.of("3"), DAY)).isFalse();

        Claim second = db.claimOne("lost");
        assertThat(results.put(second.attempt(), JsonText.of("4"), DAY)).isTrue();
        assertThat(results.put(first, JsonText.of("5"), DAY)).isFalse();
        db.work.finish(second, new Finish.Succeed());
        assertThat(results.put(second.attempt(), JsonText.of("6"), DAY))
                .as("after its end")
                .isFalse();
        assertThat(results.get(id)).contains(JsonText.of("4"));
        assertThat(results.put(new Attempt("none", UUID.randomUUID()), JsonText.of("7"), DAY))
                .isFalse();
    }

    @Test
    void put_ofAnAttemptThatIsLosingTheJob_waitsForThat_andWritesNothing() throws Exception {
        String id = db.submit("losing").id();
        Attempt attempt = db.claimOne("losing").attempt();
        CompletableFuture<Boolean> put = db.dsl.transactionResult(tx -> {
            db.store.in(tx).queue().requeue(attempt, Duration.ZERO);
            CompletableFuture<Boolean> late = OwnThread.supply(() -> results.put(attempt, JsonText.of("1"), DAY));
            db.awaitLockWaiter();
            return late;
        });
        assertThat(put.get(30, TimeUnit.SECONDS)).isFalse();
        assertThat(results.get(id)).isEmpty();
    }

    /** The other way round: nobody takes over a job of which a result is just being written. */
    @Test
    void put_ofAnAttempt_holdsTheJobUntilItIsCommitted() {
        String id = db.submit("holding").id();
        Attempt attempt = db.claimOne("holding").attempt();
        CompletableFuture<Boolean> taken = db.dsl.transactionResult(tx -> {
            assertThat(db.store.in(tx).results().put(attempt, JsonText.of("1"), DAY))
                    .isTrue();
            CompletableFuture<Boolean> requeued = OwnThread.supply(() -> db.queue.requeue(attempt, Duration.ZERO));
            db.awaitLockWaiter();
            assertThat(requeued).isNotDone();
            return requeued;
        });
        assertThat(taken.orTimeout(30, TimeUnit.SECONDS).join()).isTrue();
        assertThat(results.get(id)).contains(JsonText.of("1"));
    }

    @Test
    void put_inACallersTransaction_isThereIfThatCommits() {
        String id = StoreFixture.newId();
        db.undone(tx -> db.store.in(tx).results().put(id, JsonText.of("1"), DAY));
        assertThat(results.get(id)).isEmpty();
        db.dsl.transaction(tx -> db.store.in(tx).results().put(id, JsonText.of("1"), DAY));
        assertThat(results.get(id)).isPresent();
    }
}
