package dev.millrace.benchmarks.load;

import dev.millrace.Millrace;
import dev.millrace.WorkerBuilder;
import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.ServerStatistics;
import dev.millrace.benchmarks.report.Markdown;
import dev.millrace.recovery.RetentionReport;
import dev.millrace.recovery.RetentionSettings;
import dev.millrace.recovery.RetentionSweeper;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;

/** How many statements a worker sends that only keeps its jobs, or has nothing to do. */
public final class LoopsFamily implements Family {
    /** Between two sweeps of retention: the interval, shortened by up to a quarter at random. */
    private static final Duration SHORTEST_REST =
            RetentionSettings.DEFAULT.retentionSweepInterval().multipliedBy(3).dividedBy(4);

    @Override
    public String name() {
        return "loops";
    }

    @Override
    public String measures() {
        return "How many statements a second one worker process sends while its jobs run, and while it has none: polls,"
                + " heartbeats, recovery, wake-ups, all with their default intervals, watched for two and a half minutes."
                + " The four workers are watched at the same time, each in a database of its own. Retention sweeps too"
                + " seldom to be watched: one sweep is counted, and divided by its shortest interval, 7.5 minutes.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(3);
    }

    /** A worker's situation, and the database it is in. */
    private record Situation(String name, int jobs, UnaryOperator<Millrace> millrace, BenchDatabase database) {
        /** Without retention, whose first sweep is at a random time. */
        HeldJobs hold() throws SQLException, InterruptedException {
            return new HeldJobs(database, jobs, Duration.ofSeconds(30), millrace, WorkerBuilder::withoutRetention);
        }
    }

    private static List<Situation> situations(Bench bench, int jobs) {
        return List.of(
                new Situation("idle", 0, UnaryOperator.identity(), database(bench, 0)),
                new Situation("idle, wake-ups", 0, Millrace::withWakeUps, database(bench, 1)),
                new Situation("200 running", jobs, UnaryOperator.identity(), database(bench, 2)),
                new Situation("200 running, wake-ups", jobs, Millrace::withWakeUps, database(bench, 3)));
    }

    private static BenchDatabase database(Bench bench, int number) {
        return bench.database("loops_" + number).migrate();
    }

    @Override
    public void run(Bench bench) throws SQLException, InterruptedException {
        List<Situation> situations = situations(bench, bench.size().of(20, 200, 200));
        Map<String, Rates> watched = watch(bench, situations, bench.size().of(6, 12, 150));
        for (Situation situation : situations) {
            bench.results()
                    .check(
                            situation.name() + ": jobs that succeeded afterwards",
                            (long) situation.jobs(),
                            situation.database().jobs("Succeeded"));
            Rates retention = Rates.of(sweep(bench, situation), SHORTEST_REST.toMillis() / 1e3);
            Rates loops = Objects.requireNonNull(watched.get(situation.name()));
            keep(bench, situation.name(), loops.and(retention), retention);
        }
        for (String name : List.of("200 running", "200 running, wake-ups")) {
            bench.results()
                    .target(
                            "statements a second, " + name,
                            bench.results()
                                    .measurement("statements", Map.of("worker", name))
                                    .median(),
                            "<=",
                            10);
        }
    }

    /** What a worker causes in a second. */
    private record Rates(double statements, double buffers, double millis) {
        static Rates of(ServerStatistics.Statements all, double seconds) {
            return new Rates(all.calls() / seconds, all.buffers() / seconds, all.millis() / seconds);
        }

        Rates and(Rates other) {
            return new Rates(statements + other.statements, buffers + other.buffers, millis + other.millis);
        }
    }

    private static Map<String, Rates> watch(Bench bench, List<Situation> situations, int duration)
            throws SQLException, InterruptedException {
        Map<String, Rates> rates = new LinkedHashMap<>();
        List<HeldJobs> held = new ArrayList<>();
        try {
            for (Situation situation : situations) {
                held.add(situation.hold());
            }
            Thread.sleep(1_000);
            for (Situation situation : situations) {
                situation.database().statistics().resetStatements(); // those of all databases, but asked for in each
            }
            long began = System.nanoTime();
            Thread.sleep(Duration.ofSeconds(duration).toMillis());
            double seconds = (System.nanoTime() - began) / 1e9;
            for (Situation situation : situations) {
                ServerStatistics.Statements all =
                        situation.database().statistics().statements("%");
                bench.results().check(situation.name() + ": it has sent statements", true, all.calls() > 0);
                rates.put(situation.name(), Rates.of(all, seconds));
            }
            for (Situation situation : situations) {
                bench.results()
                        .check(
                                situation.name() + ": jobs that still run, at their first attempt",
                                (long) situation.jobs(),
                                situation
                                        .database()
                                        .number("SELECT count(*) FROM " + BenchDatabase.JOBS
                                                + " WHERE status = 'Running' AND attempt_count = 1"));
            }
        } finally {
            held.forEach(HeldJobs::close);
        }
        return rates;
    }

    /** One sweep of retention, which finds nothing to delete, when the worker has ended. */
    private static ServerStatistics.Statements sweep(Bench bench, Situation situation) throws SQLException {
        ServerStatistics statistics = situation.database().statistics();
        try (RetentionSweeper sweeper =
                Millrace.on(situation.database().unpooled()).retentionSweeper(RetentionSettings.DEFAULT)) {
            statistics.resetStatements();
            RetentionReport report = sweeper.tick();
            bench.results().check(situation.name() + ": errors of a sweep of retention", 0, report.errors());
        }
        ServerStatistics.Statements all = statistics.statements("%");
        bench.results().check(situation.name() + ": a sweep of retention has sent statements", true, all.calls() > 0);
        return all;
    }

    private static void keep(Bench bench, String worker, Rates all, Rates retention) {
        Map<String, String> of = Map.of("worker", worker);
        bench.results().add("statements", of, "statements/s", List.of(all.statements()));
        bench.results().add("statements of retention", of, "statements/s", List.of(retention.statements()));
        bench.results().add("buffers", of, "pages/s", List.of(all.buffers()));
        bench.results().add("server time", of, "ms/s", List.of(all.millis()));
    }

    @Override
    public Rendering render(FamilyResults results) {
        Markdown table =
                new Markdown("worker", "statements/s", "of these for retention", "buffers/s", "server time, ms/s");
        for (Measurement statements : results.measurements("statements")) {
            table.row(
                    statements.label("worker"),
                    statements,
                    results.measurement("statements of retention", statements.of()),
                    results.measurement("buffers", statements.of()),
                    results.measurement("server time", statements.of()));
        }
        return Rendering.of(table + "\n" + Markdown.targets(results.targets()));
    }
}
