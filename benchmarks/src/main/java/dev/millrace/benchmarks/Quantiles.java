package dev.millrace.benchmarks;

import java.util.Collection;

/** Where values lie, sorted. */
public final class Quantiles {
    private final double[] sorted;

    private Quantiles(double[] sorted) {
        this.sorted = sorted;
    }

    /** {@return those of these values, of which there is at least one} */
    public static Quantiles of(Collection<Double> values) {
        if (values.isEmpty()) {
            throw new CheckFailedException("There are no values of which one could be in the middle");
        }
        return new Quantiles(
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray());
    }

    /** {@return the value in the middle, or between the two in the middle} */
    public double median() {
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    /** {@return the smallest value that at least this share of all does not exceed} */
    public double at(double share) {
        int rank = (int) Math.ceil(share * sorted.length);
        return sorted[Math.max(0, Math.min(sorted.length - 1, rank - 1))];
    }
}
