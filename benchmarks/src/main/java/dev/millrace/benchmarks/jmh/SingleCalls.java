package dev.millrace.benchmarks.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How calls are measured: some hundreds in a row, in a table that is made ready for each such row. So many are made before
 * those that count that most of a call is spent in compiled code, as in a process that has run for a while.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = SingleCalls.WARM_UPS)
@Measurement(iterations = 10)
public abstract class SingleCalls {
    /** How many rows of calls don't count. */
    static final int WARM_UPS = 10;

    /** How many calls are in a row, where nothing else is said. */
    static final int CALLS = 200;
}
