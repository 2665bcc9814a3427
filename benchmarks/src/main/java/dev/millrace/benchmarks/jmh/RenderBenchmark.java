package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
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
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * The library's statement against the same SQL by hand. In transactions of {@value #IN_ONE} calls, which are rolled back, so
 * that no commit hides the difference, and no long trail of versions that a transaction can't clear away behind itself.
 */
public class RenderBenchmark extends SingleCalls {
    private static final int IN_ONE = 10;
    private static final int BEATS = 50;

    /** One call. */
    @FunctionalInterface
    interface Call {
        /** {@return for how many jobs it was done} */
        int make() throws SQLException;
    }

    /** A filled table, a transaction, and the statements. */
    @State(Scope.Benchmark)
    public static class Statements {
        /** How many jobs there are. */
        @Param("200000")
        public int rows;

        Place place;
        Connection connection;
        WorkSource work;
        Claimer claimer;
        List<Attempt> attempts;
        ByHand claim;
        ByHand beat;

        /** Connects, and listens to the library once. */
        @Setup(Level.Trial)
        public void open(BenchmarkParams params) throws SQLException {
            place = Place.filled(rows, params);
            PostgresStore store = place.store;
            attempts = new Claimer(store.work(), JobTable.KINDS)
                    .claim(BEATS).stream().map(Claim::attempt).toList();
            connection = place.pool.getConnection();
            connection.setAutoCommit(false);
            claim = ByHand.like(connection, same -> new Claimer(store.in(same).work(), JobTable.KINDS).claim(1));
            beat = ByHand.like(connection, same -> store.in(same).work().beat(attempts));
            work = store.in(connection).work();
            claimer = new Claimer(work, JobTable.KINDS);
        }

        /** Clears away what was rolled back. */
        @Setup(Level.Iteration)
        public void vacuum() throws SQLException {
            place.database.execute("VACUUM (INDEX_CLEANUP ON) " + BenchDatabase.JOBS);
            place.costs.begin(connection);
        }

        int make(int expected, Costs costs, Call call) throws SQLException {
            place.costs.into(costs);
            int done = 0;
            for (int from = 0; from < CALLS; from += IN_ONE) {
                for (int number = 0; number < IN_ONE; number++) {
                    done += call.make();
                }
                connection.rollback();
            }
            if (done != CALLS * expected) {
                throw new CheckFailedException("Of " + CALLS * expected + " jobs it was done for " + done);
            }
            return done;
        }

        /** Looks at what it cost. */
        @TearDown(Level.Iteration)
        public void look() throws SQLException {
            place.costs.end(CALLS, connection);
        }

        /** Leaves the table as it was. */
        @TearDown(Level.Trial)
        public void close() throws SQLException {
            connection.close();
            JobTable.unclaim(place.database);
            place.close();
        }
    }

    /** The library claims. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int claimTyped(Statements statements, Costs costs) throws SQLException {
        return statements.make(1, costs, () -> statements.claimer.claim(1).size());
    }

    /** The same SQL by hand. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int claimByHand(Statements statements, Costs costs) throws SQLException {
        return statements.make(1, costs, () -> {
            statements.claim.executeWithTokens(statements.connection, 1); // or fails
            return 1;
        });
    }

    /** The library beats for 50 jobs. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int heartbeatTyped(Statements statements, Costs costs) throws SQLException {
        return statements.make(BEATS, costs, () -> HeartbeatBenchmark.held(statements.work, statements.attempts));
    }

    /** The same SQL by hand. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int heartbeatByHand(Statements statements, Costs costs) throws SQLException {
        return statements.make(BEATS, costs, () -> {
            statements.beat.execute(statements.connection, BEATS); // or fails
            return BEATS;
        });
    }
}
