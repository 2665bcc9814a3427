package dev.millrace.benchmarks;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A part of the report.
 *
 * @param markdown tables, and links to the plots
 * @param plots SVG by file name, such as {@code growth-claim.svg}
 */
public record Rendering(String markdown, Map<String, String> plots) {
    /** Keeps the order of the plots. */
    public Rendering {
        plots = new LinkedHashMap<>(plots);
    }

    /** {@return a part without plots} */
    public static Rendering of(String markdown) {
        return new Rendering(markdown, Map.of());
    }
}
