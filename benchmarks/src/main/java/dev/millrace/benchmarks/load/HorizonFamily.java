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
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** What happens while somebody's transaction keeps the server from clearing away dead rows. */
public final class HorizonFamily implements Family {
    private static final int TENTHS = 10;
    private static final int BATCH = 50;
    private static final int PER_SECOND = 500;
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final JobType<Nothing> TYPE = JobType.of("nothing", Nothing.class);

    private static final String ENDED = "ended";
    private static final String WAITED = "from submission to success, half of the jobs";
    private static final String CLAIM_TIME = "server time of a claim";
    private static final String CLAIM_BUFFERS = "buffers of a claim";
    private static final String CLAIM_JOBS = "jobs of a claim";
    private static final String DRAINED = "drained as fast as it goes";
    private static final String DEAD = "dead rows that VACUUM has to leave";

    /** A payload. */
    record Nothing(String input) {}

    /** A database, and whose table it is that a worker and a producer use. */
    private record Place(Bench bench, BenchDatabase database, Millrace millrace, String horizon) {
        Map<String, String> of() {
            return Map.of("horizon", horizon);
        }

        Map<String, String> of(String what, String value) {
            Map<String, String> of = new LinkedHashMap<>(of());
            of.put(what, value);
            return of;
        }
    }

    @Override
    public String name() {
        return "horizon";
    }

    @Override
    public String measures() {
        return "500 jobs a second for three minutes, which do nothing, while a REPEATABLE READ transaction is open for the"
                + " whole time, and as many without one. Jobs come in batches of 50; the worker has a concurrency of 16,"
                + " claims 50 ahead and writes up to 50 outcomes together. Tenths are tenths of the jobs: by when they ended"
                + " for how many a second ended, by when they were submitted for all else. Since the rate of these jobs says"
                + " nothing of what the worker could do beside, it also drains a backlog of 5,000 jobs, submitted before it"
                + " starts, as fast as it goes: when the transaction has just begun, in a table without dead rows, and after"
                + " the three minutes, while it is still open. The first tenth of a backlog, in which the worker starts, does"
                + " not count.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(7);
    }

    @Override
    public void run(Bench bench) throws SQLException, InterruptedException {
        for (String horizon : List.of("free", "pinned")) {
            BenchDatabase database = bench.database("horizon_" + horizon).migrate();
            HikariDataSource pool = database.pool(20);
            measure(new Place(bench, database, Millrace.on(pool).withWakeUps(), horizon));
        }
        bench.results()
                .target(
                        "jobs a second, pinned, last tenth in relation to the first",
                        value(bench, ENDED, "tenth", String.valueOf(TENTHS)) / value(bench, ENDED, "tenth", "1"),
                        ">=",
                        0.7);
        bench.results()
                .target(
                        "backlog drained, jobs a second, pinned, at the end in relation to the beginning",
                        value(bench, DRAINED, "when", "end") / value(bench, DRAINED, "when", "beginning"),
                        ">=",
                        0.7);
    }

    private static double value(Bench bench, String name, String what, String value) {
        return bench.results()
                .measurement(name, Map.of("horizon", "pinned", what, value))
                .median();
    }

    private static void measure(Place place) throws SQLException, InterruptedException {
        boolean pin = place.horizon().equals("pinned");
        int backlog = place.bench().size().of(200, 1_000, 5_000);
        int jobs = place.bench().size().of(1_000, 3_000, 90_000);
        drain(place, "warming up", backlog);
        place.database().settle();
        try (Pin pinned = Pin.set(place.database(), pin)) {
            place.bench().say(place.horizon() + " horizon");
            drained(place, "beginning", backlog);
            pinned.check(place.bench(), place.horizon() + ", beginning", backlog / BATCH);
        }
        place.database().settle();
        try (Pin pinned = Pin.set(place.database(), pin)) {
            try (Worker worker = worker(place)) {
                flow(place, jobs);
            }
            drained(place, "end", backlog);
            pinned.check(place.bench(), place.horizon() + ", end", (jobs + backlog) / BATCH);
            place.database().execute("VACUUM " + BenchDatabase.JOBS);
            place.database().statistics().awaitCounts();
            long dead =
                    place.database().statistics().changes(BenchDatabase.JOBS).deadRows();
            place.bench().results().add(DEAD, place.of(), "rows", List.of((double) dead));
            place.bench().results().check(place.horizon() + ": VACUUM leaves a dead row a job", pin, dead >= jobs);
        }
    }

    private static Worker worker(Place place) {
        return place.millrace()
                .worker()
                .handle(TYPE, (payload, context) -> {})
                .concurrency(16)
                .prefetch(BATCH)
                .outcomeBuffer(50, Duration.ofMillis(20))
                .start();
    }

    private static void drained(Place place, String when, int jobs) throws SQLException, InterruptedException {
        Tenths tenths = drain(place, when, jobs);
        place.bench().results().add(DRAINED, place.of("when", when), "jobs/s", List.of(tenths.rateWithoutFirst()));
    }

    /** Submits them, and only then starts a worker. */
    private static Tenths drain(Place place, String what, int jobs) throws SQLException, InterruptedException {
        long before = place.database().jobs("Succeeded");
        String began = place.database().text("SELECT clock_timestamp()");
        for (int sent = 0; sent < jobs; sent += BATCH) {
            place.millrace().submitAll(TYPE, batch());
        }
        place.bench()
                .results()
                .check(
                        place.horizon() + ", " + what + ": jobs that wait",
                        (long) jobs,
                        place.database().jobs("Queued"));
        try (Worker worker = worker(place)) {
            awaitAll(place, what, before + jobs);
        }
        return Tenths.since(place.database(), began, jobs);
    }

    private static List<Nothing> batch() {
        return Collections.nCopies(BATCH, new Nothing(Payloads.noise(80)));
    }

    /** Submits jobs at their pace, waits until all have succeeded, and keeps what became of each tenth. */
    private static void flow(Place place, int jobs) throws SQLException, InterruptedException {
        ServerStatistics statistics = place.database().statistics();
        long before = place.database().jobs("Succeeded");
        statistics.resetStatements();
        List<ServerStatistics.Statements> claims = new ArrayList<>();
        String beganAt = place.database().text("SELECT clock_timestamp()");
        long began = System.nanoTime();
        for (int sent = 0; sent < jobs; sent += BATCH) {
            if (sent % (jobs / TENTHS) == 0) {
                claims.add(claims(statistics));
            }
            long due = began + TimeUnit.SECONDS.toNanos(sent) / PER_SECOND;
            TimeUnit.NANOSECONDS.sleep(Math.max(0, due - System.nanoTime()));
            place.millrace().submitAll(TYPE, batch());
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        place.bench().results().add("submitted", place.of(), "jobs/s", List.of(jobs / seconds));
        place.bench()
                .results()
                .check(place.horizon() + ": jobs came at their pace", true, seconds < 1.1 * jobs / PER_SECOND + 1);
        awaitAll(place, "500 a second", before + jobs);
        claims.add(claims(statistics));
        Tenths tenths = Tenths.since(place.database(), beganAt, jobs);
        for (int tenth = 1; tenth <= TENTHS; tenth++) {
            Map<String, String> of = place.of("tenth", String.valueOf(tenth));
            place.bench().results().add(ENDED, of, "jobs/s", List.of(tenths.rate(tenth)));
            place.bench().results().add(WAITED, of, "ms", List.of(tenths.waitedMillis(tenth)));
            keep(place, of, claims.get(tenth - 1), claims.get(tenth));
        }
    }

    private static ServerStatistics.Statements claims(ServerStatistics statistics) throws SQLException {
        return statistics.statements("%skip locked%numbered%");
    }

    private static void keep(
            Place place, Map<String, String> of, ServerStatistics.Statements from, ServerStatistics.Statements to) {
        double calls = to.calls() - from.calls();
        place.bench().results().add(CLAIM_TIME, of, "ms", List.of((to.millis() - from.millis()) / calls));
        place.bench().results().add(CLAIM_BUFFERS, of, "pages", List.of((to.buffers() - from.buffers()) / calls));
        place.bench().results().add(CLAIM_JOBS, of, "jobs", List.of((to.rows() - from.rows()) / calls));
    }

    private static void awaitAll(Place place, String what, long succeeded) throws SQLException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (place.database().jobs("Succeeded") < succeeded && System.nanoTime() < deadline) {
            Thread.sleep(100);
        }
        String of = place.horizon() + ", " + what;
        place.bench()
                .results()
                .check(of + ": jobs that succeeded", succeeded, place.database().jobs("Succeeded"));
        place.bench()
                .results()
                .check(
                        of + ": attempts",
                        succeeded,
                        place.database().number("SELECT sum(attempt_count) FROM " + BenchDatabase.JOBS));
    }

    @Override
    public Rendering render(FamilyResults results) {
        Markdown table = new Markdown("", "free", "pinned");
        for (String name : List.of(ENDED, WAITED, CLAIM_TIME, CLAIM_BUFFERS, CLAIM_JOBS)) {
            row(table, results, name, "tenth", "1", "first tenth");
            row(table, results, name, "tenth", String.valueOf(TENTHS), "last tenth");
        }
        row(table, results, DRAINED, "when", "beginning", "at the beginning");
        row(table, results, DRAINED, "when", "end", "at the end");
        table.row(
                DEAD,
                results.measurement(DEAD, Map.of("horizon", "free")),
                results.measurement(DEAD, Map.of("horizon", "pinned")));
        LinePlot ended =
                new LinePlot("500 jobs a second, horizon free and pinned", "tenth of the run", "jobs/s that ended");
        LinePlot claim =
                new LinePlot("A claim, horizon free and pinned", "tenth of the run", "milliseconds on the server");
        points(ended, results, ENDED);
        points(claim, results, CLAIM_TIME);
        return new Rendering(
                table + "\n" + Markdown.plot("Jobs a second by tenths", "horizon.svg") + "\n"
                        + Markdown.plot("Time of a claim by tenths", "horizon-claim.svg") + "\n"
                        + Markdown.targets(results.targets()),
                Map.of("horizon.svg", ended.svg(), "horizon-claim.svg", claim.svg()));
    }

    private static void row(
            Markdown table, FamilyResults results, String name, String what, String value, String title) {
        Measurement free = results.measurement(name, Map.of("horizon", "free", what, value));
        table.row(
                name + ", " + title + ", " + free.unit(),
                free,
                results.measurement(name, Map.of("horizon", "pinned", what, value)));
    }

    private static void points(LinePlot plot, FamilyResults results, String name) {
        for (Measurement one : results.measurements(name)) {
            plot.point(one.label("horizon"), Double.parseDouble(one.label("tenth")), one.median());
        }
    }
}
