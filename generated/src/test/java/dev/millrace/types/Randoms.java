package dev.millrace.types;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Random input, which a failed assertion names by its seed: set {@code millrace.test.seed} to see it again. */
record Randoms(long seed, RandomGenerator random) {

    static Randoms seeded() {
        long seed = Long.getLong("millrace.test.seed", System.nanoTime());
        return new Randoms(seed, RandomGeneratorFactory.of("L64X128MixRandom").create(seed));
    }

    String describe(Object value) {
        return value + " (-Dmillrace.test.seed=" + seed + ")";
    }
}
