package dev.millrace.examples.digests;

import java.util.Map;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Record6;
import org.jooq.Table;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jspecify.annotations.Nullable;

/**
 * The demonstration's own table: what the handlers found, one row for each job. A handler may run more than once for a
 * job, so it writes by upsert: the last run's finding stands, and {@code runs} counts how often one was written.
 */
final class DigestTable {
    static final Table<Record> DIGESTS = DSL.table(DSL.name("demo", "digests"));
    static final Field<String> JOB_ID = DSL.field(DSL.name("job_id"), SQLDataType.CLOB.notNull());
    static final Field<String> PATH = DSL.field(DSL.name("path"), SQLDataType.CLOB.notNull());
    static final Field<@Nullable String> SHA256 = DSL.field(DSL.name("sha256"), SQLDataType.CLOB);
    private static final Field<@Nullable Long> BYTES = DSL.field(DSL.name("bytes"), SQLDataType.BIGINT);
    private static final Field<@Nullable String> MODIFIED = DSL.field(DSL.name("modified"), SQLDataType.CLOB);
    private static final Field<@Nullable String> UNREADABLE = DSL.field(DSL.name("unreadable"), SQLDataType.CLOB);
    private static final Field<Integer> RUNS = DSL.field(DSL.name("runs"), SQLDataType.INTEGER.notNull());
    private static final Field<Integer> RUNS_SO_FAR =
            DSL.field(DSL.name("demo", "digests", "runs"), SQLDataType.INTEGER);

    private final DSLContext dsl;

    DigestTable(DSLContext dsl) {
        this.dsl = dsl;
    }

    /** A row of the table. */
    record Row(String path, Finding finding) {}

    void create() {
        dsl.createSchema(DSL.name("demo")).execute();
        dsl.createTable(DIGESTS)
                .columns(JOB_ID, PATH, SHA256, BYTES, MODIFIED, UNREADABLE, RUNS)
                .primaryKey(JOB_ID)
                .execute();
    }

    void upsert(String jobId, String path, Finding finding) {
        Finding.@Nullable Digest digest = finding instanceof Finding.Digest readable ? readable : null;
        String unreadable = finding instanceof Finding.Unreadable problem ? problem.why() : null;
        dsl.insertInto(DIGESTS, JOB_ID, PATH, SHA256, BYTES, MODIFIED, UNREADABLE, RUNS)
                .values(
                        jobId,
                        path,
                        digest == null ? null : digest.sha256(),
                        digest == null ? null : digest.bytes(),
                        digest == null ? null : digest.modified(),
                        unreadable,
                        1)
                .onConflict(JOB_ID)
                .doUpdate()
                .set(SHA256, DSL.excluded(SHA256))
                .set(BYTES, DSL.excluded(BYTES))
                .set(MODIFIED, DSL.excluded(MODIFIED))
                .set(UNREADABLE, DSL.excluded(UNREADABLE))
                .set(RUNS, RUNS_SO_FAR.plus(1))
                .execute();
    }

    /** All rows by their job ids. */
    Map<String, Row> all() {
        return dsl.select(JOB_ID, PATH, SHA256, BYTES, MODIFIED, UNREADABLE)
                .from(DIGESTS)
                .fetchMap(JOB_ID, DigestTable::row);
    }

    private static Row row(Record6<String, String, String, Long, String, String> row) {
        String sha256 = row.value3();
        return new Row(
                row.value2(),
                sha256 == null
                        ? new Finding.Unreadable(row.value6())
                        : new Finding.Digest(sha256, row.value4(), row.value5()));
    }
}
