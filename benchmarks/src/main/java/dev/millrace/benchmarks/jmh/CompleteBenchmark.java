package dev.millrace.benchmarks.jmh;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.store.Claim;
import dev.millrace.store.Completion;
import dev.millrace.store.Finish;
import dev.millrace.store.WorkSource;
import dev.millrace.store.postgres.PostgresStore;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Successes of running jobs, written one by one, and 50 together. The numbers are those of one job. */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 15)
@Measurement(iterations = 15)
public class CompleteBenchmark {
    private static final int JOBS = 50;

    /** Running jobs among others, new ones for each iteration. */
    @State(Scope.Benchmark)
    public static class Running {
        /** How many jobs there are. */
        @Param("200000")
        public int rows;

        JmhServer server;
        BenchDatabase database;
        HikariDataSource pool;
        CostWatch costs;
        WorkSource work;
        List<Completion> completions = List.of();

        /** Connects. */
        @Setup(Level.Trial)
        public void open(BenchmarkParams params) throws SQLException {
            server = new JmhServer();
            database = FilledTable.of(server, rows);
            pool = database.pool(1);
            costs = new CostWatch(database, params);
            work = PostgresStore.on(pool, BenchDatabase.SCHEMA).work();
        }

        /** Puts back what was completed, claims jobs and starts them. */
        @Setup(Level.Iteration)
        public void claim() throws SQLException {
            putBack();
            List<Claim> claims = new Claimer(work, JobTable.KINDS).claim(JOBS);
            claims.forEach(claim -> work.start(claim.attempt()));
            completions = claims.stream()
                    .map(claim -> new Completion(claim, new Finish.Succeed()))
                    .toList();
            costs.begin();
        }

        private void putBack() throws SQLException {
            if (!completions.isEmpty()) {
                JobTable.unend(
                        database,
                        completions.stream()
                                .map(completion -> completion.claim().job().id())
                                .toList());
            }
        }

        /** Looks whether all have ended, and at what it cost. */
        @TearDown(Level.Iteration)
        public void look() throws SQLException {
            costs.end(JOBS);
            long ended = database.number(
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
            pool.close();
            server.close();
        }
    }

    /** Each by itself. */
    @Benchmark
    @OperationsPerInvocation(JOBS)
    public int completeOneByOne(Running running, Costs costs) {
        running.costs.into(costs);
        int ended = 0;
        for (Completion completion : running.completions) {
            ended += running.work.finish(completion) ? 1 : 0;
        }
        return ended;
    }

    /** All in one call. */
    @Benchmark
    @OperationsPerInvocation(JOBS)
    public int completeTogether(Running running, Costs costs) {
        running.costs.into(costs);
        return running.work.finishAll(running.completions).size();
    }
}
