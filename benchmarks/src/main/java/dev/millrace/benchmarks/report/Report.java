package dev.millrace.benchmarks.report;

import dev.millrace.benchmarks.Families;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Numbers;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.ResultFiles;
import dev.millrace.benchmarks.Size;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Puts tables and plots into a document, in place of what stands between the marks {@code <!-- begin:growth -->} and {@code <!--
 * end:growth -->}. Beside the families there are {@code environment}, what all runs were made on, and {@code targets},
 * what was aimed at and whether it was met. The text around the marks stays as it is.
 */
public final class Report {
    private static final Pattern PART =
            Pattern.compile("(<!-- begin:([a-z-]+) -->\\n)(.*?)(<!-- end:\\2 -->)", Pattern.DOTALL);

    private final Map<String, FamilyResults> results = new LinkedHashMap<>();
    private final Map<String, Rendering> renderings = new LinkedHashMap<>();

    /**
     * Reads the results of all families of which there are some.
     *
     * @param folder where their files are
     */
    public Report(Path folder) throws IOException {
        ResultFiles files = new ResultFiles(folder);
        for (Family family : Families.all()) {
            Optional<FamilyResults> found = files.read(family.name());
            if (found.isPresent()) {
                results.put(family.name(), found.get());
                renderings.put(family.name(), family.render(found.get()));
            }
        }
    }

    /**
     * {@return the document with the tables that belong to these results}
     *
     * @param document the document as it is
     */
    public String in(String document) {
        Matcher part = PART.matcher(document);
        StringBuilder written = new StringBuilder();
        while (part.find()) {
            part.appendReplacement(
                    written,
                    Matcher.quoteReplacement(
                            part.group(1) + "\n" + text(part.group(2)).strip() + "\n\n" + part.group(4)));
        }
        return part.appendTail(written).toString();
    }

    /** {@return whether no family has been run} */
    public boolean isEmpty() {
        return results.isEmpty();
    }

    /** {@return all plots by the names of their files} */
    public Map<String, String> plots() {
        Map<String, String> plots = new LinkedHashMap<>();
        renderings.values().forEach(rendering -> plots.putAll(rendering.plots()));
        return plots;
    }

    private String text(String name) {
        return switch (name) {
            case "environment" -> environment();
            case "targets" -> targets();
            default -> family(name);
        };
    }

    private String family(String name) {
        FamilyResults found = results.get(name);
        Rendering rendering = renderings.get(name);
        if (found == null || rendering == null) {
            return "*Not run yet.*";
        }
        return found.measures() + "\n\n" + rendering.markdown().strip() + "\n\n" + provenance(found);
    }

    private static String provenance(FamilyResults found) {
        Map<String, String> machine = found.environment().getOrDefault("machine", Map.of());
        String size = found.size() == Size.FULL ? "" : "**Not of full size (" + found.size() + "): no evidence.** ";
        return size + "*Run on " + found.began().substring(0, 10) + " in " + Numbers.text(found.seconds())
                + " s, at commit "
                + found.environment().getOrDefault("sources", Map.of()).getOrDefault("commit", "unknown")
                + "; load of the machine before and after "
                + machine.getOrDefault("load before", "?") + " and " + machine.getOrDefault("load after", "?") + ". ["
                + found.family() + ".json](performance/" + found.family() + ".json)*";
    }

    /** What is the same in all runs once; what is not, with each value that there is. */
    private String environment() {
        Map<String, Set<String>> values = new LinkedHashMap<>();
        for (FamilyResults found : results.values()) {
            found.environment()
                    .forEach((group, entries) -> entries.forEach((key, value) -> {
                        if (!key.startsWith("load ")) {
                            values.computeIfAbsent(group + " | " + key, name -> new TreeSet<>())
                                    .add(value);
                        }
                    }));
        }
        if (values.isEmpty()) {
            return "*Not run yet.*";
        }
        Markdown table = new Markdown("", "", "");
        values.forEach((key, found) -> table.row(key, String.join("; ", found)));
        return table.toString();
    }

    private String targets() {
        Markdown table = new Markdown("family", "target", "measured", "should be", "");
        List<String> none = new ArrayList<>();
        results.forEach((name, found) -> {
            found.targets()
                    .forEach(target -> table.row(
                            name,
                            target.what(),
                            target.value(),
                            target.bound() + " " + Numbers.text(target.limit()),
                            target.met() ? "met" : "**missed**"));
            if (found.targets().isEmpty()) {
                none.add(name);
            }
        });
        return results.isEmpty()
                ? "*Not run yet.*"
                : table + (none.isEmpty() ? "" : "\nWithout targets: " + String.join(", ", none) + ".\n");
    }
}
