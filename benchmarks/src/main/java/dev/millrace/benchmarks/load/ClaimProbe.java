package dev.millrace.benchmarks.load;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.benchmarks.Quantiles;
import dev.millrace.benchmarks.ServerStatistics;
import dev.millrace.store.postgres.PostgresStore;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import javax.sql.DataSource;

/** Claims jobs of a filled table, sees what that costs, and puts them back. */
final class ClaimProbe {
    private final BenchDatabase database;
    private final Claimer claimer;

    /** By one connection, so that all claims are made in the session whose plans they share. */
    ClaimProbe(BenchDatabase database, DataSource pool, List<String> kinds) {
        this.database = database;
        this.claimer = new Claimer(PostgresStore.on(pool, BenchDatabase.SCHEMA).work(), kinds);
    }

    /**
     * What one call costs.
     *
     * @param micros the median of their times, commits included
     * @param serverMicros how long the server executed them, on average, without the commit
     * @param buffers pages touched, on average
     * @param walBytes without full-page images, on average
     */
    record Cost(double micros, double serverMicros, double buffers, double walBytes) {}

    /**
     * Claims some jobs several times.
     *
     * @throws CheckFailedException if it got others than those that are first in the queue, or in another order
     */
    Cost claim(int limit, int times) throws SQLException {
        ServerStatistics statistics = database.statistics();
        statistics.resetStatements();
        String before = statistics.walPosition();
        List<Double> micros = new ArrayList<>();
        List<String> claimed = new ArrayList<>();
        for (int time = 0; time < times; time++) {
            long began = System.nanoTime();
            var claims = claimer.claim(limit);
            micros.add((System.nanoTime() - began) / 1e3);
            claims.forEach(claim -> claimed.add(claim.job().id()));
        }
        ServerStatistics.Wal wal = statistics.walSince(before);
        ServerStatistics.Statements statements = statistics.statements("%skip locked%");
        long head = database.number(
                "SELECT count(*) FROM (SELECT operation_id FROM " + BenchDatabase.JOBS
                        + " WHERE status IN ('Queued', 'Provisioning') ORDER BY queue_visible_at, operation_id LIMIT ?)"
                        + " AS head JOIN " + BenchDatabase.JOBS + " USING (operation_id) WHERE status = 'Provisioning'",
                claimed.size());
        check(claimed, head);
        JobTable.unclaim(database);
        return new Cost(
                Quantiles.of(micros).median(),
                1_000 * statements.millis() / statements.calls(),
                (double) statements.buffers() / statements.calls(),
                (double) wal.bytes() / times);
    }

    /** Where a claim names one kind, others stand between those that it gets: then only the order is looked at. */
    private void check(List<String> claimed, long head) {
        if (!claimed.stream().sorted(Comparator.naturalOrder()).toList().equals(claimed)) {
            throw new CheckFailedException("Claims came in another order than the queue's: " + claimed);
        }
        if (claimer.takesAll(JobTable.KINDS) && head != claimed.size()) {
            throw new CheckFailedException(
                    "Of the first " + claimed.size() + " in the queue, " + head + " were claimed");
        }
    }
}
