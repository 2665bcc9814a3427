package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Numbers;
import dev.millrace.benchmarks.Quantiles;
import dev.millrace.benchmarks.Rendering;
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
import org.jspecify.annotations.Nullable;

/** Single jobs for an idle worker: how long from the commit of a submission until its handler begins. */
public final class LatencyFamily implements Family {
    private static final Map<String, Double> SHARES = shares();

    /** A quantile is only told where so many samples are beyond it: otherwise it would be one of the longest by chance. */
    private static final int LEAST_BEYOND = 2;

    /** Those of the smallest size. */
    private static final Set<String> FEW = Set.of(Contenders.MILLRACE_WOKEN, "db-scheduler, same process");

    private final @Nullable List<Contender> contenders;

    /** All contenders that can be had. */
    public LatencyFamily() {
        this(null);
    }

    LatencyFamily(@Nullable List<Contender> contenders) {
        this.contenders = contenders;
    }

    private static Map<String, Double> shares() {
        Map<String, Double> shares = new LinkedHashMap<>();
        shares.put("p95", 0.95);
        shares.put("p99", 0.99);
        return shares;
    }

    @Override
    public String name() {
        return "latency";
    }

    @Override
    public String measures() {
        return "How soon an idle worker begins a job, from the commit of its submission, in Millrace and in other libraries.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(10);
    }

    @Override
    public void run(Bench bench) throws Exception {
        Setting.checkServer(bench);
        List<Contender> all = contenders(bench);
        Setting.note(bench, all);
        Map<Contender, List<List<Double>>> found = new LinkedHashMap<>();
        all.forEach(contender -> found.put(contender, new ArrayList<>()));
        for (int round = 0; round < bench.size().of(1, 1, 3); round++) {
            for (Map.Entry<Contender, List<List<Double>>> one : Turns.order(found.entrySet(), round)) {
                List<Double> millis = run(bench, one.getKey(), round);
                one.getValue().add(millis);
                bench.say(one.getKey() + ": p50 "
                        + Numbers.text(Quantiles.of(millis).median()) + " ms");
            }
        }
        found.forEach((contender, rounds) -> keep(bench, contender, rounds));
        LatencyTargets.add(bench.results());
    }

    private static List<Double> run(Bench bench, Contender contender, int round) throws Exception {
        int samples = Math.min(bench.size().of(5, 20, 100), contender.mostJobs());
        int warmUp =
                contender.slow() ? bench.size().of(1, 10, 20) : bench.size().of(1, 100, 1_000);
        return new LatencyRun(bench, contender, warmUp, samples, meanMillis(bench.size(), contender)).run(round);
    }

    /** Who polls seldom gets its jobs seldom, so that a poll finds few. */
    private static int meanMillis(Size size, Contender contender) {
        return contender.slow() ? size.of(40, 150, 600) : size.of(40, 80, 80);
    }

    private static void keep(Bench bench, Contender contender, List<List<Double>> rounds) {
        List<Double> millis = rounds.stream().flatMap(List::stream).toList();
        Quantiles quantiles = Quantiles.of(millis);
        Map<String, String> of = new LinkedHashMap<>();
        of.put("system", contender.name());
        of.put("submitted by", contender.submitsHere() ? "the worker's process" : "another process");
        of.put("samples", Integer.toString(millis.size()));
        of.put("mean pause", meanMillis(bench.size(), contender) + " ms");
        List<Double> medians =
                rounds.stream().map(round -> Quantiles.of(round).median()).toList();
        bench.results().add(LatencyTargets.MEDIAN, of, "ms", medians);
        SHARES.forEach((name, share) -> {
            if (millis.size() - Math.ceil(share * millis.size()) >= LEAST_BEYOND) {
                bench.results().add("latency, " + name, of, "ms", List.of(quantiles.at(share)));
            }
        });
        bench.results().add("latency, longest", of, "ms", List.of(quantiles.at(1)));
    }

    private List<Contender> contenders(Bench bench) throws IOException, InterruptedException {
        if (contenders != null) {
            return contenders;
        }
        return Setting.contenders(bench).latency().stream()
                .filter(contender -> bench.size() != Size.TINY || FEW.contains(contender.name()))
                .toList();
    }

    @Override
    public Rendering render(FamilyResults results) {
        return LatencyReport.of(results);
    }
}
