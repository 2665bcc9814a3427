package dev.millrace.benchmarks.report;

import java.util.ArrayList;
import java.util.List;

/** From values to places along an axis: linear from zero, or by powers of ten. */
record Scale(double low, double high, boolean logarithmic, double from, double to) {
    /** A scale on which all of these values have a place. */
    static Scale of(List<Double> values, boolean logarithmic, double from, double to) {
        double most = values.stream().mapToDouble(Double::doubleValue).max().orElse(1);
        if (!logarithmic) {
            return new Scale(0, most <= 0 ? 1 : roundUp(most), false, from, to);
        }
        double least = values.stream()
                .mapToDouble(Double::doubleValue)
                .filter(value -> value > 0)
                .min()
                .orElse(1);
        double low = Math.floor(Math.log10(least) + 1e-9);
        double high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(most, least)) - 1e-9));
        return new Scale(Math.pow(10, low), Math.pow(10, high), true, from, to);
    }

    private static double roundUp(double value) {
        double step = step(value);
        return Math.ceil(value / step - 1e-9) * step;
    }

    /** About five steps to that value, each of 1, 2 or 5 and zeros. */
    private static double step(double value) {
        double magnitude = Math.pow(10, Math.floor(Math.log10(value / 5)));
        for (double factor : new double[] {1, 2, 5}) {
            if (value / (magnitude * factor) <= 5) {
                return magnitude * factor;
            }
        }
        return magnitude * 10;
    }

    double at(double value) {
        double share = logarithmic
                ? (Math.log10(Math.max(value, low)) - Math.log10(low)) / (Math.log10(high) - Math.log10(low))
                : (value - low) / (high - low);
        return from + share * (to - from);
    }

    /** Where numbers stand. */
    List<Double> ticks() {
        List<Double> ticks = new ArrayList<>();
        if (logarithmic) {
            for (double tick = low; tick <= high * 1.0001; tick *= 10) {
                ticks.add(tick);
            }
        } else {
            double step = step(high);
            for (int at = 0; at * step <= high * 1.0001; at++) {
                ticks.add(at * step);
            }
        }
        return ticks;
    }
}
