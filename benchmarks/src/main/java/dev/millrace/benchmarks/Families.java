package dev.millrace.benchmarks;

import dev.millrace.benchmarks.drain.DrainFamily;
import dev.millrace.benchmarks.drain.LatencyFamily;
import dev.millrace.benchmarks.floor.FloorFamily;
import dev.millrace.benchmarks.jmh.JmhFamily;
import dev.millrace.benchmarks.load.ClaimFamily;
import dev.millrace.benchmarks.load.FaultsFamily;
import dev.millrace.benchmarks.load.GrowthFamily;
import dev.millrace.benchmarks.load.HeartbeatFamily;
import dev.millrace.benchmarks.load.HorizonFamily;
import dev.millrace.benchmarks.load.LoopsFamily;
import dev.millrace.benchmarks.load.WalFamily;
import java.util.List;
import java.util.stream.Collectors;

/** All families, in the order in which they run and stand in the report. */
public final class Families {
    private static final List<Family> ALL = List.of(
            new ClaimFamily(),
            new HeartbeatFamily(),
            new LoopsFamily(),
            new FloorFamily(),
            new WalFamily(),
            new HorizonFamily(),
            new GrowthFamily(),
            new FaultsFamily(),
            new DrainFamily(),
            new LatencyFamily(),
            new JmhFamily());

    private Families() {}

    /** {@return all of them} */
    public static List<Family> all() {
        return ALL;
    }

    /** {@return those of these names, each once; all, in their order, for {@code all}} */
    static List<Family> named(List<String> names) {
        List<Family> named = names.stream()
                .filter(name -> !name.equals("all"))
                .map(Families::named)
                .distinct()
                .toList();
        return names.contains("all") ? ALL : named;
    }

    private static Family named(String name) {
        return ALL.stream()
                .filter(family -> family.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new UsageException("There is no family \"" + name + "\"; there are "
                        + ALL.stream().map(Family::name).collect(Collectors.joining(", ")) + ", and all."));
    }
}
