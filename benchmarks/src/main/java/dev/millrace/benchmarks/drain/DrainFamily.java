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
    private static final Set<String> FEW = Set.of(
            "floor, 50 at a time", Contenders.MILLRACE_TUNED, Contenders.DB_SCHEDULER, "JobRunr tuned", "Quartz tuned");

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
        return Duration.ofMinutes(13);
    }

    @Override
    public void run(Bench bench) throws Exception {
        Setting.checkServer(bench);
        List<Contender> all = contenders(bench);
        Setting.note(bench, all);
        Map<DrainEntry, List<Drained>> found = new LinkedHashMap<>();
        DrainEntry.all(all, bench.size()).forEach(entry -> found.put(entry, new ArrayList<>()));
        int rounds = found.keySet().stream()
                .mapToInt(entry -> entry.rounds(bench.size()))
                .max()
                .orElseThrow();
        for (int round = 0; round < rounds; round++) {
            for (Map.Entry<DrainEntry, List<Drained>> one : Turns.order(found.entrySet(), round)) {
                if (round < one.getKey().rounds(bench.size())) {
                    one.getValue().add(run(bench, one.getKey(), round));
                }
            }
        }
        keep(bench.results(), found);
        DrainTargets.add(bench.results(), DrainEntry.usual(bench.size()));
    }

    static void keep(Results results, Map<DrainEntry, List<Drained>> found) {
        found.forEach((entry, rounds) -> keep(results, entry, rounds));
        DrainTargets.BASES.forEach(against -> compare(results, found, against));
    }

    private List<Contender> contenders(Bench bench) throws IOException, InterruptedException {
        if (contenders != null) {
            return contenders;
        }
        return Setting.contenders(bench).drain().stream()
                .filter(contender -> bench.size() != Size.TINY || FEW.contains(contender.name()))
                .toList();
    }

    private static Drained run(Bench bench, DrainEntry entry, int round) throws Exception {
        Drained drained = new DrainRun(bench, entry.contender(), entry.processes(), entry.portions(bench.size()))
                .run(entry.processes() + "_" + entry.jobs() + "_" + round);
        bench.say(entry + ": " + Numbers.text(drained.rate()) + " jobs/s, " + Numbers.text(drained.secondHalfRate())
                + " in the second half");
        return drained;
    }

    private static void keep(Results results, DrainEntry entry, List<Drained> rounds) {
        Map<String, String> of = entry.of();
        add(results, "drain", of, "jobs/s", rounds, Drained::rate);
        add(results, "drain, second half", of, "jobs/s", rounds, Drained::secondHalfRate);
        add(results, "first handler", of, "s", rounds, Drained::firstSeconds);
        add(results, "drain, WAL", of, "B/job", rounds, Drained::wal);
        add(results, "drain, full-page images", of, "B/job", rounds, Drained::fullPageWal);
        add(results, "drain, statements", of, "per job", rounds, Drained::statements);
        add(results, "drain, transactions", of, "per job", rounds, Drained::transactions);
        add(results, DrainCosts.WORKER, of, "ms/job", rounds, Drained::processorMillis);
        if (rounds.stream().mapToDouble(Drained::serverProcessorMillis).allMatch(Double::isFinite)) {
            add(results, DrainCosts.SERVER, of, "ms/job", rounds, Drained::serverProcessorMillis);
        }
        add(results, "run again", of, "jobs", rounds, Drained::repeated);
        if (entry.showsSubmissions()) {
            add(
                    results,
                    DrainSubmissions.ONE_BY_ONE,
                    of,
                    "jobs",
                    rounds,
                    one -> one.portions().oneByOne());
            add(
                    results,
                    DrainSubmissions.IN_BULK,
                    of,
                    "jobs",
                    rounds,
                    one -> one.portions().many());
            add(results, "submit one by one", of, "jobs/s", rounds, Drained::oneRate);
            add(results, "submit in bulk", of, "jobs/s", rounds, Drained::manyRate);
            add(results, "submit one by one, WAL", of, "B/job", rounds, Drained::oneWal);
            add(results, "submit in bulk, WAL", of, "B/job", rounds, Drained::manyWal);
            add(results, DrainTargets.WAL, of, "B/job", rounds, one -> one.oneWal() + one.wal());
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

    /** Rounds are compared one by one, since what disturbs a round disturbs all who take part in it. */
    private static void compare(Results results, Map<DrainEntry, List<Drained>> found, String against) {
        found.forEach((entry, rounds) -> found.entrySet().stream()
                .filter(one -> one.getKey().contender().name().equals(against))
                .filter(one -> one.getKey().comparesWith(entry))
                .findFirst()
                .ifPresent(base -> results.add(
                        DrainTargets.RATIO,
                        DrainTargets.against(entry.of(), against),
                        "times",
                        Turns.ratios(rates(rounds), rates(base.getValue())))));
    }

    private static List<Double> rates(List<Drained> rounds) {
        return rounds.stream().map(Drained::rate).toList();
    }

    @Override
    public Rendering render(FamilyResults results) {
        return new DrainReport(results).rendering();
    }
}
