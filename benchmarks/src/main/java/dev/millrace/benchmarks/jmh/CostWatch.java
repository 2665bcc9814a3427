package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.ServerStatistics;
import dev.millrace.benchmarks.ThreadCosts;
import java.sql.SQLException;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Finds out what an iteration has cost: the server says its part. */
final class CostWatch {
    private final ServerStatistics statistics;
    private final int iterations;
    private String position = "";
    private long allocated;
    private Costs costs = new Costs();

    /**
     * @param params of the benchmark, whose iterations JMH adds up
     */
    CostWatch(BenchDatabase database, BenchmarkParams params) {
        this.statistics = database.statistics();
        this.iterations = params.getMeasurement().getCount();
    }

    /** What comes from now on counts. */
    void begin() throws SQLException {
        statistics.resetStatements();
        position = statistics.walPosition();
    }

    /** Where JMH looks for the numbers. To be called first in the iteration, by the thread that makes the calls. */
    void into(Costs counters) {
        costs = counters;
        allocated = ThreadCosts.allocatedBytes();
    }

    /** What came until now counts, for that many calls. */
    void end(int calls) throws SQLException {
        costs.allocatedPerCall = (double) (ThreadCosts.allocatedBytes() - allocated) / calls / iterations;
        ServerStatistics.Statements all = statistics.statements("%execution_jobs%");
        if (all.calls() == 0) {
            throw new CheckFailedException("The server has seen no statement of this benchmark");
        }
        costs.buffersPerCall = (double) all.buffers() / calls / iterations;
        costs.walPerCall = (double) statistics.walSince(position).bytes() / calls / iterations;
    }
}
