package dev.millrace.benchmarks.report;

import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Numbers;
import dev.millrace.benchmarks.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Tables. */
public final class Markdown {
    private final List<String> lines = new ArrayList<>();

    /**
     * A table with these columns.
     *
     * @param columns their titles
     */
    public Markdown(String... columns) {
        lines.add("| " + String.join(" | ", columns) + " |");
        lines.add("|" + " --- |".repeat(columns.length));
    }

    /** Adds a row; what there is none of is an empty cell. */
    public Markdown row(Object... cells) {
        List<String> texts = new ArrayList<>();
        for (Object cell : cells) {
            texts.add(text(cell));
        }
        lines.add("| " + String.join(" | ", texts) + " |");
        return this;
    }

    private static String text(Object cell) {
        if (cell instanceof Optional<?> some) {
            return some.map(Markdown::text).orElse("");
        }
        if (cell instanceof Measurement measurement) {
            return withSpread(measurement);
        }
        return cell instanceof Double number ? Numbers.text(number) : String.valueOf(cell);
    }

    /** {@return the median, and from where to where the values lie if there are several} */
    public static String withSpread(Measurement measurement) {
        String median = Numbers.text(measurement.median());
        return measurement.values().size() == 1
                ? median
                : median + " (" + Numbers.text(measurement.min()) + " to " + Numbers.text(measurement.max()) + ")";
    }

    /** {@return targets as a table, whether they are met or not; nothing if there are none} */
    public static String targets(List<Target> targets) {
        if (targets.isEmpty()) {
            return "";
        }
        Markdown table = new Markdown("target", "measured", "should be", "");
        targets.forEach(target -> table.row(
                target.what(),
                target.value(),
                target.bound() + " " + Numbers.text(target.limit()),
                target.met() ? "met" : "**missed**"));
        return table.toString();
    }

    /** {@return a link to a plot} */
    public static String plot(String title, String file) {
        return String.format(Locale.ROOT, "![%s](performance/%s)%n", title, file)
                .replace("\r", "");
    }

    /** The table, each row a line. */
    @Override
    public String toString() {
        return String.join("\n", lines) + "\n";
    }
}
