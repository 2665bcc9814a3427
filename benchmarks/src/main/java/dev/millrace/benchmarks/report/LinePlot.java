package dev.millrace.benchmarks.report;

import dev.millrace.benchmarks.Numbers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Lines: how something grows. */
public final class LinePlot {
    private static final double LEFT = 70;
    private static final double RIGHT = Svg.WIDTH - 20;
    private static final double TOP = 40;
    private static final double BOTTOM = Svg.HEIGHT - 74;

    private final String title;
    private final String xTitle;
    private final String yTitle;
    private final Map<String, List<double[]>> lines = new LinkedHashMap<>();
    private boolean xLogarithmic;
    private boolean yLogarithmic;

    /**
     * An empty one.
     *
     * @param title above it
     * @param xTitle below it
     * @param yTitle what is drawn, with its unit
     */
    public LinePlot(String title, String xTitle, String yTitle) {
        this.title = title;
        this.xTitle = xTitle;
        this.yTitle = yTitle;
    }

    /** Powers of ten at equal distances, across. */
    public LinePlot xByPowers() {
        xLogarithmic = true;
        return this;
    }

    /** Powers of ten at equal distances, upwards. */
    public LinePlot yByPowers() {
        yLogarithmic = true;
        return this;
    }

    /** Adds a point to a line. */
    public LinePlot point(String line, double x, double y) {
        lines.computeIfAbsent(line, name -> new ArrayList<>()).add(new double[] {x, y});
        return this;
    }

    /** {@return the drawing} */
    public String svg() {
        Svg svg = new Svg(title);
        Scale across = Scale.of(values(0), xLogarithmic, LEFT, RIGHT);
        Scale upwards = Scale.of(values(1), yLogarithmic, BOTTOM, TOP);
        for (double tick : across.ticks()) {
            svg.line(across.at(tick), BOTTOM, across.at(tick), BOTTOM + 4, "#333333");
            svg.label(across.at(tick), BOTTOM + 18, "middle", Numbers.text(tick));
        }
        for (double tick : upwards.ticks()) {
            svg.line(LEFT, upwards.at(tick), RIGHT, upwards.at(tick), "#dddddd");
            svg.label(LEFT - 6, upwards.at(tick) + 4, "end", Numbers.text(tick));
        }
        svg.line(LEFT, BOTTOM, RIGHT, BOTTOM, "#333333");
        svg.label((LEFT + RIGHT) / 2, BOTTOM + 36, "middle", xTitle);
        svg.label(8, TOP - 8, "start", yTitle);
        int number = 0;
        for (Map.Entry<String, List<double[]>> line : lines.entrySet()) {
            draw(svg, line.getKey(), line.getValue(), number++, across, upwards);
        }
        return svg.toString();
    }

    private void draw(Svg svg, String name, List<double[]> points, int number, Scale across, Scale upwards) {
        String colour = Svg.colour(number);
        List<double[]> places = points.stream()
                .map(point -> new double[] {across.at(point[0]), upwards.at(point[1])})
                .toList();
        svg.path(places, colour);
        if (places.size() <= 30) {
            places.forEach(place -> svg.dot(place[0], place[1], colour));
        }
        double x = LEFT + (RIGHT - LEFT) * number / lines.size();
        svg.box(x, Svg.HEIGHT - 20, 10, 10, colour);
        svg.label(x + 15, Svg.HEIGHT - 11, "start", name);
    }

    private List<Double> values(int coordinate) {
        return lines.values().stream()
                .flatMap(List::stream)
                .map(point -> point[coordinate])
                .toList();
    }
}
