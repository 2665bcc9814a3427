package dev.millrace.benchmarks.load;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.benchmarks.Quantiles;
import dev.millrace.benchmarks.Results;
import dev.millrace.benchmarks.ServerStatistics;
import dev.millrace.store.postgres.PostgresStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Claims jobs of a filled table for a worker that has handlers for all kinds, sees what that costs, and puts them back. */
final class ClaimProbe {
    private final BenchDatabase database;
    private final HikariDataSource pool;
    private final Claimer claimer;
    private final List<Cost> costs = new ArrayList<>();
    private long first;

    /** By one connection, so that all claims are made in the session whose plans they share. */
    private ClaimProbe(BenchDatabase database, HikariDataSource pool) {
        this.database = database;
        this.pool = pool;
        this.claimer = new Claimer(PostgresStore.on(pool, BenchDatabase.SCHEMA).work(), JobTable.KINDS);
    }

    /** {@return one whose session plans as it likes} */
    static ClaimProbe of(BenchDatabase database) {
        return new ClaimProbe(database, database.pool(1));
    }

    /**
     * {@return one whose session plans as it is told}
     *
     * @param mode {@code custom} or {@code generic}
     */
    static ClaimProbe of(BenchDatabase database, String mode) {
        return new ClaimProbe(database, database.pool(1, "SET plan_cache_mode = force_" + mode + "_plan"));
    }

    /**
     * What one call costs.
     *
     * @param micros the median of their times, commits included
     * @param serverMicros how long the server planned and executed them, on average, without the commit
     * @param planMicros how long it planned them
     * @param buffers pages touched by executing them, on average
     * @param planBuffers pages touched by planning them, on average
     * @param walBytes without full-page images, on average
     */
    private record Cost(
            double micros,
            double serverMicros,
            double planMicros,
            double buffers,
            double planBuffers,
            double walBytes) {}

    /**
     * Claims some jobs several times; how they are planned is looked at in the first half of these, since the server adds
     * what planning touches to what the execution does.
     *
     * @param times twice, at least
     * @param counts whether its cost is kept; else it is a warm-up
     */
    void claim(int limit, int times, boolean counts) throws SQLException {
        List<String> head = head(limit * times);
        ServerStatistics statistics = database.statistics();
        String before = statistics.walPosition();
        List<Double> micros = new ArrayList<>();
        List<String> claimed = new ArrayList<>();
        ServerStatistics.Statements planned = claim(limit, times / 2, true, micros, claimed);
        ServerStatistics.Statements executed = claim(limit, times - times / 2, false, micros, claimed);
        ServerStatistics.Wal wal = statistics.walSince(before);
        count(head, claimed);
        JobTable.unclaim(database);
        if (counts) {
            double buffers = (double) executed.buffers() / executed.calls();
            costs.add(new Cost(
                    Quantiles.of(micros).median(),
                    1_000 * (planned.millis() + planned.planMillis()) / planned.calls(),
                    1_000 * planned.planMillis() / planned.calls(),
                    buffers,
                    (double) planned.buffers() / planned.calls() - buffers,
                    (double) wal.bytes() / times));
        }
    }

    private ServerStatistics.Statements claim(
            int limit, int times, boolean trackPlanning, List<Double> micros, List<String> claimed)
            throws SQLException {
        try (Connection connection = pool.getConnection()) {
            ServerStatistics.trackPlanning(connection, trackPlanning);
        }
        database.statistics().resetStatements();
        for (int time = 0; time < times; time++) {
            long began = System.nanoTime();
            var claims = claimer.claim(limit);
            micros.add((System.nanoTime() - began) / 1e3);
            claims.forEach(claim -> claimed.add(claim.job().id()));
        }
        return database.statistics().statements("%skip locked%");
    }

    /** The jobs that are first in the queue, in its order. */
    private List<String> head(int jobs) throws SQLException {
        return List.of(database.text(
                        "SELECT string_agg(operation_id, ' ' ORDER BY queue_visible_at, operation_id) FROM (SELECT"
                                + " operation_id, queue_visible_at FROM " + BenchDatabase.JOBS
                                + " WHERE status = 'Queued'"
                                + " ORDER BY queue_visible_at, operation_id LIMIT ?) AS head",
                        jobs)
                .split(" ", -1));
    }

    private void count(List<String> head, List<String> claimed) {
        for (int at = 0; at < Math.min(head.size(), claimed.size()); at++) {
            first += claimed.get(at).equals(head.get(at)) ? 1 : 0;
        }
    }

    /** Keeps the costs so far, and begins anew. */
    void keep(Results results, Map<String, String> of) {
        add(results, "claim time", of, "us", Cost::micros);
        add(results, "claim server time", of, "us", Cost::serverMicros);
        add(results, "claim planning", of, "us", Cost::planMicros);
        add(results, "claim buffers", of, "pages", Cost::buffers);
        add(results, "claim planning buffers", of, "pages", Cost::planBuffers);
        add(results, "claim WAL", of, "bytes", Cost::walBytes);
        costs.clear();
    }

    private void add(Results results, String name, Map<String, String> of, String unit, ToDoubleFunction<Cost> value) {
        results.add(name, of, unit, costs.stream().map(value::applyAsDouble).toList());
    }

    /** {@return how many jobs claims have got, each in its place: the first of the queue, in its order; counted anew from now on} */
    long takeFirst() {
        long taken = first;
        first = 0;
        return taken;
    }
}
