package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Numbers;
import dev.millrace.benchmarks.Quantiles;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.Size;
import dev.millrace.benchmarks.peers.Contender;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Single jobs for an idle worker: how long from the commit of a submission until its handler begins. */
public final class LatencyFamily implements Family {
    private static final Map<String, Double> SHARES = shares();

    /** Those of the smallest size. */
    private static final Set<String> FEW = Set.of("Millrace, woken", "db-scheduler, same process");

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
        shares.put("p50", 0.5);
        shares.put("p95", 0.95);
        shares.put("p99", 0.99);
        shares.put("longest", 1.0);
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
        return Duration.ofMinutes(7);
    }

    @Override
    public void run(Bench bench) throws Exception {
        Setting.checkServer(bench);
        List<Contender> all = contenders(bench);
        Setting.note(bench, all);
        int samples = bench.size().of(5, 20, 60);
        int warmUp = bench.size().of(1, 10, 20);
        int meanMillis = bench.size().of(20, 150, 200);
        for (Contender contender : all) {
            List<Double> millis = new LatencyRun(bench, contender, warmUp, samples, meanMillis).run();
            Quantiles quantiles = Quantiles.of(millis);
            Map<String, String> of = new LinkedHashMap<>();
            of.put("system", contender.name());
            of.put("submitted by", contender.submitsHere() ? "the worker's process" : "another process");
            of.put("samples", Integer.toString(samples));
            SHARES.forEach(
                    (name, share) -> bench.results().add("latency, " + name, of, "ms", List.of(quantiles.at(share))));
            bench.say(contender + ": p50 " + Numbers.text(quantiles.at(0.5)) + " ms, p99 "
                    + Numbers.text(quantiles.at(0.99)) + " ms");
        }
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
