package dev.millrace.store.postgres;

import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobAudit;
import dev.millrace.job.JobReferences;
import dev.millrace.job.JobSpec;
import dev.millrace.types.JsonText;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Random;

/**
 * A table as it is after a while, for tests of plans. Jobs were created a quarter of a second apart and inserted in that
 * order; the last one is a day old. Of 200,000 jobs, oldest first:
 *
 * <ul>
 *   <li>188,000 have ended: 180,000 Succeeded, and spread evenly among them 6,000 Failed and 2,000 Cancelled;
 *   <li>400 are Running and 200 Provisioning, close together; every twelfth has an old heartbeat;
 *   <li>11,400 are Queued, of which every thousandth has no place in the queue.
 * </ul>
 *
 * 88 % of the jobs are of the queue {@code default} and 98 % of the profile {@code managed}, the rest of three other
 * queues and one other profile; ten are of the queue {@code rare}. Kinds (ten) follow each other in runs of 100 jobs. Of
 * twenty tenants two have no name, and ten jobs are of the tenant {@code tenant-rare}. A requester has 400 jobs and a run 50, spread over
 * the table; two jobs in succession share a correlation. The record is 2.4 kB and lies outside of the row, as one of 5 kB would;
 * rows are about 400 bytes, 14 on a page. The retention of the oldest 1,050, all of which have ended, is over.
 *
 * <p>20,000 of the jobs have a log, 400 of these one of 100 lines, which lie together, and the others one of a single line;
 * 2,000 have a result.
 */
final class LoadedTable {
    /** How the statuses are mixed. */
    enum Mix {
        /** As said above. */
        USUAL("""
                CASE WHEN n > %1$s * 0.943 THEN 'Queued' WHEN n > %1$s * 0.942 THEN 'Provisioning'
                WHEN n > %1$s * 0.94 THEN 'Running' WHEN n %% 94 IN (0, 32, 63) THEN 'Failed'
                WHEN n %% 94 = 50 THEN 'Cancelled' ELSE 'Succeeded' END"""),
        /** 95 % have succeeded, the others, the newest, are queued. */
        ENDED("CASE WHEN n > %1$s * 0.95 THEN 'Queued' ELSE 'Succeeded' END"),
        /** 95 % are queued, the others, the oldest, have succeeded. */
        READY("CASE WHEN n > %1$s * 0.05 THEN 'Queued' ELSE 'Succeeded' END");

        private final String status;

        Mix(String status) {
            this.status = status;
        }
    }

    /** For records of 2.4 kB, which lie outside of their rows in two chunks each. */
    private static final int PARAMETER_BYTES = 1_500;

    /** For records of 0.6 kB, which lie in their rows; of these 6 are on a page. */
    static final int FEW_PARAMETER_BYTES = 150;

    private static final List<String> TABLES = List.of(
            "execution_jobs",
            "execution_job_log_streams",
            "execution_job_log_entries",
            "execution_job_log_event_identities",
            "result_packages");

    private LoadedTable() {}

    /** Replaces all jobs. Statistics stay as they were. */
    static void load(TestDatabase database, int jobs, Mix mix) {
        load(database, jobs, mix, PARAMETER_BYTES);
    }

    /** As many bytes of parameters have all records. */
    static void load(TestDatabase database, int jobs, Mix mix, int parameterBytes) {
        String table = table(database);
        try (Connection connection = database.adminDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("TRUNCATE " + table);
            statement.execute(
                    "ALTER TABLE " + table + " SET (autovacuum_enabled = false, toast.autovacuum_enabled = false)");
            try (PreparedStatement insert =
                    connection.prepareStatement(INSERT.formatted(table, mix.status.formatted(jobs), jobs))) {
                insert.setString(
                        1, new JobCodec().encode(template(parameterBytes)).text());
                insert.executeUpdate();
            }
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    /** Logs and results of some of the jobs. */
    static void loadLogsAndResults(TestDatabase database) {
        String schema = "\"" + database.schema() + "\".";
        try (Connection connection = database.adminDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO " + schema + "execution_job_log_streams"
                    + " SELECT 'job-' || lpad((n * 9)::text, 9, '0'), CASE WHEN n % 50 = 0 THEN 100 ELSE 1 END, 0, 0,"
                    + " now() + interval '7 days' FROM generate_series(1, 20000) AS series(n)");
            statement.execute("INSERT INTO " + schema + "execution_job_log_entries"
                    + " SELECT operation_id, n, json_build_object('at', now(), 'message', repeat('A line. ', 12))"
                    + " FROM " + schema
                    + "execution_job_log_streams, generate_series(0, appended_count - 1) AS series(n)"
                    + " ORDER BY operation_id, n");
            statement.execute("INSERT INTO " + schema + "result_packages"
                    + " SELECT 'job-' || lpad((n * 90)::text, 9, '0'), json_build_object('sum', repeat('4711', 50)),"
                    + " now() + interval '7 days' FROM generate_series(1, 2000) AS series(n)");
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    static void vacuumAndAnalyze(TestDatabase database) {
        run(database, "VACUUM (ANALYZE, INDEX_CLEANUP ON) ");
    }

    /** Clears away what was rolled back, in the indexes as well. Statistics stay as they were. */
    static void vacuum(TestDatabase database) {
        run(database, "VACUUM (INDEX_CLEANUP ON) ");
    }

    private static void run(TestDatabase database, String command) {
        try (Connection connection = database.adminDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String table : TABLES) {
                statement.execute(command + "\"" + database.schema() + "\"." + table);
            }
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private static String table(TestDatabase database) {
        return "\"" + database.schema() + "\".execution_jobs";
    }

    /** A record with the places in capitals still to be filled in. */
    private static Job template(int parameterBytes) {
        byte[] noise = new byte[parameterBytes];
        new Random(7).nextBytes(noise);
        JobSpec spec = JobSpec.of(
                        "KIND",
                        JsonText.of("{\"input\":\"" + Base64.getEncoder().encodeToString(noise) + "\"}"))
                .withRuntimeProfile("PROFILE")
                .withQueue("QUEUE")
                .withReferences(JobReferences.NONE.withServer("SERVER").withRun("RUN", null));
        JobAudit audit = JobAudit.NONE
                .withRequestedBy("REQUESTER")
                .withCorrelationId("CORRELATION")
                .withTenantId("TENANT");
        return Job.of("ID", spec, Instant.EPOCH).withAudit(audit);
    }

    private static final String INSERT = """
            INSERT INTO %1$s (operation_id, version, status, attempt_count, claim_token, claimed_by, claimed_at,
              last_heartbeat_at, completed_at, updated_at, queue_priority, queue_visible_at, expires_at, record, kind,
              runtime_profile, queue, backend, priority, created_at, tenant_id, heartbeat_timeout, max_duration,
              lookup_keys)
            SELECT id, 3, status, CASE WHEN claimed THEN 1 ELSE 0 END, CASE WHEN claimed THEN gen_random_uuid() END,
              CASE WHEN claimed THEN 'worker-' || n %% 20 END, CASE WHEN claimed THEN clock_timestamp() END,
              CASE WHEN status IN ('Running', 'Provisioning') AND n %% 12 = 0 THEN created
                   WHEN claimed THEN clock_timestamp() END,
              CASE WHEN ended THEN created END, created, CASE WHEN placed THEN priority END,
              CASE WHEN placed THEN created END, created + CASE WHEN n <= 1050 THEN interval '0' ELSE interval '30 days' END,
              replace(replace(replace(replace(replace(replace(replace(replace(replace(record,
                '"ID"', '"' || id || '"'), '"KIND"', '"' || kind || '"'), '"PROFILE"', '"' || profile || '"'),
                '"QUEUE"', '"' || queue || '"'), '"SERVER"', '"' || server || '"'), '"RUN"', '"' || run || '"'),
                '"REQUESTER"', '"' || requester || '"'), '"CORRELATION"', '"' || correlation || '"'),
                '"TENANT"', coalesce('"' || tenant || '"', 'null'))::json,
              kind, profile, queue, 'local', priority, created, tenant, interval '90 seconds', interval '1 day',
              ARRAY['backend:LOCAL', 'queue:' || upper(queue), 'requested-by:' || upper(requester),
                'correlation:' || upper(correlation), 'server:' || upper(server), 'run:' || upper(run)]
            FROM (SELECT *, status <> 'Queued' AS claimed, status IN ('Succeeded', 'Failed', 'Cancelled') AS ended,
                status NOT IN ('Succeeded', 'Failed', 'Cancelled') AND n %% 1000 > 0 AS placed
              FROM (SELECT n, 'job-' || lpad(n::text, 9, '0') AS id, %2$s AS status, 'kind-' || (n / 100) %% 10 AS kind,
                  CASE WHEN n %% 50 = 49 THEN 'gpu' ELSE 'managed' END AS profile,
                  CASE WHEN n %% (%3$s / 10) = 777 THEN 'rare' WHEN n %% 50 < 44 THEN 'default' WHEN n %% 50 < 46 THEN 'mail'
                       WHEN n %% 50 < 48 THEN 'reports' ELSE 'import' END AS queue,
                  CASE WHEN n %% (%3$s / 10) = 1778 THEN 'tenant-rare' WHEN n %% 10 > 0 THEN 'tenant-' || n %% 20 END AS tenant,
                  'srv-' || n %% 200 AS server, 'run-' || n %% (%3$s / 50) AS run, 'user-' || n %% (%3$s / 400) AS requester,
                  'c-' || n / 2 AS correlation, 2::smallint AS priority,
                  statement_timestamp() - interval '1 day' - make_interval(secs => (%3$s - n) / 4.0) AS created
                FROM generate_series(1, %3$s) AS series(n)) AS jobs) AS jobs,
              (SELECT ?::text AS record) AS template
            ORDER BY n
            """;
}
