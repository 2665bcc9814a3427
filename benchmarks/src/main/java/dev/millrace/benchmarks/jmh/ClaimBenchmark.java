package dev.millrace.benchmarks.jmh;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.store.Claim;
import dev.millrace.store.postgres.PostgresStore;
import java.sql.SQLException;
import java.util.ArrayList;
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

/** Claims of a worker that has handlers for all kinds. */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 20)
@Measurement(iterations = 20)
public class ClaimBenchmark {
    private static final int CALLS = 20;

    /** A filled table, and who claims from it. */
    @State(Scope.Benchmark)
    public static class Table {
        /** How many jobs there are. */
        @Param({"200000", "1000000"})
        public int rows;

        /** How many are claimed in a call. */
        @Param({"1", "10", "50"})
        public int limit;

        JmhServer server;
        BenchDatabase database;
        HikariDataSource pool;
        CostWatch costs;
        Claimer claimer;

        /** Connects. */
        @Setup(Level.Trial)
        public void open(BenchmarkParams params) throws SQLException {
            server = new JmhServer();
            database = FilledTable.of(server, rows);
            pool = database.pool(1);
            costs = new CostWatch(database, params);
            claimer = new Claimer(PostgresStore.on(pool, BenchDatabase.SCHEMA).work(), JobTable.KINDS);
        }

        /** Puts back what was claimed. */
        @Setup(Level.Iteration)
        public void unclaim() throws SQLException {
            JobTable.unclaim(database);
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

    /** Claims jobs. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public List<Claim> claim(Table table, Costs costs) {
        table.costs.into(costs);
        List<Claim> claims = new ArrayList<>();
        for (int call = 0; call < CALLS; call++) {
            claims.addAll(table.claimer.claim(table.limit));
        }
        return claims;
    }
}
