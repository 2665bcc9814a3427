package dev.millrace.benchmarks.jmh;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.JobTable;
import java.sql.SQLException;

/** Tables of a size, filled by the first benchmark of a run that needs one. */
final class FilledTable {
    private FilledTable() {}

    static BenchDatabase of(JmhServer server, int rows) throws SQLException {
        BenchDatabase database = server.database("jmh_" + rows);
        database.migrate();
        JobTable.Filling filling = filling(rows);
        if (database.number("SELECT count(*) FROM " + BenchDatabase.JOBS) != filling.total()) {
            JobTable.load(database, filling, 100);
        }
        return database;
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
}
