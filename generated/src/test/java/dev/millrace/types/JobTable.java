package dev.millrace.types;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.TestDatabase;
import dev.millrace.jooq.tables.records.ExecutionJobsRecord;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.TableField;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.conf.StatementType;
import org.jooq.impl.DSL;

/** A connection to the table of jobs, with one job in it, whose columns the tests write and read. */
final class JobTable implements AutoCloseable {

    private final Connection connection;
    private final String schema;

    JobTable(TestDatabase database) throws SQLException {
        this.schema = database.schema();
        this.connection = database.unpooledDataSource().getConnection();
        // Thousands of values: their exactness doesn't depend on when they reach the disk.
        setting("synchronous_commit", "off");
        insertJob();
    }

    DSLContext dsl() {
        return dsl(new Settings());
    }

    private DSLContext dsl(Settings settings) {
        return DSL.using(
                connection,
                SQLDialect.POSTGRES,
                settings.withRenderMapping(new RenderMapping()
                        .withSchemata(new MappedSchema().withInput("millrace").withOutput(schema))));
    }

    /** What is read after this was written, as a bind value and as a literal. */
    <T> T writeAndRead(TableField<ExecutionJobsRecord, T> column, T value) {
        T bound = writeAndRead(dsl(), column, value);
        T inlined = writeAndRead(dsl(new Settings().withStatementType(StatementType.STATIC_STATEMENT)), column, value);
        assertThat(inlined).as("%s as a literal, and as a bind value", value).isEqualTo(bound);
        assertThat(holds(column, value)).as("%s equals the column", value).isTrue();
        return bound;
    }

    private static <T> T writeAndRead(DSLContext dsl, TableField<ExecutionJobsRecord, T> column, T value) {
        dsl.update(EXECUTION_JOBS).set(column, value).execute();
        return dsl.select(column).from(EXECUTION_JOBS).fetchSingle(column);
    }

    private <T> boolean holds(TableField<ExecutionJobsRecord, T> column, T value) {
        // json has no equality
        return column.getType() == JsonText.class || dsl().fetchExists(EXECUTION_JOBS, column.eq(value));
    }

    <T> T read(TableField<ExecutionJobsRecord, T> column) {
        return dsl().select(column).from(EXECUTION_JOBS).fetchSingle(column);
    }

    /** The result of an SQL expression over the job's columns, as the server prints it. */
    String asPrinted(String expression) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT (" + expression + ")::text FROM \"" + schema + "\".execution_jobs")) {
            row.next();
            return row.getString(1);
        }
    }

    /** Sets a column to an SQL expression, past the types under test. */
    void set(String column, String expression) throws SQLException {
        execute("UPDATE \"" + schema + "\".execution_jobs SET " + column + " = " + expression);
    }

    void setting(String name, String value) throws SQLException {
        execute("SET " + name + " = '" + value + "'");
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private void insertJob() {
        Instant now = Instant.parse("2026-03-01T12:00:00Z");
        dsl().insertInto(EXECUTION_JOBS)
                .set(EXECUTION_JOBS.OPERATION_ID, "job")
                .set(EXECUTION_JOBS.VERSION, 1L)
                .set(EXECUTION_JOBS.STATUS, JobStatus.RUNNING)
                .set(EXECUTION_JOBS.UPDATED_AT, now)
                .set(EXECUTION_JOBS.EXPIRES_AT, now)
                .set(EXECUTION_JOBS.RECORD, JsonText.of("{}"))
                .set(EXECUTION_JOBS.KIND, "kind")
                .set(EXECUTION_JOBS.RUNTIME_PROFILE, "managed")
                .set(EXECUTION_JOBS.QUEUE, "default")
                .set(EXECUTION_JOBS.BACKEND, "local")
                .set(EXECUTION_JOBS.PRIORITY, Priority.NORMAL)
                .set(EXECUTION_JOBS.CREATED_AT, now)
                .set(EXECUTION_JOBS.HEARTBEAT_TIMEOUT, Duration.ofSeconds(90))
                .set(EXECUTION_JOBS.MAX_DURATION, Duration.ofHours(1))
                .onConflictDoNothing()
                .execute();
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
