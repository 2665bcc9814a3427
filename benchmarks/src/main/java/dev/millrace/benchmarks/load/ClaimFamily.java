package dev.millrace.benchmarks.load;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Numbers;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.Turns;
import dev.millrace.benchmarks.report.Markdown;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a claim costs in a table of some size and in one of five times as many jobs, by plans of both kinds. */
public final class ClaimFamily implements Family {
    private static final List<String> MODES = List.of("custom", "generic");
    private static final int[] LIMITS = {1, 10, 50};

    @Override
    public String name() {
        return "claim";
    }

    @Override
    public String measures() {
        return "What a claim of 1, 10 and 50 jobs costs among 200,000 and among 1,000,000, with plans made for the values"
                + " and with plans made once for all; for a worker that has handlers for all of the ten kinds.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(2);
    }

    private record Place(String table, JobTable.Filling filling, String mode, ClaimProbe probe) {}

    @Override
    public void run(Bench bench) throws SQLException {
        Map<String, JobTable.Filling> fillings = new LinkedHashMap<>();
        fillings.put(
                "smaller",
                filling(bench.size().of(2_000, 20_000, 200_000), bench.size().of(200, 1_600, 11_400)));
        fillings.put(
                "larger",
                filling(bench.size().of(5_000, 100_000, 1_000_000), bench.size().of(300, 10_000, 100_000)));
        List<Place> places = new ArrayList<>();
        for (Map.Entry<String, JobTable.Filling> table : fillings.entrySet()) {
            BenchDatabase database = bench.database("claim_" + table.getKey()).migrate();
            JobTable.load(database, table.getValue(), 100);
            for (String mode : MODES) {
                places.add(new Place(table.getKey(), table.getValue(), mode, ClaimProbe.of(database, mode)));
            }
        }
        for (int limit : LIMITS) {
            measure(bench, places, limit);
        }
        targets(bench);
    }

    private static JobTable.Filling filling(int total, int queued) {
        int running = Math.min(400, total / 10);
        return new JobTable.Filling(total - running - queued, running, queued);
    }

    private static void measure(Bench bench, List<Place> places, int limit) throws SQLException {
        int rounds = bench.size().of(1, 3, 7);
        int times = bench.size().of(2, 30, Math.min(200, 2_000 / limit));
        int warmUps = bench.size().of(0, 1, 1);
        for (int round = -warmUps; round < rounds; round++) {
            for (Place place : Turns.order(places, round + warmUps)) {
                place.probe().claim(limit, times, round >= 0);
            }
        }
        for (Place place : places) {
            Map<String, String> of = new LinkedHashMap<>();
            of.put("jobs", String.valueOf(limit));
            of.put("table", place.table());
            of.put("rows", String.valueOf(place.filling().total()));
            of.put("queued", String.valueOf(place.filling().queued()));
            of.put("plans", place.mode());
            place.probe().keep(bench.results(), of);
        }
        bench.results()
                .check(
                        "jobs in claims of " + limit + " that were the first of the queue, in its order",
                        (long) places.size() * (warmUps + rounds) * times * limit,
                        places.stream()
                                .mapToLong(place -> place.probe().takeFirst())
                                .sum());
    }

    private static void targets(Bench bench) {
        for (String mode : MODES) {
            double smaller = one(bench, "smaller", mode);
            bench.results().target("buffers of a claim of one, smaller table, " + mode + " plan", smaller, "<=", 60);
            bench.results()
                    .target(
                            "the same in the larger table, in relation, " + mode + " plan",
                            one(bench, "larger", mode) / smaller,
                            "<=",
                            1.3);
        }
    }

    private static double one(Bench bench, String table, String mode) {
        return bench.results()
                .measurement("claim buffers", Map.of("jobs", "1", "table", table, "plans", mode))
                .median();
    }

    @Override
    public Rendering render(FamilyResults results) {
        Markdown table = new Markdown(
                "jobs a claim",
                "rows",
                "queued",
                "plans",
                "time, us",
                "of it in the server, us",
                "of that planning, us",
                "buffers",
                "of planning, besides",
                "WAL, bytes");
        for (Measurement time : results.measurements("claim time")) {
            table.row(
                    time.label("jobs"),
                    Numbers.text(Double.parseDouble(time.label("rows"))),
                    Numbers.text(Double.parseDouble(time.label("queued"))),
                    time.label("plans"),
                    time,
                    results.measurement("claim server time", time.of()).median(),
                    results.measurement("claim planning", time.of()).median(),
                    results.measurement("claim buffers", time.of()).median(),
                    results.measurement("claim planning buffers", time.of()).median(),
                    results.measurement("claim WAL", time.of()).median());
        }
        return Rendering.of(table + "\n" + Markdown.targets(results.targets()));
    }
}
