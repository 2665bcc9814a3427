package dev.millrace.benchmarks;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** What a run finds, while it runs. For one thread. */
public final class Results {
    private final Instant began = Instant.now();
    private final long beganNanos = System.nanoTime();
    private final List<Measurement> measurements = new ArrayList<>();
    private final List<Check> checks = new ArrayList<>();
    private final List<Target> targets = new ArrayList<>();
    private final List<Note> notes = new ArrayList<>();

    /**
     * Keeps what was measured.
     *
     * @return the same
     */
    public Measurement add(Measurement measurement) {
        measurements.add(measurement);
        return measurement;
    }

    /**
     * Keeps what was measured.
     *
     * @param name what
     * @param of of what
     * @param unit of the values
     * @param values one for each round
     * @return what was kept
     */
    public Measurement add(String name, Map<String, String> of, String unit, List<Double> values) {
        return add(new Measurement(name, of, unit, values));
    }

    /**
     * {@return what was measured so far under this name of that}
     *
     * @param name what
     * @param of of what; more may be said of it
     */
    public Measurement measurement(String name, Map<String, String> of) {
        return found(name, of)
                .orElseThrow(() -> new CheckFailedException("There is no measurement \"" + name + "\" of " + of));
    }

    /**
     * {@return the same; nothing where whoever it is of did not take part}
     *
     * @param name what
     * @param of of what; more may be said of it
     */
    public Optional<Measurement> found(String name, Map<String, String> of) {
        return measurements(name).stream()
                .filter(one -> one.of().entrySet().containsAll(of.entrySet()))
                .findFirst();
    }

    /** {@return what was measured so far under this name, in its order} */
    public List<Measurement> measurements(String name) {
        return measurements.stream().filter(one -> one.name().equals(name)).toList();
    }

    /**
     * Ends the run unless this was found, and says in the results that it was.
     *
     * @param what what was looked at
     * @param expected what has to be found
     * @param found what was found
     * @throws CheckFailedException if something else was found
     */
    public void check(String what, Object expected, Object found) {
        if (!Objects.equals(expected, found)) {
            throw new CheckFailedException(what + ": expected " + expected + ", found " + found);
        }
        checks.add(new Check(what, String.valueOf(found)));
    }

    /** Keeps what has to be known beside the numbers. */
    public void note(String about, String what, String text) {
        notes.add(new Note(about, what, text));
    }

    /** Keeps how a number compares with what it should be. */
    public void target(String what, double value, String bound, double limit) {
        targets.add(new Target(what, value, bound, limit));
    }

    /**
     * {@return all of it}
     *
     * @param family whose run it was
     * @param size how much was done
     * @param environment where
     * @throws CheckFailedException if nothing was measured, or nothing was checked
     */
    public FamilyResults of(Family family, Size size, Map<String, Map<String, String>> environment) {
        if (measurements.isEmpty() || checks.isEmpty()) {
            throw new CheckFailedException(
                    family.name() + " has " + (measurements.isEmpty() ? "measured" : "checked") + " nothing");
        }
        return new FamilyResults(
                family.name(),
                family.measures(),
                size,
                began.truncatedTo(ChronoUnit.SECONDS).toString(),
                Math.round((System.nanoTime() - beganNanos) / 1e8) / 10.0,
                environment,
                List.copyOf(measurements),
                List.copyOf(checks),
                List.copyOf(targets),
                List.copyOf(notes));
    }
}
