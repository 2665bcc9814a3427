package dev.millrace.benchmarks;

import dev.millrace.job.JobAudit;
import dev.millrace.job.JobSpec;
import dev.millrace.job.NewJob;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JsonText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Fills Millrace's table with as many jobs as there are after a while. Jobs were created a quarter of a second apart, the
 * last one a day ago; oldest first, they have ended (of 94 three Failed and one Cancelled, the others Succeeded), are Running, and are Queued. Their
 * rows are copies of one that the library has written, each with an id, a kind (ten, in runs of 100 jobs), a requester (of
 * 400 jobs each) and times of its own. Indexes are made anew behind the rows, and everything is vacuumed and analyzed, but never
 * again by itself: so autovacuum writes nothing into the WAL of what is measured, and changes no plan meanwhile.
 */
public final class JobTable {
    /** The kinds of the jobs. */
    public static final List<String> KINDS =
            List.of("kind-0", "kind-1", "kind-2", "kind-3", "kind-4", "kind-5", "kind-6", "kind-7", "kind-8", "kind-9");

    private static final String TEMPLATE = "TEMPLATE-ID";

    private JobTable() {}

    /**
     * How many jobs there are.
     *
     * @param ended that have ended
     * @param running that are running, with a heartbeat of now
     * @param queued that are due
     */
    public record Filling(long ended, long running, long queued) {
        /** {@return all of them} */
        public long total() {
            return ended + running + queued;
        }
    }

    /**
     * Replaces all jobs.
     *
     * @param database has Millrace's tables
     * @param filling how many
     * @param payloadBytes how large the payload of each is; from 2,000 on it lies outside of its row
     */
    public static void load(BenchDatabase database, Filling filling, int payloadBytes) throws SQLException {
        database.execute(
                "TRUNCATE " + BenchDatabase.JOBS,
                "ALTER TABLE " + BenchDatabase.JOBS
                        + " SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)");
        PostgresStore.on(database.unpooled(), BenchDatabase.SCHEMA).jobs().submit(template(payloadBytes));
        try (Connection connection = database.unpooled().getConnection();
                Statement statement = connection.createStatement()) {
            List<String> indexes = dropIndexes(statement);
            statement.execute(INSERT.formatted(
                    BenchDatabase.JOBS,
                    filling.total(),
                    filling.ended(),
                    filling.ended() + filling.running(),
                    TEMPLATE));
            statement.execute("DELETE FROM " + BenchDatabase.JOBS + " WHERE operation_id = '" + TEMPLATE + "'");
            statement.execute("SET maintenance_work_mem = '512MB'");
            for (String index : indexes) {
                statement.execute(index);
            }
        }
        database.execute(
                "VACUUM ANALYZE", "CHECKPOINT"); // the catalog as well, so that there is nothing left to be done
        long found = database.number("SELECT count(*) FROM " + BenchDatabase.JOBS);
        if (found != filling.total()) {
            throw new CheckFailedException("The table was to hold " + filling.total() + " jobs, and holds " + found);
        }
    }

    /**
     * {@return the id of a job}
     *
     * @param number from 1, the oldest, to {@link Filling#total()}
     */
    public static String id(long number) {
        return String.format(Locale.ROOT, "job-%09d", number);
    }

    /**
     * Puts jobs that a {@link Claimer} holds back to where they were, and clears away what that leaves behind, in the indexes as
     * well.
     */
    public static void unclaim(BenchDatabase database) throws SQLException {
        putBack(database, "status IN ('Provisioning', 'Running') AND claimed_by = '" + Claimer.NAME + "'");
    }

    /**
     * The same for jobs that have ended.
     *
     * @param ids of the jobs
     */
    public static void unend(BenchDatabase database, Collection<String> ids) throws SQLException {
        putBack(
                database,
                ids.stream().map(id -> "'" + id + "'").collect(Collectors.joining(", ", "operation_id IN (", ")")));
    }

    private static void putBack(BenchDatabase database, String which) throws SQLException {
        database.execute(
                "UPDATE " + BenchDatabase.JOBS + " SET status = 'Queued', version = 3, attempt_count = 0,"
                        + " claim_token = NULL, claimed_by = NULL, claimed_at = NULL, last_heartbeat_at = NULL,"
                        + " updated_at = created_at, queue_priority = priority, queue_visible_at = created_at,"
                        + " completed_at = NULL, expires_at = created_at + interval '1000 days' WHERE " + which,
                "VACUUM (INDEX_CLEANUP ON) " + BenchDatabase.JOBS);
    }

    /** Nothing in it compresses well, as in real ones. */
    private static NewJob template(int payloadBytes) {
        JsonText payload = JsonText.of("{\"input\":\"" + Payloads.noise(payloadBytes) + "\"}");
        return NewJob.of(TEMPLATE, JobSpec.of("TEMPLATE-KIND", payload))
                .withAudit(JobAudit.NONE.withRequestedBy("TEMPLATE-REQUESTER"));
    }

    private static List<String> dropIndexes(Statement statement) throws SQLException {
        List<String> names = new ArrayList<>();
        List<String> definitions = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = '"
                + BenchDatabase.SCHEMA + "' AND tablename = 'execution_jobs' AND indexname NOT LIKE '%_pkey'")) {
            while (rows.next()) {
                names.add(rows.getString(1));
                definitions.add(rows.getString(2));
            }
        }
        for (String name : names) {
            statement.execute("DROP INDEX " + BenchDatabase.SCHEMA + "." + name);
        }
        return definitions;
    }

    private static final String INSERT = """
            INSERT INTO %1$s (operation_id, version, status, attempt_count, claim_token, claimed_by, claimed_at,
              last_heartbeat_at, completed_at, updated_at, queue_priority, queue_visible_at, expires_at, record, kind,
              runtime_profile, queue, backend, priority, created_at, tenant_id, heartbeat_timeout, max_duration,
              lookup_keys)
            SELECT jobs.id, 3, jobs.status, CASE WHEN claimed THEN 1 ELSE 0 END, CASE WHEN claimed THEN gen_random_uuid() END,
              CASE WHEN claimed THEN 'worker' END, CASE WHEN claimed THEN created END,
              CASE WHEN claimed THEN statement_timestamp() END, CASE WHEN ended THEN created END, created,
              CASE WHEN NOT ended THEN t.priority END, CASE WHEN NOT ended THEN created END,
              created + interval '1000 days',
              replace(replace(replace(t.record::text, '%5$s', id), 'TEMPLATE-KIND', jobs.kind),
                'TEMPLATE-REQUESTER', 'user-' || n %% greatest(2, %2$s / 400))::json,
              jobs.kind, t.runtime_profile, t.queue, t.backend, t.priority, created, t.tenant_id, t.heartbeat_timeout,
              t.max_duration, array_replace(t.lookup_keys, 'requested-by:TEMPLATE-REQUESTER', 'requested-by:USER-' || n %% greatest(2, %2$s / 400))
            FROM (SELECT n, 'job-' || lpad(n::text, 9, '0') AS id, 'kind-' || (n / 100) %% 10 AS kind,
                CASE WHEN n > %4$s THEN 'Queued' WHEN n > %3$s THEN 'Running' WHEN n %% 94 IN (0, 32, 63) THEN 'Failed'
                     WHEN n %% 94 = 50 THEN 'Cancelled' ELSE 'Succeeded' END AS status,
                n <= %4$s AS claimed, n <= %3$s AS ended,
                statement_timestamp() - interval '1 day' - make_interval(secs => (%2$s - n) / 4.0) AS created
              FROM generate_series(1, %2$s) AS series(n)) AS jobs,
              %1$s AS t
            WHERE t.operation_id = '%5$s'
            """;
}
