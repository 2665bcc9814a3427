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
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** How many statements a worker sends that only keeps its jobs, or has nothing to do. */
public final class LoopsFamily implements Family {
    @Override
    public String name() {
        return "loops";
    }

    @Override
    public String measures() {
        return "How many statements a second one worker process sends while its jobs run, and while it has none: polls,"
                + " heartbeats, recovery, retention, wake-ups, all with their default intervals.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(3);
    }

    /** A worker's situation. */
    private record Situation(int jobs, UnaryOperator<Millrace> millrace, UnaryOperator<WorkerBuilder> settings) {}

    private static Map<String, Situation> situations(int jobs) {
        Map<String, Situation> situations = new LinkedHashMap<>();
        situations.put("idle", new Situation(0, UnaryOperator.identity(), UnaryOperator.identity()));
        situations.put("idle, wake-ups", new Situation(0, Millrace::withWakeUps, UnaryOperator.identity()));
        situations.put("200 running", new Situation(jobs, UnaryOperator.identity(), UnaryOperator.identity()));
        situations.put("200 running, wake-ups", new Situation(jobs, Millrace::withWakeUps, UnaryOperator.identity()));
        return situations;
    }

    @Override
    public void run(Bench bench) throws SQLException, InterruptedException {
        int jobs = bench.size().of(20, 200, 200);
        Duration watched = Duration.ofMillis(bench.size().of(1_000, 6_000, 30_000));
        int number = 0;
        for (Map.Entry<String, Situation> situation : situations(jobs).entrySet()) {
            BenchDatabase database = bench.database("loops_" + number++).migrate();
            watch(bench, database, situation.getKey(), situation.getValue(), watched);
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

    private static void watch(Bench bench, BenchDatabase database, String name, Situation situation, Duration watched)
            throws SQLException, InterruptedException {
        ServerStatistics statistics = database.statistics();
        try (HeldJobs held = new HeldJobs(
                database, situation.jobs(), Duration.ofSeconds(30), situation.millrace(), situation.settings())) {
            Thread.sleep(watched.toMillis() / 10);
            statistics.resetStatements();
            long began = System.nanoTime();
            Thread.sleep(watched.toMillis());
            double seconds = (System.nanoTime() - began) / 1e9;
            ServerStatistics.Statements all = statistics.statements("%");
            Map<String, String> of = Map.of("worker", name);
            bench.results().add("statements", of, "statements/s", List.of(all.calls() / seconds));
            bench.results().add("buffers", of, "pages/s", List.of(all.buffers() / seconds));
            bench.results().add("server time", of, "ms/s", List.of(all.millis() / seconds));
            bench.results().check(name + ": it has sent statements", true, all.calls() > 0);
        }
        bench.results()
                .check(name + ": jobs that succeeded afterwards", (long) situation.jobs(), database.jobs("Succeeded"));
    }

    @Override
    public Rendering render(FamilyResults results) {
        Markdown table = new Markdown("worker", "statements/s", "buffers/s", "server time, ms/s");
        for (Measurement statements : results.measurements("statements")) {
            table.row(
                    statements.label("worker"),
                    statements,
                    results.measurement("buffers", statements.of()),
                    results.measurement("server time", statements.of()));
        }
        return Rendering.of(table + "\n" + Markdown.targets(results.targets()));
    }
}
