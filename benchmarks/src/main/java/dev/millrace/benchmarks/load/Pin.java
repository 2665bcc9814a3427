package dev.millrace.benchmarks.load;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** Somebody else's REPEATABLE READ transaction, which stays open; or none, in the same place. */
final class Pin implements AutoCloseable {
    private final BenchDatabase database;
    private final @Nullable Connection connection;
    private final long process;
    private final String horizon;

    private Pin(BenchDatabase database, @Nullable Connection connection, long process) throws SQLException {
        this.database = database;
        this.connection = connection;
        this.process = process;
        this.horizon = xmin();
    }

    /**
     * Begins it.
     *
     * @param database where
     * @param pin whether there is to be one
     */
    static Pin set(BenchDatabase database, boolean pin) throws SQLException {
        if (!pin) {
            return new Pin(database, null, 0);
        }
        Connection connection = database.unpooled().getConnection();
        try {
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(
                            "SELECT pg_backend_pid(), (SELECT count(*) FROM " + BenchDatabase.JOBS + ")")) {
                row.next();
                return new Pin(database, connection, row.getLong(1));
            }
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    private String xmin() throws SQLException {
        return database.text("SELECT (SELECT backend_xmin::text FROM pg_stat_activity WHERE pid = ?)", process);
    }

    /**
     * Makes sure that the horizon is where it was, and far behind; or that no session is as far behind if there is no pin.
     *
     * @param bench whose results
     * @param what when this is
     * @param transactions how many there were since at least
     */
    void check(Bench bench, String what, long transactions) throws SQLException {
        if (connection != null) {
            bench.results().check(what + ": the transaction holds a snapshot", false, horizon.equals("null"));
            bench.results().check(what + ": oldest transaction that it sees as running", horizon, xmin());
        }
        long age = database.number("SELECT coalesce(max(age(backend_xmin)), 0) FROM pg_stat_activity"
                + " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                + " AND backend_type = 'client backend'"); // autovacuum has one as well, for a while
        bench.results()
                .check(
                        what + ": a snapshot is older than " + transactions + " transactions",
                        connection != null,
                        age >= transactions);
    }

    @Override
    public void close() throws SQLException {
        if (connection != null) {
            connection.rollback();
            connection.close();
        }
    }
}
