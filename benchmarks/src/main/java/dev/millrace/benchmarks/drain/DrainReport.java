package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.peers.Contenders;
import dev.millrace.benchmarks.report.BarPlot;
import dev.millrace.benchmarks.report.Markdown;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The tables of the drain. */
final class DrainReport {
    private static final String PLOT = "drain.svg";

    private final FamilyResults results;

    DrainReport(FamilyResults results) {
        this.results = results;
    }

    Rendering rendering() {
        StringBuilder text = new StringBuilder("One worker process, ")
                .append(Setting.CONCURRENCY)
                .append(
                        " handlers at a time. The drain counts from a cold start, with connections open; its second half"
                                + " is warmer. A ratio is only given to whoever drained as many jobs.\n\n")
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
                        "\nWhat a job costs, by one worker process: processor time of the worker, all else of the server. WAL is"
                                + " without full-page images.\n\n")
                .append(costs())
                .append("\nSubmitting, by one thread:\n\n")
                .append(submissions())
                .append("\nWhat has to be known when comparing:\n\n")
                .append(PeerNotes.of(results));
        return new Rendering(text.toString(), Map.of(PLOT, plot()));
    }

    private String plot() {
        BarPlot plot = new BarPlot("Draining a queue of so many jobs, second half, one worker process", "jobs/s");
        results.measurements("drain, second half").stream()
                .filter(one -> "1".equals(one.of().get("processes")))
                .forEach(one -> plot.bar(system(one) + ", " + one.of().getOrDefault("jobs", ""), one.median()));
        return plot.svg();
    }

    private List<String> several() {
        return results.measurements("drain").stream()
                .map(drain -> drain.of().getOrDefault("processes", ""))
                .filter(processes -> !processes.equals("1"))
                .distinct()
                .toList();
    }

    private String drains(String processes) {
        List<String> against = List.of(Contenders.DB_SCHEDULER, Contenders.PG_BOSS).stream()
                .filter(one -> isCompared(one, processes))
                .toList();
        List<String> head =
                new ArrayList<>(List.of("", "jobs", "jobs/s", "second half, jobs/s", "first handler, s", "run again"));
        against.forEach(one -> head.add("times " + one));
        Markdown table = new Markdown(head.toArray(String[]::new));
        for (Measurement drain : results.measurements("drain")) {
            if (processes.equals(drain.of().get("processes"))) {
                table.row(drainRow(drain, processes, against).toArray());
            }
        }
        return table.toString();
    }

    private List<Object> drainRow(Measurement drain, String processes, List<String> against) {
        String system = system(drain);
        List<Object> row = new ArrayList<>(List.of(
                system,
                drain.of().getOrDefault("jobs", ""),
                drain,
                of("drain, second half", system, processes),
                of("first handler", system, processes),
                of("run again", system, processes)));
        against.forEach(one -> row.add(ratio(system, processes, one)));
        return row;
    }

    /** Empty for whoever had another number of jobs. */
    private Object ratio(String system, String processes, String against) {
        Map<String, String> of = Map.of("system", system, "processes", processes, "against", against);
        return results.measurements("drain, ratio").stream()
                .filter(one -> one.of().entrySet().containsAll(of.entrySet()))
                .findFirst()
                .<Object>map(ratio -> ratio)
                .orElse("");
    }

    private String costs() {
        Markdown table = new Markdown(
                "",
                "processor time, ms",
                "statements",
                "transactions",
                "WAL of the drain, B",
                "full-page images, B",
                "WAL with its submission, B");
        for (String system : systems()) {
            table.row(
                    system,
                    of("drain, processor time", system, "1"),
                    of("drain, statements", system, "1"),
                    of("drain, transactions", system, "1"),
                    of("drain, WAL", system, "1"),
                    of("drain, full-page images", system, "1"),
                    of("submit to success, WAL", system, "1"));
        }
        return table.toString();
    }

    private String submissions() {
        Markdown table = new Markdown("", "one by one, jobs/s", "WAL, B", "in bulk, jobs/s", "WAL, B");
        for (String system : systems()) {
            table.row(
                    system,
                    of("submit one by one", system, "1"),
                    of("submit one by one, WAL", system, "1"),
                    of("submit in bulk", system, "1"),
                    of("submit in bulk, WAL", system, "1"));
        }
        return table.toString();
    }

    private List<String> systems() {
        return results.measurements("submit one by one").stream()
                .map(DrainReport::system)
                .toList();
    }

    private static String system(Measurement measurement) {
        return measurement.of().getOrDefault("system", "");
    }

    private boolean isCompared(String against, String processes) {
        return results.measurements("drain, ratio").stream()
                .anyMatch(one -> against.equals(one.of().get("against"))
                        && processes.equals(one.of().get("processes")));
    }

    private Measurement of(String name, String system, String processes) {
        return results.measurement(name, Map.of("system", system, "processes", processes));
    }
}
