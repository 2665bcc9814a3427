package dev.millrace.benchmarks.report;

import java.util.List;
import java.util.Locale;

/** A drawing of 720 by 380 with a title. Colours are such that it can be read on white and on black. */
final class Svg {
    static final int WIDTH = 720;
    static final int HEIGHT = 380;

    private static final List<String> COLOURS =
            List.of("#2f7ebc", "#d9822b", "#3d9970", "#b0413e", "#8064a2", "#7f7f7f", "#17a2a2", "#c2549b");

    private final StringBuilder text = new StringBuilder();

    Svg(String title) {
        text.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\""
                        + " role=\"img\">\n<title>%s</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                WIDTH,
                HEIGHT,
                escaped(title),
                WIDTH,
                HEIGHT));
        label(WIDTH / 2.0, 22, "middle", title, 15);
    }

    static String colour(int number) {
        return COLOURS.get(number % COLOURS.size());
    }

    void line(double x1, double y1, double x2, double y2, String colour) {
        text.append(String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
                x1,
                y1,
                x2,
                y2,
                colour));
    }

    void path(List<double[]> points, String colour) {
        StringBuilder path = new StringBuilder();
        points.forEach(point -> path.append(String.format(Locale.ROOT, "%.1f,%.1f ", point[0], point[1])));
        text.append(String.format(
                "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n",
                path.toString().strip(), colour));
    }

    void dot(double x, double y, String colour) {
        text.append(
                String.format(Locale.ROOT, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x, y, colour));
    }

    void box(double x, double y, double width, double height, String colour) {
        text.append(String.format(
                Locale.ROOT,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                x,
                y,
                width,
                height,
                colour));
    }

    void label(double x, double y, String anchor, String words) {
        label(x, y, anchor, words, 12);
    }

    private void label(double x, double y, String anchor, String words, int size) {
        text.append(String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" fill=\"#333333\">%s</text>\n",
                x,
                y,
                anchor,
                size,
                escaped(words)));
    }

    private static String escaped(String words) {
        return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    @Override
    public String toString() {
        return text + "</svg>\n";
    }
}
