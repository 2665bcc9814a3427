package dev.millrace.benchmarks.jmh;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.Payloads;
import dev.millrace.job.JobType;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Submissions, in transactions of the library's own and in the caller's, whose commit counts. Numbers are those of a call. */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 25)
@Measurement(iterations = 25)
public class SubmitBenchmark {
    private static final JobType<Payload> TYPE = JobType.of("submitted", Payload.class);

    /** 100 bytes or so. */
    record Payload(String input) {}

    /** A table that is empty before each iteration. */
    @State(Scope.Benchmark)
    public static class Table {
        /** How many jobs in a call. */
        @Param({"1", "100", "10000"})
        public int submitted;

        /** Whose transaction. */
        @Param({"own", "callers"})
        public String transaction;

        JmhServer server;
        BenchDatabase database;
        HikariDataSource pool;
        CostWatch costs;
        Millrace millrace;
        List<Payload> payloads;

        /** Connects. */
        @Setup(Level.Trial)
        public void open(BenchmarkParams params) throws SQLException {
            server = new JmhServer();
            database = server.database("jmh_submit").migrate();
            pool = database.pool(1);
            costs = new CostWatch(database, params);
            millrace = Millrace.on(pool);
            payloads = Collections.nCopies(submitted, new Payload(Payloads.noise(80)));
        }

        /** Empties the table. */
        @Setup(Level.Iteration)
        public void empty() throws SQLException {
            database.execute("TRUNCATE " + BenchDatabase.JOBS);
            costs.begin();
        }

        /** Looks whether all are there, and at what it cost. */
        @TearDown(Level.Iteration)
        public void look() throws SQLException {
            costs.end(1);
            if (database.jobs("Queued") != submitted) {
                throw new CheckFailedException("Of " + submitted + " jobs " + database.jobs("Queued") + " are there");
            }
        }

        /** Disconnects. */
        @TearDown(Level.Trial)
        public void close() {
            pool.close();
            server.close();
        }
    }

    /** Submits jobs. */
    @Benchmark
    public Object submit(Table table, Costs costs) throws SQLException {
        table.costs.into(costs);
        if (table.transaction.equals("own")) {
            return table.submitted == 1
                    ? table.millrace.submit(TYPE, table.payloads.get(0))
                    : table.millrace.submitAll(TYPE, table.payloads);
        }
        try (Connection connection = table.pool.getConnection()) {
            connection.setAutoCommit(false);
            Object submitted = table.submitted == 1
                    ? table.millrace.in(connection).submit(TYPE, table.payloads.get(0))
                    : table.millrace.in(connection).submitAll(TYPE, table.payloads);
            connection.commit();
            return submitted;
        }
    }
}
