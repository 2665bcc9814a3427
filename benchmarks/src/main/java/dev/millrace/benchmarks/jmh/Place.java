package dev.millrace.benchmarks.jmh;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.store.postgres.PostgresStore;
import java.sql.Connection;
import java.sql.SQLException;
import org.openjdk.jmh.infra.BenchmarkParams;

/** Where calls are made, by one connection, and what finds out what they cost. */
final class Place implements AutoCloseable {
    final BenchDatabase database;
    final HikariDataSource pool;
    final PostgresStore store;
    final CostWatch costs;
    private final JmhServer server;

    private Place(JmhServer server, BenchDatabase database, BenchmarkParams params) {
        this.server = server;
        this.database = database;
        pool = database.pool(1, "SET pg_stat_statements.track_planning = on");
        store = PostgresStore.on(pool, BenchDatabase.SCHEMA);
        costs = new CostWatch(database, params);
    }

    /** {@return one with a table of that many jobs, filled by the first benchmark of a run that needs it} */
    static Place filled(int rows, BenchmarkParams params) throws SQLException {
        JmhServer server = new JmhServer();
        BenchDatabase database = server.database("jmh_" + rows).migrate();
        JobTable.Filling filling = filling(rows);
        if (database.number("SELECT count(*) FROM " + BenchDatabase.JOBS) != filling.total()) {
            JobTable.load(database, filling, 100);
        }
        return new Place(server, database, params);
    }

    /** {@return one without jobs} */
    static Place empty(BenchmarkParams params) throws SQLException {
        JmhServer server = new JmhServer();
        BenchDatabase database = server.database("jmh_empty").migrate();
        JobTable.load(database, new JobTable.Filling(0, 0, 0), 100);
        return new Place(server, database, params);
    }

    private static JobTable.Filling filling(int rows) {
        int queued = switch (rows) {
            case 200_000 -> 11_400;
            case 1_000_000 -> 100_000;
            default -> rows / 2;
        };
        int running = Math.min(400, rows / 10);
        return new JobTable.Filling(rows - queued - running, running, queued);
    }

    /** What comes from now on counts. */
    void begin() throws SQLException {
        try (Connection session = pool.getConnection()) {
            costs.begin(session);
        }
    }

    /** What came until now counts, for that many calls. */
    void end(int calls) throws SQLException {
        try (Connection session = pool.getConnection()) {
            costs.end(calls, session);
        }
    }

    /** Disconnects; the database stays for the benchmarks that follow. */
    @Override
    public void close() {
        pool.close();
        server.close();
    }
}
