package dev.millrace.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures several things in alternation, so that what happens to the machine meanwhile happens to all of them: each round
 * measures each once, and begins with another one than the round before.
 */
public final class Turns {
    /** Measures a thing once. */
    @FunctionalInterface
    public interface Measuring {
        /** {@return the value} */
        double measure() throws Exception;
    }

    private final Map<String, Measuring> things = new LinkedHashMap<>();

    /** Adds a thing. */
    public Turns with(String name, Measuring thing) {
        things.put(name, thing);
        return this;
    }

    /**
     * {@return the values of each thing, one for each round}
     *
     * @param warmUps rounds that don't count
     * @param rounds rounds that do
     */
    public Map<String, List<Double>> take(int warmUps, int rounds) throws Exception {
        Map<String, List<Double>> values = new LinkedHashMap<>();
        List<Map.Entry<String, Measuring>> order = new ArrayList<>(things.entrySet());
        for (int round = -warmUps; round < rounds; round++) {
            for (Map.Entry<String, Measuring> thing : order) {
                double value = thing.getValue().measure();
                if (round >= 0) {
                    values.computeIfAbsent(thing.getKey(), name -> new ArrayList<>())
                            .add(value);
                }
            }
            Collections.rotate(order, 1);
        }
        return values;
    }

    /** {@return the first values divided by the second ones, round by round} */
    public static List<Double> ratios(List<Double> values, List<Double> others) {
        List<Double> ratios = new ArrayList<>();
        for (int at = 0; at < values.size(); at++) {
            ratios.add(values.get(at) / others.get(at));
        }
        return ratios;
    }
}
