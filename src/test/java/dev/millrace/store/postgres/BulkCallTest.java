package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.db.Release;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.NewJob;
import dev.millrace.store.JobsFailedException;
import dev.millrace.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jooq.DSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which errors of a statement over many jobs are looked for in parts of it, and for how long. */
@MillraceDatabase
class BulkCallTest {
    private static final List<String> JOBS = List.of("a", "b", "c", "d", "e", "f", "g", "h");

    private final StoreFixture db;
    private final AtomicInteger statements = new AtomicInteger();
    private final AtomicLong now = new AtomicLong(-1);

    BulkCallTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    /** A call whose every statement fails with this. */
    private BulkCall<String> failing(String state, Duration each) {
        String schema = db.database.schema();
        Database own = new Database(
                new OwnConnections(db.database.dataSource()),
                new Rendering(schema),
                new SchemaGate(schema, Release.current()),
                Repetition.Policy.DEFAULT,
                false);
        return new BulkCall<>(
                own,
                Operation.CANCEL_ALL,
                id -> id,
                id -> id.equals("h"),
                (chunk, repetition) -> {
                    statements.incrementAndGet();
                    now.addAndGet(each.toNanos());
                    raise(chunk.dsl(), state);
                },
                now::get);
    }

    private static void raise(DSLContext dsl, String state) {
        dsl.execute("DO $$ BEGIN RAISE 'by the test' USING ERRCODE = '" + state + "'; END $$");
    }

    @ParameterizedTest
    @ValueSource(strings = {"P0001", "23514", "22003", "27000", "44000", "55P03"})
    void errorsAboutRows_areLookedForInParts(String state) {
        BulkCall<String> call = failing(state, Duration.ZERO);
        call.run(List.of(JOBS));
        JobsFailedException failed = catchThrowableOfType(JobsFailedException.class, () -> call.end(List.of()));
        assertThat(failed.failures()).containsOnlyKeys(JOBS);
        assertThat(statements).hasValue(15);
    }

    /** A limit of the session, a pooler, the disk, a defect: all parts would fail of it too. */
    @ParameterizedTest
    @ValueSource(strings = {"57014", "26000", "53100", "54000", "58030", "XX000", "0A000"})
    void otherErrors_goToTheCallerAtOnce(String state) {
        BulkCall<String> call = failing(state, Duration.ZERO);
        assertThatThrownBy(() -> call.run(List.of(JOBS)))
                .isExactlyInstanceOf(StoreException.class)
                .hasMessageContaining("by the test");
        assertThat(statements).hasValue(1);
    }

    @Test
    void partsThatFailForLong_areGivenUp_andWhatIsNotDoneIsCounted() {
        BulkCall<String> call = failing("55P03", BulkCall.LONGEST.dividedBy(4));
        call.run(List.of(JOBS));
        JobsFailedException failed = catchThrowableOfType(JobsFailedException.class, () -> call.end(List.of()));
        assertThat(failed.failures()).hasSizeBetween(1, 3);
        assertThat(failed.untried()).isEqualTo(7 - failed.failures().size());
    }

    /** Not even one is known to be at fault then: that must not look as if all had been done. */
    @Test
    void partsThatFailForLong_beforeAnyIsAlone_failTheCall() {
        BulkCall<String> call = failing("55P03", BulkCall.LONGEST.plusSeconds(1));
        call.run(List.of(JOBS));
        assertThat(statements).hasValue(2);
        assertThatThrownBy(() -> call.end(List.of()))
                .isExactlyInstanceOf(StoreException.class)
                .hasMessageContaining("by the test");
    }

    /** Such as one that keeps a row out without an error. */
    @Test
    void submitAll_whereATriggerDropsARow_saysWhichJobIsNotThere() throws SQLException {
        String schema = "\"" + db.database.schema() + "\".";
        NewJob job = StoreFixture.newJob("dropped");
        try (Connection connection = db.database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE FUNCTION " + schema
                    + "drop_it() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'");
            statement.execute("CREATE TRIGGER drop_it BEFORE INSERT ON " + schema
                    + "execution_jobs FOR EACH ROW EXECUTE FUNCTION " + schema + "drop_it()");
            try {
                assertThatThrownBy(() -> db.jobs.submitAll(List.of(job)))
                        .isExactlyInstanceOf(StoreException.class)
                        .hasMessageContainingAll(job.id(), "trigger");
            } finally {
                statement.execute("DROP TRIGGER drop_it ON " + schema + "execution_jobs");
                statement.execute("DROP FUNCTION " + schema + "drop_it()");
            }
        }
    }
}
