package dev.millrace.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.PatternSyntaxException;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.VerboseMode;

/** A command line that is meant for JMH: its options, and regular expressions each of which finds some benchmark. */
final class JmhArguments {
    private static final OutputFormat SILENT = OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT);

    private JmhArguments() {}

    /**
     * {@return what JMH makes of it}
     *
     * @throws UsageException if JMH knows an option not, or a word is the name of nothing
     */
    static CommandLineOptions parse(List<String> words) {
        CommandLineOptions options;
        try {
            options = new CommandLineOptions(words.toArray(new String[0]));
        } catch (CommandLineOptionException e) {
            throw new UsageException(String.valueOf(e.getMessage()));
        }
        for (String name : options.getIncludes()) {
            if (find(name).isEmpty()) {
                throw new UsageException("There is no command and no benchmark \"" + name + "\"; benchmarks are\n  "
                        + String.join("\n  ", find(".*")));
            }
        }
        return options;
    }

    private static Set<String> find(String name) {
        Set<String> names = new TreeSet<>();
        try {
            for (BenchmarkListEntry found :
                    BenchmarkList.defaultList().find(SILENT, List.of(name), new ArrayList<>())) {
                names.add(found.getUsername());
            }
        } catch (PatternSyntaxException e) {
            return Set.of();
        }
        return names;
    }
}
