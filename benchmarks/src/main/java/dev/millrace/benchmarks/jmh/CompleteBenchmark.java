package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.store.Claim;
import dev.millrace.store.Completion;
import dev.millrace.store.Finish;
import dev.millrace.store.WorkSource;
import java.sql.SQLException;
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

/** Successes of claimed jobs, written one by one, and 50 together. The numbers are those of one job. */
public class CompleteBenchmark extends SingleCalls {
    private static final int JOBS = 400;
    private static final int TOGETHER = 50;

    /** Claimed jobs among others, new ones for each iteration. */
    @State(Scope.Benchmark)
    public static class Claimed {
        /** How many jobs there are. */
        @Param("200000")
        public int rows;

        Place place;
        WorkSource work;
        List<Completion> completions = List.of();

        /** Connects. */
        @Setup(Level.Trial)
        public void open(BenchmarkParams params) throws SQLException {
            place = Place.filled(rows, params);
            work = place.store.work();
        }

        /** Puts back what was completed, and claims jobs. */
        @Setup(Level.Iteration)
        public void claim() throws SQLException {
            putBack();
            List<Claim> claims = new Claimer(work, JobTable.KINDS).claim(JOBS);
            completions = claims.stream()
                    .map(claim -> new Completion(claim, new Finish.Succeed()))
                    .toList();
            place.begin();
        }

        private void putBack() throws SQLException {
            if (!completions.isEmpty()) {
                JobTable.unend(
                        place.database,
                        completions.stream()
                                .map(completion -> completion.claim().job().id())
                                .toList());
            }
        }

        /** Looks whether all have ended, and at what it cost. */
        @TearDown(Level.Iteration)
        public void look() throws SQLException {
            place.end(JOBS);
            long ended = place.database.number(
                    "SELECT count(*) FROM " + BenchDatabase.JOBS + " WHERE status = 'Succeeded' AND claimed_by = ?",
                    Claimer.NAME);
            if (ended != JOBS) {
                throw new CheckFailedException("Of " + JOBS + " jobs " + ended + " have succeeded");
            }
        }

        /** Leaves the table as it was. */
        @TearDown(Level.Trial)
        public void close() throws SQLException {
            putBack();
            place.close();
        }
    }

    /** Each by itself. */
    @Benchmark
    @OperationsPerInvocation(JOBS)
    public int completeOneByOne(Claimed claimed, Costs costs) {
        claimed.place.costs.into(costs);
        int ended = 0;
        for (Completion completion : claimed.completions) {
            ended += claimed.work.finish(completion) ? 1 : 0;
        }
        return ended;
    }

    /** 50 in a call. */
    @Benchmark
    @OperationsPerInvocation(JOBS)
    public int completeTogether(Claimed claimed, Costs costs) {
        claimed.place.costs.into(costs);
        int ended = 0;
        for (int from = 0; from < JOBS; from += TOGETHER) {
            ended += claimed.work
                    .finishAll(claimed.completions.subList(from, from + TOGETHER))
                    .size();
        }
        return ended;
    }
}
