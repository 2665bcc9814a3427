package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.ServerStatistics;
import dev.millrace.benchmarks.ThreadCosts;
import java.sql.Connection;
import java.sql.SQLException;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Finds out what an iteration has cost: the server says its part. */
final class CostWatch {
    private final ServerStatistics statistics;
    private final int iterations;
    private String position = "";
    private ServerStatistics.TableChanges before = new ServerStatistics.TableChanges(0, 0, 0);
    private long allocated;
    private Costs costs = new Costs();

    /**
     * @param params of the benchmark, whose iterations JMH adds up
     */
    CostWatch(BenchDatabase database, BenchmarkParams params) {
        this.statistics = database.statistics();
        this.iterations = params.getMeasurement().getCount();
    }

    /**
     * What comes from now on counts.
     *
     * @param session by which the calls are made
     */
    void begin(Connection session) throws SQLException {
        before = changes(session);
        statistics.resetStatements();
        position = statistics.walPosition();
    }

    /** Where JMH looks for the numbers. To be called first in the iteration, by the thread that makes the calls. */
    void into(Costs counters) {
        costs = counters;
        allocated = ThreadCosts.allocatedBytes();
    }

    /**
     * What came until now counts, for that many calls.
     *
     * @param session by which the calls were made, with no transaction open
     */
    void end(int calls, Connection session) throws SQLException {
        double all = (double) calls * iterations;
        costs.allocatedPerCall = (ThreadCosts.allocatedBytes() - allocated) / all;
        ServerStatistics.Statements statements = statistics.statements("%execution_jobs%");
        if (statements.calls() == 0) {
            throw new CheckFailedException("The server has seen no statement of this benchmark");
        }
        costs.buffersPerCall = statements.buffers() / all;
        costs.walPerCall = statistics.walSince(position).bytes() / all;
        ServerStatistics.TableChanges after = changes(session);
        costs.updatesPerCall = (after.updates() - before.updates()) / all;
        costs.heapOnlyPerCall = (after.heapOnly() - before.heapOnly()) / all;
        costs.deadPerCall = (after.deadRows() - before.deadRows()) / all;
    }

    private ServerStatistics.TableChanges changes(Connection session) throws SQLException {
        ServerStatistics.flush(session);
        return statistics.changes(BenchDatabase.JOBS);
    }
}
