package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.store.Dimension;
import dev.millrace.store.JobPage;
import dev.millrace.store.JobQuery;
import dev.millrace.store.JobStore;
import dev.millrace.types.JobStatus;
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

/** Pages of 50 jobs, newest first. */
public class QueryBenchmark extends SingleCalls {
    /** A filled table, and what is asked of it. */
    @State(Scope.Benchmark)
    public static class Table {
        /** How many jobs there are. */
        @Param("200000")
        public int rows;

        /** Which jobs. */
        @Param({"all", "status", "kind", "active", "requester"})
        public String filter;

        /** Which page. */
        @Param({"1", "2"})
        public int page;

        Place place;
        JobStore jobs;
        JobQuery query;

        /** Connects, and goes to the page. */
        @Setup(Level.Trial)
        public void open(BenchmarkParams params) throws SQLException {
            place = Place.filled(rows, params);
            jobs = place.store.jobs();
            query = query();
            for (int at = 1; at < page; at++) {
                query = query.after(jobs.query(query).next().orElseThrow());
            }
        }

        private JobQuery query() {
            return switch (filter) {
                case "all" -> JobQuery.ALL;
                case "status" -> JobQuery.ALL.withStatuses(JobStatus.FAILED);
                case "kind" -> JobQuery.ALL.withKind("kind-3");
                case "active" -> JobQuery.ALL.active();
                case "requester" -> JobQuery.ALL.with(Dimension.REQUESTED_BY, "user-1");
                default -> throw new IllegalArgumentException("There is no filter " + filter);
            };
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

        /** Disconnects. */
        @TearDown(Level.Trial)
        public void close() {
            place.close();
        }
    }

    /** Reads a page. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public int query(Table table, Costs costs) {
        table.place.costs.into(costs);
        int read = 0;
        for (int call = 0; call < CALLS; call++) {
            JobPage page = table.jobs.query(table.query);
            if (page.jobs().size() != JobQuery.DEFAULT_LIMIT) {
                throw new CheckFailedException("A page had " + page.jobs().size() + " jobs");
            }
            read += page.jobs().size();
        }
        return read;
    }
}
