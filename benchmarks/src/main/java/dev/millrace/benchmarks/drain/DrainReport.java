package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.report.BarPlot;
import dev.millrace.benchmarks.report.Markdown;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The tables of the drain. */
final class DrainReport {
    private static final String PLOT = "drain.svg";
    private static final String LARGER_TOO =
            " Who is there twice has also drained a queue that is so large that its process is"
                    + " warm for most of it; submissions are those of the smaller one.";

    private final FamilyResults results;

    DrainReport(FamilyResults results) {
        this.results = results;
    }

    Rendering rendering() {
        DrainCosts costs = new DrainCosts(results);
        StringBuilder text = new StringBuilder("One worker process, ")
                .append(Setting.CONCURRENCY)
                .append(
                        " handlers at a time. The drain counts from a cold start, with connections open; its second half"
                                + " is warmer. A ratio is only given to whoever drained as many jobs.")
                .append(isLargerToo() ? LARGER_TOO : "")
                .append("\n\n")
                .append(drains("1"))
                .append("\n")
                .append(Markdown.plot("Jobs a second in the second half of a drain", PLOT));
        several()
                .forEach(processes -> text.append("\n")
                        .append(processes)
                        .append(" worker processes, of ")
                        .append(Setting.CONCURRENCY)
                        .append(" handlers each:\n\n")
                        .append(drains(processes)));
        text.append(
                        "\nWhat a job costs, by one worker process: all but the worker's processor time is of the server, whose"
                                + " processor time is that of all of its processes. WAL is without full-page images.\n\n")
                .append(costs.table())
                .append(costs.processors())
                .append(
                        "\nSubmitting, by one thread, so many jobs after some that don't count. A rate in bulk is only given where it"
                                + " is that of 1,000 jobs or more: fewer are submitted by code that is not compiled yet.\n\n")
                .append(DrainSubmissions.table(results))
                .append("\nWhat has to be known when comparing:\n\n")
                .append(PeerNotes.of(results))
                .append(PeerTargets.of(results));
        return new Rendering(text.toString(), Map.of(PLOT, plot()));
    }

    private String plot() {
        BarPlot plot = new BarPlot("Draining a queue of so many jobs, second half, one worker process", "jobs/s");
        results.measurements("drain, second half").stream()
                .filter(one -> "1".equals(one.of().get("processes")))
                .forEach(one -> plot.bar(system(one) + ", " + one.of().getOrDefault("jobs", ""), one.median()));
        return plot.svg();
    }

    private boolean isLargerToo() {
        List<String> systems = results.measurements("drain").stream()
                .filter(one -> "1".equals(one.of().get("processes")))
                .map(DrainReport::system)
                .toList();
        return systems.stream().distinct().count() < systems.size();
    }

    private List<String> several() {
        return results.measurements("drain").stream()
                .map(drain -> drain.of().getOrDefault("processes", ""))
                .filter(processes -> !processes.equals("1"))
                .distinct()
                .toList();
    }

    private String drains(String processes) {
        List<String> against = DrainTargets.BASES.stream()
                .filter(one -> isCompared(one, processes))
                .toList();
        List<String> head =
                new ArrayList<>(List.of("", "jobs", "jobs/s", "second half, jobs/s", "first handler, s", "run again"));
        against.forEach(one -> head.add("times " + one));
        Markdown table = new Markdown(head.toArray(String[]::new));
        for (Measurement drain : results.measurements("drain")) {
            if (processes.equals(drain.of().get("processes"))) {
                table.row(drainRow(drain, against).toArray());
            }
        }
        return table.toString();
    }

    private List<Object> drainRow(Measurement drain, List<String> against) {
        List<Object> row = new ArrayList<>(List.of(
                system(drain),
                drain.of().getOrDefault("jobs", ""),
                drain,
                same("drain, second half", drain),
                same("first handler", drain),
                same("run again", drain)));
        against.forEach(one -> row.add(results.found(DrainTargets.RATIO, DrainTargets.against(drain.of(), one))));
        return row;
    }

    private static String system(Measurement measurement) {
        return measurement.of().getOrDefault("system", "");
    }

    private boolean isCompared(String against, String processes) {
        return results.measurements(DrainTargets.RATIO).stream()
                .anyMatch(one -> against.equals(one.of().get("against"))
                        && processes.equals(one.of().get("processes")));
    }

    /** Another measurement of the same system, processes and number of jobs. */
    private Measurement same(String name, Measurement one) {
        return results.measurement(name, one.of());
    }
}
