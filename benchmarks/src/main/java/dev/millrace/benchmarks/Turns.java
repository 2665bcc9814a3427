package dev.millrace.benchmarks;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Measures several things in alternation, so that what happens to the machine meanwhile happens to all of them: each round
 * measures each once, in an order of its own.
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
        for (int round = -warmUps; round < rounds; round++) {
            for (Map.Entry<String, Measuring> thing : order(things.entrySet(), round + warmUps)) {
                double value = thing.getValue().measure();
                if (round >= 0) {
                    values.computeIfAbsent(thing.getKey(), name -> new ArrayList<>())
                            .add(value);
                }
            }
        }
        return values;
    }

    /**
     * {@return these in the order of that round: every other round goes the opposite way of the one before it, so that of two
     * things each comes first once; the first two begin with the given order, the others with one that is drawn by lot, the
     * same in each run}
     *
     * @param things what is measured
     * @param round from 0
     */
    public static <T> List<T> order(Collection<T> things, int round) {
        List<T> order = new ArrayList<>(things);
        if (round >= 2) {
            Collections.shuffle(order, new Random(round / 2));
        }
        if (round % 2 == 1) {
            Collections.reverse(order);
        }
        return order;
    }

    /** {@return the first values divided by the second ones, round by round} */
    public static List<Double> ratios(List<Double> values, List<Double> others) {
        List<Double> ratios = new ArrayList<>();
        for (int at = 0; at < values.size(); at++) {
            ratios.add(values.get(at) / others.get(at));
        }
        return ratios;
    }

    /**
     * {@return the same for each two neighbouring rounds, as the geometric mean of both: where the second went the opposite way
     * of the first, what it is worth to come first cancels out}
     *
     * @param values of an even number of rounds
     * @param others of as many
     */
    public static List<Double> ratiosOfTwo(List<Double> values, List<Double> others) {
        List<Double> single = ratios(values, others);
        if (single.size() % 2 == 1) {
            throw new CheckFailedException("Of " + single.size() + " rounds one went only one way");
        }
        List<Double> ratios = new ArrayList<>();
        for (int at = 0; at < single.size(); at += 2) {
            ratios.add(Math.sqrt(single.get(at) * single.get(at + 1)));
        }
        return ratios;
    }
}
