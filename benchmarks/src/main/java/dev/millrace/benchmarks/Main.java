package dev.millrace.benchmarks;

import dev.millrace.benchmarks.jmh.JmhFamily;
import dev.millrace.benchmarks.jmh.JmhServer;
import dev.millrace.benchmarks.report.ReportFiles;
import dev.millrace.devdb.DevDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.CommandLineOptions;

/** The program of the executable jar. */
public final class Main {
    static final String USAGE = """
            java -jar benchmarks.jar run <family>...|all [--quick] [--out folder] [--url jdbc:postgresql:..]
            java -jar benchmarks.jar report [--in folder] [--document file]
            java -jar benchmarks.jar families
            java -jar benchmarks.jar <benchmarks and options of JMH>: -l lists its benchmarks, -h its options
            """;

    private Main() {}

    /** {@code run}, {@code report}, {@code families}; options and names of benchmarks are JMH's. */
    public static void main(String[] arguments) throws Exception {
        System.setProperty("org.jooq.no-logo", "true");
        System.setProperty("org.jooq.no-tips", "true");
        List<String> words = Arrays.asList(arguments);
        try {
            dispatch(words);
        } catch (UsageException e) {
            System.err.println(e.getMessage() + "\n\n" + USAGE);
            System.exit(2);
        }
    }

    private static void dispatch(List<String> words) throws Exception {
        switch (words.isEmpty() ? "" : words.get(0)) {
            case "", "help", "--help" -> System.out.println(USAGE);
            case "run" -> run(Arguments.parse(words.subList(1, words.size())));
            case "report" -> report(words.subList(1, words.size()));
            case "families" ->
                Families.all()
                        .forEach(family -> System.out.printf(
                                "%-12s %3d min  %s%n",
                                family.name(), family.planned().toMinutes(), family.measures()));
            default -> jmh(words);
        }
    }

    /** All of them, also after one that has failed. */
    private static void run(Arguments arguments) throws IOException {
        List<Family> families = Families.named(arguments.families());
        arguments.checkOut();
        Runs runs = new Runs(arguments.url(), arguments.size(), arguments.out(), System.out);
        List<String> failed = new ArrayList<>();
        for (Family family : families) {
            try {
                runs.run(family);
            } catch (Exception e) {
                failed.add(family.name());
                e.printStackTrace();
            }
        }
        if (!failed.isEmpty()) {
            System.err.println("Failed, and without new results: " + String.join(", ", failed));
            System.exit(1);
        }
    }

    private static void report(List<String> words) throws IOException {
        Path folder = Path.of("docs", "performance");
        Path document = Path.of("docs", "performance.md");
        for (int at = 0; at < words.size(); at += 2) {
            switch (words.get(at)) {
                case "--in" -> folder = Path.of(Arguments.valueOf(words, at));
                case "--document" -> document = Path.of(Arguments.valueOf(words, at));
                default -> throw new UsageException("There is no option " + words.get(at));
            }
        }
        new ReportFiles(folder, document).write();
        System.out.println("Wrote " + document + " and the plots in " + folder);
    }

    private static void jmh(List<String> words) throws Exception {
        String[] arguments = words.toArray(new String[0]);
        CommandLineOptions options = JmhArguments.parse(words);
        if (options.shouldList()
                || options.shouldListWithParams()
                || options.shouldListProfilers()
                || options.shouldListResultFormats()
                || options.shouldHelp()) {
            org.openjdk.jmh.Main.main(arguments);
            return;
        }
        try (DevDatabase server = BenchServer.start(System.getProperty(JmhServer.URL), Size.FULL)) {
            new Runner(JmhFamily.onServer(options, server).build()).run();
        }
    }
}
