package dev.millrace.db;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * One connection of the caller's, in one transaction, that Flyway takes for as many connections as it likes.
 *
 * <p>Flyway works on two connections: one holds the lock and writes the history, the other migrates. A process that
 * dies between their commits leaves a migration without its history entry, which no later run can mend; and a pool of
 * one can't serve it. Here all of its connections are views of a single one. Their commits are left to
 * {@link #commit()}, so that the lock, the migration and the history entry stand or fall together, and what is set
 * ({@code lock_timeout}, {@code search_path}, {@code role}) ends with the transaction. That also holds behind a
 * transaction pooler. The price: a migration can't hold what refuses to run in a transaction, such as CREATE INDEX
 * CONCURRENTLY.
 *
 * <p>When Flyway rolls back, it is about to fail: from then on {@link #commit()} refuses. The rollback itself is left to
 * {@link #close()}. Until then the database refuses further statements, which is welcome, because Flyway would try to
 * create its history ten times.
 */
final class OneTransaction implements AutoCloseable {

    private final Connection connection;
    private final boolean autoCommitBefore;
    private final Session session;
    private boolean rolledBack;

    /** Where we are, and the settings that Flyway changes for longer than a transaction. */
    private record Session(
            String role,
            String database,
            String encoding,
            String searchPath,
            boolean searchPathIsOwn,
            String roleSetting) {}

    private OneTransaction(Connection connection, boolean readOnly, Duration lockTimeout) throws SQLException {
        this.connection = connection;
        this.autoCommitBefore = connection.getAutoCommit();
        try {
            requirePostgres();
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                // Whoever has waited for its turn must see what the node before it has made; a stricter isolation that
                // the pool or the database prefers would go on showing what was there before.
                statement.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
            }
            if (readOnly) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute("SET TRANSACTION READ ONLY");
                }
            }
            setForTransaction("lock_timeout", lockTimeout.toMillis() + "ms");
            this.session = readSession();
        } catch (SQLException | RuntimeException e) {
            try {
                close();
            } catch (SQLException alsoFailed) {
                e.addSuppressed(alsoFailed);
            }
            throw e;
        }
    }

    static OneTransaction begin(DataSource dataSource, boolean readOnly, Duration lockTimeout) throws SQLException {
        return new OneTransaction(dataSource.getConnection(), readOnly, lockTimeout);
    }

    Connection connection() {
        return connection;
    }

    String role() {
        return session.role();
    }

    String database() {
        return session.database();
    }

    /** The encoding of the database, in which everything in it is kept. */
    String encoding() {
        return session.encoding();
    }

    /** What Flyway is given. Everything that it then does until {@link #commit()} is one step. */
    DataSource forFlyway() {
        return new SharedDataSource();
    }

    void commit() throws SQLException {
        if (rolledBack) {
            throw new SQLException("The transaction was rolled back before it could be committed.");
        }
        restoreSettings();
        connection.commit();
    }

    /** Rolls back what was not committed and gives the connection back as it was. */
    @Override
    public void close() throws SQLException {
        try (connection) {
            if (!connection.isClosed()) {
                if (!connection.getAutoCommit()) {
                    connection.rollback();
                }
                connection.setAutoCommit(autoCommitBefore);
            }
        }
    }

    private void requirePostgres() throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        if (!product.equals("PostgreSQL")) {
            throw new SQLFeatureNotSupportedException(
                    "Millrace needs PostgreSQL, but this is " + product + ".", "0A000");
        }
    }

    private Session readSession() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT current_user, pg_catalog.current_database(),"
                        + " pg_catalog.current_setting('server_encoding'), p.setting, p.source = 'session',"
                        + " pg_catalog.current_setting('role')"
                        + " FROM pg_catalog.pg_settings AS p WHERE p.name = 'search_path'")) {
            row.next();
            return new Session(
                    row.getString(1),
                    row.getString(2),
                    row.getString(3),
                    row.getString(4),
                    row.getBoolean(5),
                    row.getString(6));
        }
    }

    private void restoreSettings() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            // RESET rather than the old value, so that the session goes on to follow its role and database.
            statement.execute("RESET search_path");
            statement.execute("SET ROLE NONE");
        }
        if (session.searchPathIsOwn()) {
            set("search_path", session.searchPath(), false);
        }
        if (!session.roleSetting().equals("none")) {
            set("role", session.roleSetting(), false);
        }
    }

    private void setForTransaction(String name, String value) throws SQLException {
        set(name, value, true);
    }

    private void set(String name, String value, boolean transactionOnly) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT pg_catalog.set_config(?, ?, ?)")) {
            statement.setString(1, name);
            statement.setString(2, value);
            statement.setBoolean(3, transactionOnly);
            statement.execute();
        }
    }

    /** One of the connections that Flyway believes to have. */
    private final class SharedConnection extends ForwardingConnection {

        private boolean autoCommit = true;
        private boolean closed;

        SharedConnection() {
            super(connection);
        }

        @Override
        public void setAutoCommit(boolean autoCommit) {
            this.autoCommit = autoCommit;
        }

        @Override
        public boolean getAutoCommit() {
            return autoCommit;
        }

        @Override
        public void commit() {
            // Left to the transaction that all of them share.
        }

        @Override
        public void rollback() {
            rolledBack = true;
        }

        @Override
        public void close() {
            closed = true;
        }

        @Override
        public void abort(Executor executor) {
            closed = true;
        }

        @Override
        public boolean isClosed() throws SQLException {
            return closed || connection.isClosed();
        }
    }

    private final class SharedDataSource implements DataSource {

        @Override
        public Connection getConnection() {
            return new SharedConnection();
        }

        @Override
        public Connection getConnection(String user, String password) throws SQLException {
            throw new SQLFeatureNotSupportedException("The connection's user is fixed.");
        }

        @Override
        public @Nullable PrintWriter getLogWriter() {
            return null;
        }

        @Override
        public void setLogWriter(PrintWriter out) {}

        @Override
        public void setLoginTimeout(int seconds) {}

        @Override
        public int getLoginTimeout() {
            return 0;
        }

        @Override
        public Logger getParentLogger() throws SQLFeatureNotSupportedException {
            throw new SQLFeatureNotSupportedException("There is no java.util.logging here.");
        }

        @Override
        public <T> T unwrap(Class<T> type) throws SQLException {
            throw new SQLException("This is not a wrapper for " + type.getName() + ".");
        }

        @Override
        public boolean isWrapperFor(Class<?> type) {
            return false;
        }
    }
}
