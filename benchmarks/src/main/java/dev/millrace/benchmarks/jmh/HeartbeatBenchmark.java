package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Pulse;
import dev.millrace.store.WorkSource;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Beats for running jobs: 50 in a statement. */
public class HeartbeatBenchmark extends SingleCalls {
    /** Running jobs among others. */
    @State(Scope.Benchmark)
    public static class Running {
        /** How many jobs there are. */
        @Param("200000")
        public int rows;

        /** For how many a call beats. */
        @Param({"1", "50", "200"})
        public int jobs;

        Place place;
        WorkSource work;
        List<Attempt> attempts;

        /** Claims and starts the jobs. */
        @Setup(Level.Trial)
        public void open(BenchmarkParams params) throws SQLException {
            place = Place.filled(rows, params);
            work = place.store.work();
            attempts = new Claimer(work, JobTable.KINDS)
                    .claim(jobs).stream().map(Claim::attempt).toList();
            attempts.forEach(work::start);
            place.database.settle();
        }

        /** From here on it counts. */
        @Setup(Level.Iteration)
        public void begin() throws SQLException {
            place.begin();
        }

        /** Looks at what it cost. */
        @TearDown(Level.Iteration)
        public void look() throws SQLException {
            place.end(CALLS);
        }

        /** Leaves the table as it was. */
        @TearDown(Level.Trial)
        public void close() throws SQLException {
            JobTable.unclaim(place.database);
            place.close();
        }
    }

    /** Beats for all of them. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int heartbeat(Running running, Costs costs) {
        running.place.costs.into(costs);
        int held = 0;
        for (int call = 0; call < CALLS; call++) {
            held += held(running.work, running.attempts);
        }
        if (held != CALLS * running.jobs) {
            throw new CheckFailedException("Of " + CALLS * running.jobs + " beats " + held + " were answered");
        }
        return held;
    }

    /** {@return how many of these a beat has found to be still those of their jobs} */
    static int held(WorkSource work, List<Attempt> attempts) {
        return Collections.frequency(work.beat(attempts).values(), Pulse.HELD);
    }
}
