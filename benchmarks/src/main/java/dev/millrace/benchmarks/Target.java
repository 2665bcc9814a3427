package dev.millrace.benchmarks;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Locale;

/**
 * What a number of a run should be. Whether it is met is part of the results, and not of whether a run succeeds.
 *
 * @param what what the number says
 * @param value the number
 * @param bound {@code <=} or {@code >=}
 * @param limit what it is compared with
 */
@JsonIgnoreProperties(value = "met", allowGetters = true)
public record Target(String what, double value, String bound, double limit) {
    /** Refuses other bounds. */
    public Target {
        if (!bound.equals("<=") && !bound.equals(">=")) {
            throw new IllegalArgumentException("The bound of a target is \"" + bound + "\"; allowed are <= and >=");
        }
    }

    /** {@return whether it is as it should be} */
    @JsonProperty
    public boolean met() {
        return bound.equals("<=") ? value <= limit : value >= limit;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%s: %s, target %s %s: %s",
                what,
                Numbers.text(value),
                bound,
                Numbers.text(limit),
                met() ? "met" : "MISSED");
    }
}
