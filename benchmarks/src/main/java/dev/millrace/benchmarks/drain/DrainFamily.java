package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Numbers;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.Results;
import dev.millrace.benchmarks.Size;
import dev.millrace.benchmarks.Turns;
import dev.millrace.benchmarks.peers.Contender;
import dev.millrace.benchmarks.peers.Contenders;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Queues of jobs that do nothing, drained by Millrace and by others, in alternation, on the same server. */
public final class DrainFamily implements Family {
    /** Those of the smallest size. */
    private static final Set<String> FEW =
            Set.of("floor, 50 at a time", "Millrace tuned", "db-scheduler tuned", "JobRunr tuned", "Quartz tuned");

    private static final int ROUNDS = 5;
    private static final int ROUNDS_OF_SEVERAL = 3;
    private static final int SLOW_ROUNDS = 2;

    private final @Nullable List<Contender> contenders;

    /** All contenders that can be had. */
    public DrainFamily() {
        this(null);
    }

    DrainFamily(@Nullable List<Contender> contenders) {
        this.contenders = contenders;
    }

    @Override
    public String name() {
        return "drain";
    }

    @Override
    public String measures() {
        return "How fast jobs that do nothing are submitted, and how fast a queue of them is drained, by Millrace, by other"
                + " libraries and by plain JDBC.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(12);
    }

    private record Entry(Contender contender, int processes) {}

    @Override
    public void run(Bench bench) throws Exception {
        Setting.checkServer(bench);
        List<Contender> all = contenders(bench);
        Setting.note(bench, all);
        Map<Entry, List<Drained>> found = new LinkedHashMap<>();
        all.forEach(contender -> found.put(new Entry(contender, 1), new ArrayList<>()));
        int several = bench.size().of(2, 2, 4);
        all.stream()
                .filter(contender -> contender.several() && bench.size() != Size.TINY)
                .forEach(contender -> found.put(new Entry(contender, several), new ArrayList<>()));
        for (int round = 0; round < ROUNDS; round++) {
            for (Map.Entry<Entry, List<Drained>> one : Turns.order(found.entrySet(), round)) {
                if (round < rounds(bench.size(), one.getKey())) {
                    one.getValue().add(run(bench, one.getKey(), round));
                }
            }
        }
        found.forEach((entry, rounds) -> keep(bench, entry, rounds));
        compare(bench, found, Contenders.DB_SCHEDULER);
        compare(bench, found, Contenders.PG_BOSS);
    }

    private List<Contender> contenders(Bench bench) throws IOException, InterruptedException {
        if (contenders != null) {
            return contenders;
        }
        return Setting.contenders(bench).drain().stream()
                .filter(contender -> bench.size() != Size.TINY || FEW.contains(contender.name()))
                .toList();
    }

    private static int rounds(Size size, Entry entry) {
        int most = entry.contender().slow() ? SLOW_ROUNDS : entry.processes() > 1 ? ROUNDS_OF_SEVERAL : ROUNDS;
        return size.of(1, 1, most);
    }

    private static Drained run(Bench bench, Entry entry, int round) throws Exception {
        int oneByOne = entry.processes() > 1 ? 0 : bench.size().of(10, 100, 1_000);
        DrainPortions portions = DrainPortions.of(jobs(bench.size(), entry.contender()), oneByOne);
        Drained drained = new DrainRun(bench, entry.contender(), entry.processes(), portions)
                .run(entry.processes() + "_" + round);
        bench.say(entry.contender() + ", " + entry.processes() + ": " + Numbers.text(drained.rate()) + " jobs/s, "
                + Numbers.text(drained.secondHalfRate()) + " in the second half");
        return drained;
    }

    private static int jobs(Size size, Contender contender) {
        int jobs = size.of(60, 400, 20_000);
        return contender.mostJobs() < Integer.MAX_VALUE ? Math.min(jobs, size.of(16, 32, contender.mostJobs())) : jobs;
    }

    private static void keep(Bench bench, Entry entry, List<Drained> rounds) {
        Map<String, String> of = of(entry, jobs(bench.size(), entry.contender()));
        Results results = bench.results();
        add(results, "drain", of, "jobs/s", rounds, Drained::rate);
        add(results, "drain, second half", of, "jobs/s", rounds, Drained::secondHalfRate);
        add(results, "first handler", of, "s", rounds, Drained::firstSeconds);
        add(results, "drain, WAL", of, "B/job", rounds, Drained::wal);
        add(results, "drain, full-page images", of, "B/job", rounds, Drained::fullPageWal);
        add(results, "drain, statements", of, "per job", rounds, Drained::statements);
        add(results, "drain, transactions", of, "per job", rounds, Drained::transactions);
        add(results, "drain, processor time", of, "ms/job", rounds, Drained::processorMillis);
        add(results, "run again", of, "jobs", rounds, Drained::repeated);
        if (entry.processes() == 1) {
            add(results, "submit one by one", of, "jobs/s", rounds, Drained::oneRate);
            add(results, "submit in bulk", of, "jobs/s", rounds, Drained::manyRate);
            add(results, "submit one by one, WAL", of, "B/job", rounds, Drained::oneWal);
            add(results, "submit in bulk, WAL", of, "B/job", rounds, Drained::manyWal);
            add(results, "submit to success, WAL", of, "B/job", rounds, one -> one.oneWal() + one.wal());
        }
    }

    private static void add(
            Results results,
            String name,
            Map<String, String> of,
            String unit,
            List<Drained> rounds,
            ToDoubleFunction<Drained> value) {
        results.add(name, of, unit, rounds.stream().map(value::applyAsDouble).toList());
    }

    private static Map<String, String> of(Entry entry, int jobs) {
        Map<String, String> of = new LinkedHashMap<>();
        of.put("system", entry.contender().name());
        of.put("processes", Integer.toString(entry.processes()));
        of.put("jobs", Integer.toString(jobs));
        return of;
    }

    /**
     * Rounds are compared one by one, since what disturbs a round disturbs all who take part in it; and only those with the same
     * number of jobs, since the first ones are the slowest.
     */
    private static void compare(Bench bench, Map<Entry, List<Drained>> found, String against) {
        found.forEach((entry, rounds) -> {
            int jobs = jobs(bench.size(), entry.contender());
            List<Drained> base = found.entrySet().stream()
                    .filter(one -> one.getKey().contender().name().equals(against))
                    .filter(one -> one.getKey().processes() == entry.processes())
                    .filter(one -> jobs(bench.size(), one.getKey().contender()) == jobs)
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse(List.of());
            if (!base.isEmpty()) {
                Map<String, String> of = new LinkedHashMap<>();
                of.put("system", entry.contender().name());
                of.put("processes", Integer.toString(entry.processes()));
                of.put("jobs", Integer.toString(jobs));
                of.put("against", against);
                bench.results().add("drain, ratio", of, "times", Turns.ratios(rates(rounds), rates(base)));
            }
        });
    }

    private static List<Double> rates(List<Drained> rounds) {
        return rounds.stream().map(Drained::rate).toList();
    }

    @Override
    public Rendering render(FamilyResults results) {
        return new DrainReport(results).rendering();
    }
}
