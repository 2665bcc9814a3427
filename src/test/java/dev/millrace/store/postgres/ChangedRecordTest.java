package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.ReconcilableJobs.Expiry;
import dev.millrace.store.RetryResult;
import dev.millrace.store.UnreadableJobException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Field case A21 one level down: records that this release can't read, among others that it can. */
@MillraceDatabase
class ChangedRecordTest {
    private static final Map<String, UnaryOperator<String>> CHANGES = new TreeMap<>(Map.of(
            "an enum constant is called otherwise",
            record -> record.replace("\"Normal\"", "\"Medium\""),
            "a member is gone",
            record -> record.replaceFirst("\"kind\":\"[^\"]*\",?", ""),
            "a member has another name",
            record -> record.replace("\"spec\"", "\"specification\""),
            "a member is of another type",
            record -> record.replaceFirst("\"kind\":\"[^\"]*\"", "\"kind\":[{}]"),
            "it is another thing",
            record -> "[1, 2]"));

    private final StoreFixture db;

    ChangedRecordTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.clear();
    }

    static Stream<String> changes() {
        return CHANGES.keySet().stream();
    }

    private JsonText change(String id, String change) {
        JsonText good = db.column(id, EXECUTION_JOBS.RECORD);
        String changed = CHANGES.get(change).apply(good.text());
        assertThat(changed).isNotEqualTo(good.text());
        db.breakRecord(id, JsonText.of(changed));
        return good;
    }

    @ParameterizedTest
    @MethodSource("changes")
    void queuedJob_failsAlone_andRunsOnceItIsMended(String change) {
        Job bad = db.submit("k");
        Job good = db.submit("k");
        JsonText before = change(bad.id(), change);
        JsonText changed = db.column(bad.id(), EXECUTION_JOBS.RECORD);
        assertThat(db.claim(10, "k"))
                .singleElement()
                .extracting(c -> c.job().id())
                .isEqualTo(good.id());
        assertThat(db.column(bad.id(), EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.FAILED);
        assertThat(db.column(bad.id(), EXECUTION_JOBS.RECORD)).isEqualTo(changed);
        assertThatThrownBy(() -> db.jobs.retry(bad.id(), null, null)).isInstanceOf(UnreadableJobException.class);
        db.breakRecord(bad.id(), before);
        assertThat(db.jobs.retry(bad.id(), null, null)).isEqualTo(RetryResult.QUEUED);
        assertThat(db.work.finish(db.claimOne("k"), new Finish.Succeed())).isTrue();
    }

    @ParameterizedTest
    @MethodSource("changes")
    void runningJob_isSweptWithTheOthers(String change) {
        Claim bad = db.running("k");
        Claim good = db.running("k");
        change(bad.job().id(), change);
        JsonText changed = db.column(bad.job().id(), EXECUTION_JOBS.RECORD);
        db.age(bad.job().id(), Duration.ofSeconds(91));
        db.age(good.job().id(), Duration.ofSeconds(91));
        var suspects = db.reconcilable.suspects("", 10);
        assertThat(suspects).hasSize(2);
        suspects.forEach(suspect -> assertThat(db.reconcilable.expire(
                        suspect,
                        suspect.claim() == null
                                ? new Finish.Fail("gone", Finish.Fail.Reason.EXPIRED)
                                : new Finish.Retry(Duration.ZERO, "silent")))
                .isEqualTo(Expiry.ENDED));
        assertThat(db.column(bad.job().id(), EXECUTION_JOBS.STATUS)).isEqualTo(JobStatus.FAILED);
        assertThat(db.column(bad.job().id(), EXECUTION_JOBS.RECORD)).isEqualTo(changed);
        assertThat(db.get(good.job().id()).status()).isEqualTo(JobStatus.QUEUED);
    }

    @ParameterizedTest
    @MethodSource("changes")
    void endedJob_staysAsItIs_andIsInNobodysWay(String change) {
        Claim bad = db.running("k");
        db.work.finish(bad, new Finish.Fail("boom", Finish.Fail.Reason.HANDLER));
        String id = bad.job().id();
        Job other = db.submit("k");
        JsonText before = change(id, change);
        var row = db.dsl
                .selectFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .fetchSingle();
        assertThatThrownBy(() -> db.jobs.get(id)).isInstanceOf(UnreadableJobException.class);
        assertThat(db.jobs.cancel(id, null, null)).isEqualTo(CancelResult.ALREADY_ENDED);
        assertThat(db.jobs.cancelAll(List.of(id, other.id()), null, null))
                .containsOnly(Map.entry(id, CancelResult.ALREADY_ENDED), Map.entry(other.id(), CancelResult.CANCELLED));
        assertThatThrownBy(() -> db.jobs.retry(id, null, null)).isInstanceOf(UnreadableJobException.class);
        assertThat(db.reconcilable.suspects("", 10)).isEmpty();
        assertThat(db.dsl
                        .selectFrom(EXECUTION_JOBS)
                        .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                        .fetchSingle())
                .isEqualTo(row);
        db.breakRecord(id, before);
        assertThat(db.jobs.retry(id, null, null)).isEqualTo(RetryResult.QUEUED);
    }
}
