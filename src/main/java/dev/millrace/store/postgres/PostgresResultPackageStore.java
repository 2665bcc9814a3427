package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.RESULT_PACKAGES;

import dev.millrace.job.Checks;
import dev.millrace.job.InvalidJobException;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.types.JsonText;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.jooq.impl.DSL;

/** The results of jobs. */
final class PostgresResultPackageStore implements ResultPackageStore {
    private final Database database;

    PostgresResultPackageStore(Database database) {
        this.database = database;
    }

    /** A value that replaces another one gets its expiry when that one's row is locked: SET is evaluated after it. */
    @Override
    public void put(String jobId, JsonText result, Duration retention) {
        Checks.id("jobId", jobId);
        Duration checked = Checks.delay("retention", retention);
        refuseTooLarge(result);
        database.run(
                Operation.PUT_RESULT,
                jobId,
                dsl -> dsl.insertInto(RESULT_PACKAGES)
                        .set(RESULT_PACKAGES.JOB_ID, jobId)
                        .set(RESULT_PACKAGES.PACKAGE, result)
                        .set(RESULT_PACKAGES.EXPIRES_AT, DbTime.plus(DbTime.CLOCK, checked))
                        .onConflict(RESULT_PACKAGES.JOB_ID)
                        .doUpdate()
                        .set(RESULT_PACKAGES.PACKAGE, DSL.excluded(RESULT_PACKAGES.PACKAGE))
                        .set(RESULT_PACKAGES.EXPIRES_AT, DbTime.plus(DbTime.CLOCK, checked))
                        .execute());
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
