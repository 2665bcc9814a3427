package dev.millrace.benchmarks;

import java.util.Locale;

/** Numbers as they are printed: three digits that count, and thousands set apart. */
public final class Numbers {
    private Numbers() {}

    /** {@return the number as text} */
    public static String text(double value) {
        double size = Math.abs(value);
        if (value == Math.rint(value) && size < 1e15) {
            return String.format(Locale.ROOT, "%,d", (long) value);
        }
        if (size >= 100) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        if (size >= 10) {
            return String.format(Locale.ROOT, "%.1f", value);
        }
        return String.format(Locale.ROOT, size >= 1 ? "%.2f" : "%.3f", value);
    }
}
