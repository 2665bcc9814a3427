package dev.millrace.benchmarks.load;

import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Jobs that were submitted since some moment and have ended, in ten parts of equal numbers, by the server's clock. */
final class Tenths {
    private static final int COUNT = 10;

    private static final String QUERY = """
            WITH jobs AS (
              SELECT completed_at, created_at, ntile(10) OVER (ORDER BY completed_at) AS by_end,
                ntile(10) OVER (ORDER BY created_at) AS by_submission
              FROM %s WHERE created_at >= ?::timestamptz AND completed_at IS NOT NULL),
            ends AS (
              SELECT by_end AS tenth, count(*) AS jobs, extract(epoch FROM max(completed_at) - ?::timestamptz) AS ended
              FROM jobs GROUP BY by_end),
            waits AS (
              SELECT by_submission AS tenth, 1000 * percentile_cont(0.5) WITHIN GROUP (
                ORDER BY extract(epoch FROM completed_at - created_at)::float8) AS waited
              FROM jobs GROUP BY by_submission)
            SELECT tenth, jobs, ended, waited FROM ends JOIN waits USING (tenth) ORDER BY tenth
            """.formatted(BenchDatabase.JOBS);

    private final long[] jobs = new long[COUNT + 1];
    private final double[] ended = new double[COUNT + 1];
    private final double[] waited = new double[COUNT + 1];

    private Tenths() {}

    /**
     * {@return these}
     *
     * @param database where
     * @param began when the first one was about to be submitted
     * @param expected how many there have to be
     */
    static Tenths since(BenchDatabase database, String began, long expected) throws SQLException {
        Tenths tenths = new Tenths();
        long found = 0;
        try (Connection connection = database.unpooled().getConnection();
                PreparedStatement query = connection.prepareStatement(QUERY)) {
            query.setString(1, began);
            query.setString(2, began);
            try (ResultSet rows = query.executeQuery()) {
                while (rows.next()) {
                    int tenth = rows.getInt(1);
                    tenths.jobs[tenth] = rows.getLong(2);
                    tenths.ended[tenth] = rows.getDouble(3);
                    tenths.waited[tenth] = rows.getDouble(4);
                    found += rows.getLong(2);
                }
            }
        }
        if (found != expected) {
            throw new CheckFailedException("Of " + expected + " jobs " + found + " have ended since " + began);
        }
        return tenths;
    }

    /** {@return how many ended a second in a tenth, from the last end of the tenth before to its own last end} */
    double rate(int tenth) {
        return jobs[tenth] / (ended[tenth] - ended[tenth - 1]);
    }

    /** {@return how many ended a second in the other nine together} */
    double rateWithoutFirst() {
        long sum = 0;
        for (int tenth = 2; tenth <= COUNT; tenth++) {
            sum += jobs[tenth];
        }
        return sum / (ended[COUNT] - ended[1]);
    }

    /** {@return how long half of those that were submitted in a tenth took from submission to end} */
    double waitedMillis(int tenth) {
        return waited[tenth];
    }
}
