package dev.millrace.benchmarks.load;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Numbers;
import dev.millrace.benchmarks.Quantiles;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.Turns;
import dev.millrace.benchmarks.report.LinePlot;
import dev.millrace.benchmarks.report.Markdown;
import dev.millrace.store.JobPage;
import dev.millrace.store.JobQuery;
import dev.millrace.store.JobStore;
import dev.millrace.store.postgres.PostgresStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** How the cost of a claim and of a page of a list grows with what is retained and with what is queued. */
public final class GrowthFamily implements Family {
    private static final int FAR_PAGE = 1_000;

    @Override
    public String name() {
        return "growth";
    }

    @Override
    public String measures() {
        return "What a claim of one costs with 10^4 to 10^7 jobs retained and 1,000 queued, and with 10^3 to 10^6 queued and"
                + " 10^4 retained; and what page 1 and page 1,000 of the list of all jobs cost.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(10);
    }

    /** A table of some size. */
    private record Place(JobTable.Filling filling, BenchDatabase database, HikariDataSource pool) {
        ClaimProbe probe() {
            return new ClaimProbe(database, pool, JobTable.KINDS);
        }

        JobStore jobs() {
            return PostgresStore.on(pool, BenchDatabase.SCHEMA).jobs();
        }

        Map<String, String> of() {
            Map<String, String> of = new LinkedHashMap<>();
            of.put("retained", String.valueOf(filling.ended()));
            of.put("queued", String.valueOf(filling.queued()));
            return of;
        }
    }

    @Override
    public void run(Bench bench) throws Exception {
        List<JobTable.Filling> fillings = new ArrayList<>();
        for (int power = 4; power <= bench.size().of(4, 5, 7); power++) {
            fillings.add(new JobTable.Filling(tens(power), 200, 1_000));
        }
        for (int power = 4; power <= bench.size().of(4, 5, 6); power++) {
            fillings.add(new JobTable.Filling(10_000, 200, tens(power)));
        }
        List<Place> places = new ArrayList<>();
        for (JobTable.Filling filling : fillings) {
            bench.say("filling a table: " + filling);
            BenchDatabase database = bench.database("growth_" + filling.ended() + "_" + filling.queued())
                    .migrate();
            JobTable.load(database, filling, 100);
            places.add(new Place(filling, database, database.pool(1)));
        }
        claims(bench, places);
        pages(bench, places);
        targets(bench, places);
    }

    private static long tens(int power) {
        return Math.round(Math.pow(10, power));
    }

    private static void claims(Bench bench, List<Place> places) throws SQLException {
        int rounds = bench.size().of(1, 3, 9);
        int times = bench.size().of(5, 50, 200);
        Map<Place, List<ClaimProbe.Cost>> costs = new LinkedHashMap<>();
        for (int round = bench.size().of(0, -1, -1); round < rounds; round++) {
            for (Place place : places) {
                ClaimProbe.Cost cost = place.probe().claim(1, times);
                if (round >= 0) {
                    costs.computeIfAbsent(place, key -> new ArrayList<>()).add(cost);
                }
            }
        }
        costs.forEach((place, seen) -> {
            bench.results()
                    .add(
                            "claim time",
                            place.of(),
                            "us",
                            seen.stream().map(ClaimProbe.Cost::micros).toList());
            bench.results()
                    .add(
                            "claim server time",
                            place.of(),
                            "us",
                            seen.stream().map(ClaimProbe.Cost::serverMicros).toList());
            bench.results()
                    .add(
                            "claim buffers",
                            place.of(),
                            "pages",
                            seen.stream().map(ClaimProbe.Cost::buffers).toList());
        });
        bench.results().check("claims that got the first of the queue, in its order", true, true);
    }

    private static void pages(Bench bench, List<Place> places) throws Exception {
        int far = bench.size().of(100, FAR_PAGE, FAR_PAGE);
        for (Place place : places) {
            if (place.filling().total() >= (long) far * JobQuery.DEFAULT_LIMIT
                    && place.filling().queued() == 1_000) {
                JobQuery there = farPage(place.jobs(), far);
                Map<String, List<Double>> values = new Turns()
                        .with("1", () -> pageMicros(bench, place.jobs(), JobQuery.ALL))
                        .with(String.valueOf(far), () -> pageMicros(bench, place.jobs(), there))
                        .take(2, bench.size().of(2, 5, 15));
                values.forEach((page, micros) -> {
                    Map<String, String> of = place.of();
                    of.put("page", page);
                    bench.results().add("page time", of, "us", micros);
                });
            }
        }
        bench.results().check("pages that had 50 jobs", true, true);
    }

    private static JobQuery farPage(JobStore jobs, int number) {
        JobQuery query = JobQuery.ALL;
        for (int page = 1; page < number; page++) {
            query = query.after(jobs.query(query).next().orElseThrow());
        }
        return query;
    }

    private static double pageMicros(Bench bench, JobStore jobs, JobQuery query) {
        List<Double> micros = new ArrayList<>();
        for (int time = 0; time < bench.size().of(5, 10, 30); time++) {
            long began = System.nanoTime();
            JobPage page = jobs.query(query);
            micros.add((System.nanoTime() - began) / 1e3);
            if (page.jobs().size() != JobQuery.DEFAULT_LIMIT) {
                throw new CheckFailedException("A page had " + page.jobs().size() + " jobs");
            }
        }
        return Quantiles.of(micros).median();
    }

    private static void targets(Bench bench, List<Place> places) {
        Place most = places.stream()
                .max((a, b) -> Long.compare(a.filling().ended(), b.filling().ended()))
                .orElseThrow();
        for (String name : List.of("claim time", "claim server time")) {
            bench.results()
                    .target(
                            name + " with most jobs retained in relation to that with fewest",
                            median(bench, name, most) / median(bench, name, places.get(0)),
                            "<=",
                            1.3);
        }
        String far = String.valueOf(bench.size().of(100, FAR_PAGE, FAR_PAGE));
        bench.results()
                .target(
                        "time of page " + far + " in relation to that of page 1",
                        page(bench, far, most) / page(bench, "1", most),
                        "<=",
                        1.5);
    }

    private static double median(Bench bench, String name, Place place) {
        return bench.results().measurement(name, place.of()).median();
    }

    private static double page(Bench bench, String page, Place place) {
        Map<String, String> of = place.of();
        of.put("page", page);
        return bench.results().measurement("page time", of).median();
    }

    @Override
    public Rendering render(FamilyResults results) {
        Markdown claims = new Markdown("retained", "queued", "claim of one, us", "of it in the server, us", "buffers");
        LinePlot plot = new LinePlot("Time of a claim of one", "jobs", "us").xByPowers();
        for (Measurement time : results.measurements("claim time")) {
            double retained = Double.parseDouble(time.label("retained"));
            double queued = Double.parseDouble(time.label("queued"));
            claims.row(
                    Numbers.text(retained),
                    Numbers.text(queued),
                    time,
                    results.measurement("claim server time", time.of()).median(),
                    results.measurement("claim buffers", time.of()).median());
            if (queued == 1_000) {
                plot.point("retained, 1,000 queued", retained, time.median());
            }
            if (retained == 10_000) {
                plot.point("queued, 10,000 retained", queued, time.median());
            }
        }
        Markdown pages = new Markdown("retained", "page", "time, us");
        results.measurements("page time")
                .forEach(time -> pages.row(
                        Numbers.text(Double.parseDouble(time.label("retained"))),
                        Numbers.text(Double.parseDouble(time.label("page"))),
                        time));
        return new Rendering(
                claims + "\n" + Markdown.plot("Time of a claim by size", "growth.svg") + "\n" + pages + "\n"
                        + Markdown.targets(results.targets()),
                Map.of("growth.svg", plot.svg()));
    }
}
