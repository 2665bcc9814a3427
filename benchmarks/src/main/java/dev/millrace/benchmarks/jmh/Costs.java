package dev.millrace.benchmarks.jmh;

import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** What an iteration's calls cost, beside their time; filled in by a {@link CostWatch}. */
@State(Scope.Thread)
@AuxCounters(AuxCounters.Type.EVENTS)
public class Costs {
    /** Pages that a call touches in shared memory, on average. */
    public double buffersPerCall;

    /** WAL of a call in bytes, without full-page images, on average. */
    public double walPerCall;

    /** What the calling thread allocates in a call, in bytes, on average. */
    public double allocatedPerCall;

    /** Rows that a call updates, on average. */
    public double updatesPerCall;

    /** Those of them that need no new entry in any index. */
    public double heapOnlyPerCall;

    /** Dead rows that a call leaves behind, on average, less those that it clears away itself. */
    public double deadPerCall;
}
