package dev.millrace.benchmarks.report;

import dev.millrace.benchmarks.Numbers;
import java.util.LinkedHashMap;
import java.util.Map;

/** Bars, one below the other: how things compare. */
public final class BarPlot {
    private static final double LEFT = 210;
    private static final double RIGHT = Svg.WIDTH - 80;
    private static final double TOP = 52;
    private static final double BOTTOM = Svg.HEIGHT - 16;

    private final String title;
    private final String unit;
    private final Map<String, Double> bars = new LinkedHashMap<>();

    /**
     * An empty one.
     *
     * @param title above it
     * @param unit of the values
     */
    public BarPlot(String title, String unit) {
        this.title = title;
        this.unit = unit;
    }

    /** Adds a bar. */
    public BarPlot bar(String name, double value) {
        bars.put(name, value);
        return this;
    }

    /** {@return the drawing} */
    public String svg() {
        Svg svg = new Svg(title);
        Scale scale = Scale.of(bars.values().stream().toList(), false, LEFT, RIGHT);
        svg.label(LEFT, TOP - 8, "start", unit);
        double room = (BOTTOM - TOP) / Math.max(1, bars.size());
        int number = 0;
        for (Map.Entry<String, Double> bar : bars.entrySet()) {
            double top = TOP + room * number + room * 0.15;
            double end = scale.at(bar.getValue());
            svg.label(LEFT - 8, top + room * 0.35 + 4, "end", bar.getKey());
            svg.box(LEFT, top, Math.max(1, end - LEFT), room * 0.7, Svg.colour(number));
            svg.label(end + 6, top + room * 0.35 + 4, "start", Numbers.text(bar.getValue()));
            number++;
        }
        return svg.toString();
    }
}
