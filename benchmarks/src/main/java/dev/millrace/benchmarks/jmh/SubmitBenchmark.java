package dev.millrace.benchmarks.jmh;

import dev.millrace.Millrace;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.Payloads;
import dev.millrace.job.JobType;
import java.sql.Connection;
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

/** Submissions, in transactions of the library's own and in the caller's, whose commit counts. Numbers are those of a call. */
public class SubmitBenchmark extends SingleCalls {
    private static final JobType<Payload> TYPE = JobType.of("submitted", Payload.class);
    private static final int CALLS_OF_100 = 40;

    /** 100 bytes or so. */
    record Payload(String input) {}

    /** A table that is empty before each iteration. */
    @State(Scope.Benchmark)
    public static class Table {
        /** Whose transaction. */
        @Param({"own", "callers"})
        public String transaction;

        Place place;
        Millrace millrace;
        private int calls;
        private int submitted;

        /** Connects. */
        @Setup(Level.Trial)
        public void open(BenchmarkParams params) throws SQLException {
            place = Place.empty(params);
            millrace = Millrace.on(place.pool);
        }

        /** Empties the table. */
        @Setup(Level.Iteration)
        public void empty() throws SQLException {
            place.database.execute("TRUNCATE " + BenchDatabase.JOBS);
            place.begin();
        }

        int submit(int times, int jobs, Costs costs) throws SQLException {
            List<Payload> payloads = Collections.nCopies(jobs, new Payload(Payloads.noise(80)));
            calls = times;
            submitted = times * jobs;
            place.costs.into(costs);
            int done = 0;
            for (int call = 0; call < times; call++) {
                done += transaction.equals("own") ? inOwn(payloads) : inCallers(payloads);
            }
            return done;
        }

        private int inOwn(List<Payload> payloads) {
            if (payloads.size() > 1) {
                return millrace.submitAll(TYPE, payloads).size();
            }
            millrace.submit(TYPE, payloads.get(0));
            return 1;
        }

        private int inCallers(List<Payload> payloads) throws SQLException {
            try (Connection connection = place.pool.getConnection()) {
                connection.setAutoCommit(false);
                if (payloads.size() > 1) {
                    millrace.in(connection).submitAll(TYPE, payloads);
                } else {
                    millrace.in(connection).submit(TYPE, payloads.get(0));
                }
                connection.commit();
                return payloads.size();
            }
        }

        /** Looks whether all are there, and at what it cost. */
        @TearDown(Level.Iteration)
        public void look() throws SQLException {
            place.end(calls);
            long found = place.database.jobs("Queued");
            if (found != submitted) {
                throw new CheckFailedException("Of " + submitted + " jobs " + found + " are there");
            }
        }

        /** Disconnects. */
        @TearDown(Level.Trial)
        public void close() {
            place.close();
        }
    }

    /** One in a call. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int submit1(Table table, Costs costs) throws SQLException {
        return table.submit(CALLS, 1, costs);
    }

    /** 100 in a call. */
    @Benchmark
    @OperationsPerInvocation(CALLS_OF_100)
    public int submit100(Table table, Costs costs) throws SQLException {
        return table.submit(CALLS_OF_100, 100, costs);
    }

    /** 10,000 in a call; warm as soon as the statements of 1,000 are that it consists of. */
    @Benchmark
    public int submit10000(Table table, Costs costs) throws SQLException {
        return table.submit(1, 10_000, costs);
    }
}
