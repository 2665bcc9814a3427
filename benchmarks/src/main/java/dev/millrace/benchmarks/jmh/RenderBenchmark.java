package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.benchmarks.floor.ByHand;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.WorkSource;
import dev.millrace.store.postgres.PostgresStore;
import java.sql.Connection;
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

/**
 * The library's statement against the same SQL by hand. In one transaction, which is rolled back, so that no commit hides
 * the difference.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 25)
@Measurement(iterations = 25)
public class RenderBenchmark {
    private static final int CALLS = 20;
    private static final int BEATS = 50;

    /** A filled table, a transaction, and the statements. */
    @State(Scope.Benchmark)
    public static class Statements {
        /** How many jobs there are. */
        @Param("200000")
        public int rows;

        JmhServer server;
        BenchDatabase database;
        Connection connection;
        CostWatch costs;
        WorkSource work;
        Claimer claimer;
        List<Attempt> attempts;
        ByHand claim;
        ByHand beat;

        /** Connects, and listens to the library once. */
        @Setup(Level.Trial)
        public void open(BenchmarkParams params) throws SQLException {
            server = new JmhServer();
            database = FilledTable.of(server, rows);
            costs = new CostWatch(database, params);
            PostgresStore store = PostgresStore.on(database.unpooled(), BenchDatabase.SCHEMA);
            attempts = new Claimer(store.work(), JobTable.KINDS)
                    .claim(BEATS).stream().map(Claim::attempt).toList();
            connection = database.unpooled().getConnection();
            connection.setAutoCommit(false);
            claim = ByHand.like(connection, same -> new Claimer(store.in(same).work(), JobTable.KINDS).claim(1));
            beat = ByHand.like(connection, same -> store.in(same).work().beat(attempts));
            work = store.in(connection).work();
            claimer = new Claimer(work, JobTable.KINDS);
        }

        /** Clears away what was rolled back. */
        @Setup(Level.Iteration)
        public void vacuum() throws SQLException {
            database.execute("VACUUM (INDEX_CLEANUP ON) " + BenchDatabase.JOBS);
            costs.begin();
        }

        /** Looks at what it cost, and undoes it. */
        @TearDown(Level.Iteration)
        public void rollback() throws SQLException {
            costs.end(CALLS);
            connection.rollback();
        }

        /** Leaves the table as it was. */
        @TearDown(Level.Trial)
        public void close() throws SQLException {
            connection.close();
            JobTable.unclaim(database);
            server.close();
        }
    }

    /** The library claims. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void claimTyped(Statements statements, Costs costs) {
        statements.costs.into(costs);
        for (int call = 0; call < CALLS; call++) {
            statements.claimer.claim(1);
        }
    }

    /** The same SQL by hand. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void claimByHand(Statements statements, Costs costs) throws SQLException {
        statements.costs.into(costs);
        for (int call = 0; call < CALLS; call++) {
            statements.claim.executeWithTokens(statements.connection, 1);
        }
    }

    /** The library beats for 50 jobs. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void heartbeatTyped(Statements statements, Costs costs) {
        statements.costs.into(costs);
        for (int call = 0; call < CALLS; call++) {
            statements.work.beat(statements.attempts);
        }
    }

    /** The same SQL by hand. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void heartbeatByHand(Statements statements, Costs costs) throws SQLException {
        statements.costs.into(costs);
        for (int call = 0; call < CALLS; call++) {
            statements.beat.execute(statements.connection, BEATS);
        }
    }
}
