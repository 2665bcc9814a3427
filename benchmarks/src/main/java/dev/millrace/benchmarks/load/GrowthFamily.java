package dev.millrace.benchmarks.load;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
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
    private static final int WARM_UPS = 2;

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
        return Duration.ofMinutes(9);
    }

    /** A table of some size. */
    private record Place(JobTable.Filling filling, ClaimProbe probe, JobStore jobs) {
        static Place of(JobTable.Filling filling, BenchDatabase database) {
            return new Place(
                    filling,
                    ClaimProbe.of(database),
                    PostgresStore.on(database.pool(1), BenchDatabase.SCHEMA).jobs());
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
            places.add(Place.of(filling, database));
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
        int warmUps = bench.size().of(0, 1, 1);
        for (int round = -warmUps; round < rounds; round++) {
            for (Place place : Turns.order(places, round + warmUps)) {
                place.probe().claim(1, times, round >= 0);
            }
        }
        places.forEach(place -> place.probe().keep(bench.results(), place.of()));
        bench.results()
                .check(
                        "claims that got the first of the queue, in its order",
                        (long) places.size() * (warmUps + rounds) * times,
                        places.stream()
                                .mapToLong(place -> place.probe().takeFirst())
                                .sum());
    }

    private static void pages(Bench bench, List<Place> places) throws Exception {
        int far = bench.size().of(100, FAR_PAGE, FAR_PAGE);
        int rounds = bench.size().of(2, 5, 15);
        int times = bench.size().of(5, 10, 30);
        long expected = 0;
        long found = 0;
        for (Place place : places) {
            if (place.filling().total() >= (long) far * JobQuery.DEFAULT_LIMIT
                    && place.filling().queued() == 1_000) {
                Pages near = new Pages(place, 1, times);
                Pages there = new Pages(place, far, times);
                Map<String, List<Double>> values = new Turns()
                        .with("1", near::micros)
                        .with(String.valueOf(far), there::micros)
                        .take(WARM_UPS, rounds);
                values.forEach((page, micros) -> {
                    Map<String, String> of = place.of();
                    of.put("page", page);
                    bench.results().add("page time", of, "us", micros);
                });
                expected += 2L * (WARM_UPS + rounds) * times * JobQuery.DEFAULT_LIMIT;
                found += near.right + there.right;
            }
        }
        bench.results().check("jobs on pages, each in its place", expected, found);
    }

    /** Reads one page of the list of all jobs again and again. */
    private static final class Pages {
        private final Place place;
        private final int number;
        private final int times;
        private final JobQuery query;
        private long right;

        Pages(Place place, int number, int times) {
            this.place = place;
            this.number = number;
            this.times = times;
            this.query = farPage(place.jobs(), number);
        }

        double micros() {
            List<Double> micros = new ArrayList<>();
            for (int time = 0; time < times; time++) {
                long began = System.nanoTime();
                JobPage page = place.jobs().query(query);
                micros.add((System.nanoTime() - began) / 1e3);
                count(page);
            }
            return Quantiles.of(micros).median();
        }

        /** The newest job is on top of the first page, and they are numbered by age. */
        private void count(JobPage page) {
            long newest = place.filling().total() - (number - 1L) * JobQuery.DEFAULT_LIMIT;
            for (int at = 0; at < page.jobs().size(); at++) {
                right += page.jobs().get(at).id().equals(JobTable.id(newest - at)) ? 1 : 0;
            }
        }
    }

    private static JobQuery farPage(JobStore jobs, int number) {
        JobQuery query = JobQuery.ALL;
        for (int page = 1; page < number; page++) {
            query = query.after(jobs.query(query).next().orElseThrow());
        }
        return query;
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
        Markdown claims = new Markdown(
                "retained", "queued", "claim of one, us", "of it in the server, us", "of that planning, us", "buffers");
        LinePlot plot = new LinePlot("Time of a claim of one", "jobs", "us").xByPowers();
        for (Measurement time : results.measurements("claim time")) {
            double retained = Double.parseDouble(time.label("retained"));
            double queued = Double.parseDouble(time.label("queued"));
            claims.row(
                    Numbers.text(retained),
                    Numbers.text(queued),
                    time,
                    results.measurement("claim server time", time.of()).median(),
                    results.measurement("claim planning", time.of()).median(),
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
