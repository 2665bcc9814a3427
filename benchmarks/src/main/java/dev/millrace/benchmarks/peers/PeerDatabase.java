package dev.millrace.benchmarks.peers;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;

/**
 * Where the database of a contender is, for its processes.
 *
 * @param url of JDBC
 * @param user to connect as
 * @param password that user's
 */
record PeerDatabase(String url, String user, String password) {
    static final String URL = "MILLRACE_BENCH_URL";
    static final String USER = "MILLRACE_BENCH_USER";
    static final String PASSWORD = "MILLRACE_BENCH_PASSWORD";

    /** Beside its handlers each worker gets as many connections, which is more than any of them uses. */
    static final int SPARE_CONNECTIONS = 8;

    static PeerDatabase of(Map<String, String> environment) {
        return new PeerDatabase(
                environment.getOrDefault(URL, ""),
                environment.getOrDefault(USER, ""),
                environment.getOrDefault(PASSWORD, ""));
    }

    /** For a worker of that concurrency. */
    HikariDataSource workerPool(int concurrency) throws SQLException {
        return pool(concurrency + SPARE_CONNECTIONS);
    }

    /** A pool whose connections are all open when this returns, so that no contender's start pays for that. */
    HikariDataSource pool(int size) throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(size);
        HikariDataSource pool = new HikariDataSource(config);
        Deque<Connection> open = new ArrayDeque<>();
        try {
            while (open.size() < size) {
                open.push(pool.getConnection());
            }
        } finally {
            while (!open.isEmpty()) {
                open.pop().close();
            }
        }
        return pool;
    }
}
