package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Results;
import dev.millrace.benchmarks.Size;
import dev.millrace.benchmarks.peers.Contenders;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;

/** Results of a drain that nobody has waited for. */
final class DrainFixture {
    private final Map<DrainEntry, List<Drained>> found = new LinkedHashMap<>();

    private double server = 0.06;

    /** From now on the system does not tell what the server uses. */
    DrainFixture withoutServer() {
        server = Double.NaN;
        return this;
    }

    /** Adds who has drained so many jobs, at these rates. */
    DrainFixture drained(String system, int jobs, double... rates) {
        return withWal(system, jobs, 1_000, rates);
    }

    /** The same, with so many bytes of WAL for the submission of a job, and as many for the drain. */
    DrainFixture withWal(String system, int jobs, double wal, double... rates) {
        DrainEntry entry = Contenders.onTheJvm().drain().stream()
                .filter(contender -> contender.name().equals(system))
                .map(contender -> new DrainEntry(contender, 1, jobs))
                .findFirst()
                .orElseThrow();
        found.put(
                entry,
                DoubleStream.of(rates)
                        .mapToObj(rate -> drained(jobs, wal, rate))
                        .toList());
        return this;
    }

    private Drained drained(int jobs, double wal, double rate) {
        return new Drained(
                DrainPortions.of(jobs, 1_000), 10, 20, wal, wal, rate, 2 * rate, 0.5, wal, 1, 1, 1, 0.105, server, 0);
    }

    /** What the family makes of it. */
    FamilyResults results() {
        Results results = new Results();
        DrainFamily.keep(results, found);
        DrainTargets.add(results, DrainEntry.usual(Size.FULL));
        results.check("one is one", 1, 1);
        return results.of(new DrainFamily(), Size.FULL, Map.of("machine", Map.of("cores", "2")));
    }
}
