package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.RESULT_PACKAGES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
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

    @Test
    void put_inACallersTransaction_isThereIfThatCommits() {
        String id = StoreFixture.newId();
        db.undone(tx -> db.store.in(tx).results().put(id, JsonText.of("1"), DAY));
        assertThat(results.get(id)).isEmpty();
        db.dsl.transaction(tx -> db.store.in(tx).results().put(id, JsonText.of("1"), DAY));
        assertThat(results.get(id)).isPresent();
    }
}
