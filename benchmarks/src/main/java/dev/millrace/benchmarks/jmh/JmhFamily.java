package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.Size;
import dev.millrace.benchmarks.report.Markdown;
import dev.millrace.devdb.DevDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/** All of JMH's benchmarks in one run, each in a JVM of its own. */
public final class JmhFamily implements Family {
    /** What is counted beside time, and in which unit. */
    private static final Map<String, String> COUNTERS = Map.of(
            "allocatedPerCall", "bytes",
            "buffersPerCall", "pages",
            "walPerCall", "bytes",
            "updatesPerCall", "rows",
            "deadPerCall", "rows");

    @Override
    public String name() {
        return "jmh";
    }

    @Override
    public String measures() {
        return "What single calls cost, by JMH: time, what the JVM allocates, buffers, WAL, updates and dead rows.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(6);
    }

    /**
     * {@return options whose benchmarks use this server, also those that get no JVM of their own}
     *
     * @param parent what else is wanted
     * @param server the server
     */
    public static ChainedOptionsBuilder onServer(Options parent, DevDatabase server) {
        List<String> arguments = new ArrayList<>(parent.getJvmArgsAppend().orElse(List.of()));
        String file = JmhServer.file(server).toString();
        System.setProperty(JmhServer.FILE, file);
        arguments.add("-D" + JmhServer.FILE + "=" + file);
        arguments.add("-Dorg.jooq.no-logo=true");
        arguments.add("-Dorg.jooq.no-tips=true");
        return new OptionsBuilder().parent(parent).jvmArgsAppend(arguments.toArray(new String[0]));
    }

    @Override
    public void run(Bench bench) throws Exception {
        try {
            ChainedOptionsBuilder options = onServer(new OptionsBuilder().build(), bench.server())
                    .shouldFailOnError(true)
                    .verbosity(VerboseMode.SILENT);
            Collection<RunResult> results =
                    new Runner(sized(options, bench.size()).build()).run();
            results.forEach(result -> keep(bench, result));
            long ran = results.stream()
                    .map(result -> result.getParams().getBenchmark())
                    .distinct()
                    .count();
            int there = BenchmarkList.defaultList()
                    .getAll(OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT), List.of())
                    .size();
            bench.results().check("benchmarks that ran to their end", (long) there, ran);
        } finally {
            System.clearProperty(JmhServer.FILE);
        }
    }

    /**
     * {@return with what the size says} A full run is as the benchmarks themselves say, but for claims in the larger table,
     * of which the family {@code claim} has more. Less than that: in this JVM, with small tables.
     */
    static ChainedOptionsBuilder sized(ChainedOptionsBuilder options, Size size) {
        return switch (size) {
            case TINY ->
                options.forks(0)
                        .warmupIterations(0)
                        .measurementIterations(1)
                        .param("rows", "2000")
                        .param("limit", "1", "4")
                        .param("filter", "all", "requester");
            case QUICK ->
                options.forks(0).warmupIterations(1).measurementIterations(2).param("rows", "20000");
            case FULL -> options.param("rows", "200000");
        };
    }

    private static void keep(Bench bench, RunResult result) {
        Map<String, String> of = of(result.getParams());
        List<IterationResult> iterations = result.getBenchmarkResults().stream()
                .flatMap(one -> one.getIterationResults().stream())
                .toList();
        bench.results()
                .add(
                        "time",
                        of,
                        "us",
                        iterations.stream()
                                .map(one -> one.getPrimaryResult().getScore())
                                .toList());
        COUNTERS.forEach((counter, unit) -> bench.results().add(counter, of, unit, List.of(counted(result, counter))));
        double updates = counted(result, "updatesPerCall");
        if (updates > 0) {
            double share = 100 * counted(result, "heapOnlyPerCall") / updates;
            bench.results().add("heapOnlyShare", of, "%", List.of(share));
        }
    }

    private static double counted(RunResult result, String counter) {
        Result<?> counted = result.getSecondaryResults().get(counter);
        if (counted == null) {
            throw new CheckFailedException(result.getParams().getBenchmark() + " did not count " + counter);
        }
        return counted.getScore();
    }

    private static Map<String, String> of(BenchmarkParams params) {
        Map<String, String> of = new LinkedHashMap<>();
        String name = params.getBenchmark();
        of.put("benchmark", name.substring(name.lastIndexOf('.') + 1));
        params.getParamsKeys().forEach(key -> of.put(key, params.getParam(key)));
        return of;
    }

    @Override
    public Rendering render(FamilyResults results) {
        Markdown table = new Markdown(
                "call",
                "of",
                "time, us",
                "allocated, bytes",
                "buffers",
                "WAL, bytes",
                "updates",
                "of them heap-only, %",
                "dead rows");
        for (Measurement time : results.measurements("time")) {
            String of = time.of().entrySet().stream()
                    .filter(entry -> !entry.getKey().equals("benchmark"))
                    .map(entry -> entry.getKey() + " " + entry.getValue())
                    .collect(Collectors.joining(", "));
            table.row(
                    time.label("benchmark"),
                    of,
                    time,
                    counted(results, "allocatedPerCall", time),
                    counted(results, "buffersPerCall", time),
                    counted(results, "walPerCall", time),
                    counted(results, "updatesPerCall", time),
                    counted(results, "heapOnlyShare", time),
                    counted(results, "deadPerCall", time));
        }
        return Rendering.of(table.toString());
    }

    private static Object counted(FamilyResults results, String counter, Measurement time) {
        return results.measurements(counter).stream()
                .filter(one -> one.of().equals(time.of()))
                .findFirst()
                .<Object>map(Measurement::median)
                .orElse("");
    }
}
