package dev.millrace.benchmarks.load;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Payloads;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.ServerStatistics;
import dev.millrace.benchmarks.report.LinePlot;
import dev.millrace.benchmarks.report.Markdown;
import dev.millrace.job.JobType;
import dev.millrace.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** What happens while somebody's transaction keeps the server from clearing away dead rows. */
public final class HorizonFamily implements Family {
    private static final int TENTHS = 10;
    private static final int BATCH = 50;
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final JobType<Nothing> TYPE = JobType.of("nothing", Nothing.class);

    /** A payload. */
    record Nothing(String input) {}

    @Override
    public String name() {
        return "horizon";
    }

    @Override
    public String measures() {
        return "500 jobs a second for three minutes, which do nothing, while a REPEATABLE READ transaction is open for the"
                + " whole time; and for one minute before without one. Jobs come in batches of 50; the worker has a concurrency"
                + " of 16, claims 50 ahead and writes up to 50 outcomes together.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(5);
    }

    @Override
    public void run(Bench bench) throws SQLException, InterruptedException {
        for (String horizon : List.of("free", "pinned")) {
            BenchDatabase database = bench.database("horizon_" + horizon).migrate();
            HikariDataSource pool = database.pool(20);
            Millrace millrace = Millrace.on(pool).withWakeUps();
            try (Worker worker = millrace.worker()
                    .handle(TYPE, (payload, context) -> {})
                    .concurrency(16)
                    .prefetch(50)
                    .outcomeBuffer(50, Duration.ofMillis(20))
                    .start()) {
                flow(bench, database, millrace, "before", bench.size().of(100, 1_000, 5_000));
                bench.say(horizon + " horizon");
                try (Connection other = other(database, horizon.equals("pinned"))) {
                    measured(bench, database, millrace, horizon);
                    other.rollback();
                }
            }
        }
        double first = tenth(bench, 1);
        bench.results()
                .target(
                        "jobs a second, pinned, last tenth in relation to the first",
                        tenth(bench, TENTHS) / first,
                        ">=",
                        0.7);
    }

    private static double tenth(Bench bench, int tenth) {
        return bench.results()
                .measurement("ended", Map.of("horizon", "pinned", "tenth", String.valueOf(tenth)))
                .median();
    }

    /** Somebody else's connection, which holds a snapshot if it is to pin the horizon. */
    private static Connection other(BenchDatabase database, boolean pin) throws SQLException {
        Connection connection = database.unpooled().getConnection();
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        if (pin) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SELECT count(*) FROM " + BenchDatabase.JOBS);
            }
        }
        return connection;
    }

    private static void measured(Bench bench, BenchDatabase database, Millrace millrace, String horizon)
            throws SQLException, InterruptedException {
        ServerStatistics statistics = database.statistics();
        int minute = bench.size().of(200, 2_500, 30_000);
        int jobs = horizon.equals("pinned") ? 3 * minute : minute;
        statistics.resetStatements();
        String began = database.text("SELECT clock_timestamp()");
        flow(bench, database, millrace, horizon, jobs);
        double seconds = jobs / 500.0;
        for (int tenth = 1; tenth <= TENTHS; tenth++) {
            Map<String, String> of = new LinkedHashMap<>();
            of.put("horizon", horizon);
            of.put("tenth", String.valueOf(tenth));
            double from = seconds * (tenth - 1) / TENTHS;
            double to = seconds * tenth / TENTHS;
            String within =
                    " BETWEEN ?::timestamptz + make_interval(secs => ?) AND ?::timestamptz + make_interval(secs => ?)";
            long ended = database.number(
                    "SELECT count(*) FROM " + BenchDatabase.JOBS + " WHERE completed_at" + within,
                    began,
                    from,
                    began,
                    to);
            bench.results().add("ended", of, "jobs/s", List.of(ended / (to - from)));
            long waited = database.number(
                    "SELECT coalesce(1000 * percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM completed_at"
                            + " - created_at)), 0)::bigint FROM " + BenchDatabase.JOBS + " WHERE created_at" + within,
                    began,
                    from,
                    began,
                    to);
            bench.results().add("from submission to success", of, "ms", List.of((double) waited));
        }
        ServerStatistics.Statements claims = statistics.statements("%skip locked%numbered%");
        bench.results()
                .add(
                        "buffers a claim",
                        Map.of("horizon", horizon),
                        "pages",
                        List.of((double) claims.buffers() / claims.calls()));
        bench.results()
                .add(
                        "jobs a claim",
                        Map.of("horizon", horizon),
                        "jobs",
                        List.of((double) claims.rows() / claims.calls()));
        statistics.awaitCounts();
        bench.results().add("dead rows at the end", Map.of("horizon", horizon), "rows", List.of((double)
                statistics.changes(BenchDatabase.JOBS).deadRows()));
    }

    /** Submits jobs at their pace, waits until all have succeeded, and looks whether each has run once. */
    private static void flow(Bench bench, BenchDatabase database, Millrace millrace, String what, int jobs)
            throws SQLException, InterruptedException {
        long before = database.jobs("Succeeded");
        List<Nothing> batch = Collections.nCopies(BATCH, new Nothing(Payloads.noise(80)));
        long began = System.nanoTime();
        for (int sent = 0; sent < jobs; sent += BATCH) {
            long due = began + TimeUnit.SECONDS.toNanos(sent) / 500;
            TimeUnit.NANOSECONDS.sleep(Math.max(0, due - System.nanoTime()));
            millrace.submitAll(TYPE, batch);
        }
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (database.jobs("Succeeded") < before + jobs && System.nanoTime() < deadline) {
            Thread.sleep(100);
        }
        bench.results().check(what + ": jobs that succeeded", before + jobs, database.jobs("Succeeded"));
        bench.results()
                .check(
                        what + ": attempts",
                        before + jobs,
                        database.number("SELECT sum(attempt_count) FROM " + BenchDatabase.JOBS));
    }

    @Override
    public Rendering render(FamilyResults results) {
        Markdown table = new Markdown("", "free", "pinned");
        LinePlot plot =
                new LinePlot("500 jobs a second, horizon free and pinned", "tenth of the run", "jobs/s that ended");
        for (String name : List.of("ended", "from submission to success")) {
            for (int tenth : new int[] {1, TENTHS}) {
                Map<String, String> of = Map.of("tenth", String.valueOf(tenth));
                Measurement free = of(results, name, "free", of);
                table.row(
                        name + ", " + (tenth == 1 ? "first" : "last") + " tenth, " + free.unit(),
                        free,
                        of(results, name, "pinned", of));
            }
        }
        for (String name : List.of("jobs a claim", "buffers a claim", "dead rows at the end")) {
            table.row(
                    name,
                    results.measurement(name, Map.of("horizon", "free")),
                    results.measurement(name, Map.of("horizon", "pinned")));
        }
        for (Measurement ended : results.measurements("ended")) {
            plot.point(ended.label("horizon"), Double.parseDouble(ended.label("tenth")), ended.median());
        }
        return new Rendering(
                table + "\n" + Markdown.plot("Jobs a second by tenths", "horizon.svg") + "\n"
                        + Markdown.targets(results.targets()),
                Map.of("horizon.svg", plot.svg()));
    }

    private static Measurement of(FamilyResults results, String name, String horizon, Map<String, String> of) {
        Map<String, String> all = new LinkedHashMap<>(of);
        all.put("horizon", horizon);
        return results.measurement(name, all);
    }
}
