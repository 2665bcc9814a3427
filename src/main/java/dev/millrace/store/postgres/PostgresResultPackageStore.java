package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static dev.millrace.jooq.Tables.RESULT_PACKAGES;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import dev.millrace.store.Attempt;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.types.JsonText;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jooq.CommonTableExpression;
import org.jooq.Field;
import org.jooq.Insert;
import org.jooq.InsertOnDuplicateStep;
import org.jooq.Record1;
import org.jooq.impl.DSL;

/** The results of jobs. */
final class PostgresResultPackageStore implements ResultPackageStore {
    private static final List<Field<?>> COLUMNS =
            List.of(RESULT_PACKAGES.JOB_ID, RESULT_PACKAGES.PACKAGE, RESULT_PACKAGES.EXPIRES_AT);

    private final Database database;

    PostgresResultPackageStore(Database database) {
        this.database = database;
    }

    /**
     * The job's row is locked first, so that nobody can take the job from the attempt until its result is written: a
     * condition of the insert alone would let a successor's result be overwritten by one that had to wait for it.
     */
    @Override
    public boolean put(Attempt attempt, JsonText result, Duration retention) {
        Checks.id("jobId", attempt.jobId());
        Duration checked = Checks.delay("retention", retention);
        refuseTooLarge(result);
        CommonTableExpression<Record1<String>> job = RowLock.held(Attempts.owned(attempt));
        return database.run(
                Operation.PUT_RESULT_OF_ATTEMPT,
                attempt.jobId(),
                dsl -> replacing(
                                        dsl.with(job)
                                                .insertInto(RESULT_PACKAGES, COLUMNS)
                                                .select(DSL.select(
                                                                job.field(EXECUTION_JOBS.OPERATION_ID),
                                                                DSL.val(result, RESULT_PACKAGES.PACKAGE),
                                                                DbTime.plus(DbTime.CLOCK, checked))
                                                        .from(job)),
                                        checked)
                                .execute()
                        > 0);
    }

    @Override
    public void put(String jobId, JsonText result, Duration retention) {
        Checks.id("jobId", jobId);
        Duration checked = Checks.delay("retention", retention);
        refuseTooLarge(result);
        database.run(
                Operation.PUT_RESULT,
                jobId,
                dsl -> replacing(
                                dsl.insertInto(RESULT_PACKAGES, COLUMNS)
                                        .values(
                                                DSL.val(jobId, RESULT_PACKAGES.JOB_ID),
                                                DSL.val(result, RESULT_PACKAGES.PACKAGE),
                                                DbTime.plus(DbTime.CLOCK, checked)),
                                checked)
                        .execute());
    }

    /** A value that replaces another one gets its expiry when that one's row is locked: SET is evaluated after it. */
    private static Insert<?> replacing(InsertOnDuplicateStep<?> insert, Duration retention) {
        return insert.onConflict(RESULT_PACKAGES.JOB_ID)
                .doUpdate()
                .set(RESULT_PACKAGES.PACKAGE, DSL.excluded(RESULT_PACKAGES.PACKAGE))
                .set(RESULT_PACKAGES.EXPIRES_AT, DbTime.plus(DbTime.CLOCK, retention));
    }

    private static void refuseTooLarge(JsonText result) {
        int characters = result.text().length();
        int bytes = characters <= MAX_BYTES / 3 ? characters : result.text().getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_BYTES) {
            throw new InvalidJobException(
                    "result",
                    bytes + " bytes of JSON",
                    "at most " + MAX_BYTES + " bytes; keep a large result elsewhere and store a reference to it");
        }
    }

    @Override
    public Optional<JsonText> get(String jobId) {
        Checks.id("jobId", jobId);
        return database.run(
                Operation.GET_RESULT,
                jobId,
                dsl -> dsl.select(RESULT_PACKAGES.PACKAGE)
                        .from(RESULT_PACKAGES)
                        .where(RESULT_PACKAGES.JOB_ID.eq(jobId))
                        .and(RESULT_PACKAGES.EXPIRES_AT.gt(DbTime.STATEMENT))
                        .fetchOptional(RESULT_PACKAGES.PACKAGE));
    }
}
