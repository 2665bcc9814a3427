package dev.millrace.benchmarks;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that one run of a family has found, as it is written to its file.
 *
 * @param family its name
 * @param measures what it measures
 * @param size how much was done; only {@code FULL} is evidence
 * @param began when, in UTC
 * @param seconds how long it took
 * @param environment where: machine, JVM, server and its settings, versions
 * @param measurements what was measured
 * @param checks what was looked at so as to know that it did what it measures
 * @param targets what numbers should be
 * @param notes what has to be known beside the numbers
 */
public record FamilyResults(
        String family,
        String measures,
        Size size,
        String began,
        double seconds,
        Map<String, Map<String, String>> environment,
        List<Measurement> measurements,
        List<Check> checks,
        List<Target> targets,
        List<Note> notes) {

    /** {@return what was measured under this name, in its order} */
    public List<Measurement> measurements(String name) {
        return measurements.stream().filter(one -> one.name().equals(name)).toList();
    }

    /**
     * {@return what was measured under this name of that, if it was; results of earlier builds lack some}
     *
     * @param name what
     * @param of of what; more may be said of it
     */
    public Optional<Measurement> found(String name, Map<String, String> of) {
        return measurements(name).stream()
                .filter(one -> one.of().entrySet().containsAll(of.entrySet()))
                .findFirst();
    }

    /**
     * {@return what was measured under this name of that}
     *
     * @param name what
     * @param of of what; more may be said of it
     */
    public Measurement measurement(String name, Map<String, String> of) {
        return found(name, of)
                .orElseThrow(() -> new CheckFailedException(
                        "The results of " + family + " have no measurement \"" + name + "\" of " + of));
    }
}
