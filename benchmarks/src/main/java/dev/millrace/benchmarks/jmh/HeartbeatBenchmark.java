package dev.millrace.benchmarks.jmh;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Pulse;
import dev.millrace.store.WorkSource;
import dev.millrace.store.postgres.PostgresStore;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
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

/** Beats for running jobs: 50 in a statement. */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 20)
@Measurement(iterations = 20)
public class HeartbeatBenchmark {
    private static final int CALLS = 20;

    /** Running jobs among others. */
    @State(Scope.Benchmark)
    public static class Running {
        /** How many jobs there are. */
        @Param("200000")
        public int rows;

        /** For how many a call beats. */
        @Param({"1", "50", "200"})
        public int jobs;

        JmhServer server;
        BenchDatabase database;
        HikariDataSource pool;
        CostWatch costs;
        WorkSource work;
        List<Attempt> attempts;

        /** Claims and starts the jobs. */
        @Setup(Level.Trial)
        public void open(BenchmarkParams params) throws SQLException {
            server = new JmhServer();
            database = FilledTable.of(server, rows);
            pool = database.pool(1);
            costs = new CostWatch(database, params);
            work = PostgresStore.on(pool, BenchDatabase.SCHEMA).work();
            attempts = new Claimer(work, JobTable.KINDS)
                    .claim(jobs).stream().map(Claim::attempt).toList();
            attempts.forEach(work::start);
            database.settle();
        }

        /** From here on it counts. */
        @Setup(Level.Iteration)
        public void begin() throws SQLException {
            costs.begin();
        }

        /** Looks at what it cost. */
        @TearDown(Level.Iteration)
        public void look() throws SQLException {
            costs.end(CALLS);
        }

        /** Leaves the table as it was. */
        @TearDown(Level.Trial)
        public void close() throws SQLException {
            JobTable.unclaim(database);
            pool.close();
            server.close();
        }
    }

    /** Beats for all of them. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int heartbeat(Running running, Costs costs) {
        running.costs.into(costs);
        int held = 0;
        for (int call = 0; call < CALLS; call++) {
            Map<Attempt, Pulse> pulses = running.work.beat(running.attempts);
            for (Pulse pulse : pulses.values()) {
                held += pulse == Pulse.HELD ? 1 : 0;
            }
        }
        if (held != CALLS * running.jobs) {
            throw new CheckFailedException("Of " + CALLS * running.jobs + " beats " + held + " were answered");
        }
        return held;
    }
}
