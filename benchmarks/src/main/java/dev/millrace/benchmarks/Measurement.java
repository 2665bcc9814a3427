package dev.millrace.benchmarks;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What was measured of one thing, once in each round.
 *
 * @param name what, such as {@code drain}
 * @param of of what: {@code system: millrace, jobs: 20000}, in that order
 * @param unit of the values, such as {@code jobs/s}
 * @param values one for each round, in the order of the rounds
 */
@JsonPropertyOrder({"name", "of", "unit", "median", "min", "max", "values"})
@JsonIgnoreProperties(
        value = {"median", "min", "max"},
        allowGetters = true)
public record Measurement(String name, Map<String, String> of, String unit, List<Double> values) {
    /** Refuses what measures nothing. */
    public Measurement {
        of = Collections.unmodifiableMap(new LinkedHashMap<>(of));
        values = List.copyOf(values);
        if (values.isEmpty() || values.stream().anyMatch(value -> !Double.isFinite(value))) {
            throw new CheckFailedException(
                    name + " " + of + " has measured " + (values.isEmpty() ? "nothing" : values.toString()));
        }
    }

    /**
     * {@return what it is of, in one respect}
     *
     * @param respect such as {@code jobs}
     */
    public String label(String respect) {
        String label = of.get(respect);
        if (label == null) {
            throw new CheckFailedException(name + " " + of + " doesn't say of which " + respect);
        }
        return label;
    }

    /** {@return the value in the middle, or between the two in the middle} */
    @JsonProperty
    public double median() {
        return Quantiles.of(values).median();
    }

    /** {@return the smallest value} */
    @JsonProperty
    public double min() {
        return Collections.min(values);
    }

    /** {@return the largest value} */
    @JsonProperty
    public double max() {
        return Collections.max(values);
    }
}
