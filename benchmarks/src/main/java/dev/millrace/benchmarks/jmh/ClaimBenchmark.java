package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.JobTable;
import java.sql.SQLException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Claims of a worker that has handlers for all kinds. */
public class ClaimBenchmark extends SingleCalls {
    /** A filled table, and who claims from it. */
    @State(Scope.Benchmark)
    public static class Table {
        /** How many jobs there are. */
        @Param({"200000", "1000000"})
        public int rows;

        /** How many are claimed in a call; {@link SingleCalls#CALLS} times as many are queued. */
        @Param({"1", "10", "50"})
        public int limit;

        Place place;
        Claimer claimer;

        /** Connects. */
        @Setup(Level.Trial)
        public void open(BenchmarkParams params) throws SQLException {
            place = Place.filled(rows, params);
            claimer = new Claimer(place.store.work(), JobTable.KINDS);
        }

        /** Puts back what was claimed. */
        @Setup(Level.Iteration)
        public void unclaim() throws SQLException {
            JobTable.unclaim(place.database);
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

    /** Claims jobs; fails where it gets fewer. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int claim(Table table, Costs costs) {
        table.place.costs.into(costs);
        int claimed = 0;
        for (int call = 0; call < CALLS; call++) {
            claimed += table.claimer.claim(table.limit).size();
        }
        return claimed;
    }
}
