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
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Single jobs for an idle worker: how long from the return of a submission until its handler begins. */
public final class LatencyFamily implements Family {
    /** The name of the medians that count from the call of a submission on. */
    static final String FROM_CALL = "latency from the call, p50";

    /** What measurements say under this is how many jobs came before those that count. */
    static final String WARM_UP = "jobs before";

    private static final Map<String, Double> SHARES = shares();

    /** A quantile is only told where so many samples are beyond it: otherwise it would be one of the longest by chance. */
    private static final int LEAST_BEYOND = 2;

    /** Those of the smallest size. */
    private static final Set<String> FEW =
            Set.of(Contenders.MILLRACE_WOKEN, "db-scheduler, same process", Contenders.FLOOR_WOKEN);

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
        return "How soon an idle worker begins a job, from the return of its submission, in Millrace and in other libraries.";
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
        Map<Contender, List<List<Latency>>> found = new LinkedHashMap<>();
        all.forEach(contender -> found.put(contender, new ArrayList<>()));
        for (int round = 0; round < bench.size().of(1, 1, 3); round++) {
            for (Map.Entry<Contender, List<List<Latency>>> one : Turns.order(found.entrySet(), round)) {
                List<Latency> latencies = run(bench, one.getKey(), round);
                one.getValue().add(latencies);
                bench.say(one.getKey() + ": p50 " + Numbers.text(median(latencies, Latency::fromReturn)) + " ms");
            }
        }
        found.forEach((contender, rounds) -> keep(bench, contender, rounds));
        LatencyTargets.add(bench.results());
    }

    private static List<Latency> run(Bench bench, Contender contender, int round) throws Exception {
        int samples = Math.min(bench.size().of(5, 20, 100), contender.mostJobs());
        Size size = bench.size();
        return new LatencyRun(bench, contender, warmUp(size, contender), samples, meanMillis(size, contender))
                .run(round);
    }

    private static int warmUp(Size size, Contender contender) {
        return contender.slow() ? size.of(1, 10, 20) : size.of(1, 50, 500);
    }

    /** Who polls seldom gets its jobs seldom, so that a poll finds few. */
    private static int meanMillis(Size size, Contender contender) {
        return contender.slow() ? size.of(40, 150, 600) : size.of(40, 80, 80);
    }

    private static void keep(Bench bench, Contender contender, List<List<Latency>> rounds) {
        List<Double> millis =
                rounds.stream().flatMap(List::stream).map(Latency::fromReturn).toList();
        Quantiles quantiles = Quantiles.of(millis);
        Map<String, String> of = new LinkedHashMap<>();
        of.put("system", contender.name());
        of.put("submitted by", contender.submitsHere() ? "the worker's process" : "another process");
        of.put("samples", Integer.toString(millis.size()));
        of.put("mean pause", meanMillis(bench.size(), contender) + " ms");
        of.put(WARM_UP, Integer.toString(warmUp(bench.size(), contender)));
        bench.results().add(LatencyTargets.MEDIAN, of, "ms", medians(rounds, Latency::fromReturn));
        bench.results().add(FROM_CALL, of, "ms", medians(rounds, Latency::fromCall));
        SHARES.forEach((name, share) -> {
            if (millis.size() - Math.ceil(share * millis.size()) >= LEAST_BEYOND) {
                bench.results().add("latency, " + name, of, "ms", List.of(quantiles.at(share)));
            }
        });
        bench.results().add("latency, longest", of, "ms", List.of(quantiles.at(1)));
    }

    private static List<Double> medians(List<List<Latency>> rounds, ToDoubleFunction<Latency> from) {
        return rounds.stream().map(round -> median(round, from)).toList();
    }

    private static double median(List<Latency> latencies, ToDoubleFunction<Latency> from) {
        return Quantiles.of(latencies.stream().map(from::applyAsDouble).toList())
                .median();
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
