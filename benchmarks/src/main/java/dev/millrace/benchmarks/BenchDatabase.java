package dev.millrace.benchmarks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.devdb.Database;
import dev.millrace.devdb.DevDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** A database on the server that is measured on, with pools that are closed, and what a benchmark asks it beside what it measures. */
public final class BenchDatabase implements AutoCloseable {
    /** Where Millrace's tables are. */
    public static final String SCHEMA = Millrace.DEFAULT_SCHEMA;

    /** Millrace's table of jobs, as it stands in SQL. */
    public static final String JOBS = SCHEMA + ".execution_jobs";

    private final Database database;
    private final List<HikariDataSource> pools = new ArrayList<>();

    BenchDatabase(Database database) {
        this.database = database;
    }

    /**
     * {@return a database of that name, made if it is not there, for several JVMs; who closes it, drops it}
     *
     * @param server where it is
     * @param name its name
     */
    public static BenchDatabase shared(DevDatabase server, String name) throws SQLException {
        boolean there = number(server.dataSource(), "SELECT count(*) FROM pg_database WHERE datname = ?", name) == 1;
        return new BenchDatabase(there ? server.database(name) : server.createDatabase(name));
    }

    /** {@return its JDBC URL} */
    public String jdbcUrl() {
        return database.jdbcUrl();
    }

    /** {@return the user to connect as} */
    public String user() {
        return database.user();
    }

    /** {@return that user's password} */
    public String password() {
        return database.password();
    }

    /** {@return a data source whose connections are new each time} */
    public DataSource unpooled() {
        return database.dataSource();
    }

    /**
     * {@return a new pool of that many connections, all of them open; closed with this database, or before}
     *
     * @param size how many connections
     */
    public HikariDataSource pool(int size) {
        return pool(size, "SELECT 1");
    }

    /**
     * {@return the same, each of whose connections has run that first}
     *
     * @param size how many connections
     * @param first such as {@code SET plan_cache_mode = force_generic_plan}
     */
    public HikariDataSource pool(int size, String first) {
        HikariConfig config = new HikariConfig();
        config.setConnectionInitSql(first);
        config.setJdbcUrl(jdbcUrl());
        config.setUsername(user());
        config.setPassword(password());
        config.setMaximumPoolSize(size);
        HikariDataSource pool = new HikariDataSource(config);
        pools.add(pool);
        return pool;
    }

    /** Makes Millrace's tables. */
    public BenchDatabase migrate() {
        Millrace.on(unpooled()).migrate();
        return this;
    }

    /** Runs statements, one after the other, each in a transaction of its own. */
    public void execute(String... statements) throws SQLException {
        try (Connection connection = unpooled().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    /** {@return the one number that a query returns} */
    public long number(String sql, Object... parameters) throws SQLException {
        return number(unpooled(), sql, parameters);
    }

    private static long number(DataSource source, String sql, Object... parameters) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement statement = prepare(connection, sql, parameters);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** {@return the one text that a query returns, such as a setting} */
    public String text(String sql, Object... parameters) throws SQLException {
        try (Connection connection = unpooled().getConnection();
                PreparedStatement statement = prepare(connection, sql, parameters);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return String.valueOf(rows.getString(1));
        }
    }

    private static PreparedStatement prepare(Connection connection, String sql, Object... parameters)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int at = 0; at < parameters.length; at++) {
            statement.setObject(at + 1, parameters[at]);
        }
        return statement;
    }

    /** {@return how many of Millrace's jobs have this status} */
    public long jobs(String status) throws SQLException {
        return number("SELECT count(*) FROM " + JOBS + " WHERE status = ?", status);
    }

    /** Clears dead jobs away and looks at what is there, so that what is measured next does not pay for what was before. */
    public void settle() throws SQLException {
        execute("VACUUM ANALYZE " + JOBS, "CHECKPOINT");
    }

    /** {@return what the server counts of this database} */
    public ServerStatistics statistics() {
        return new ServerStatistics(this);
    }

    /** Closes its pools, and drops it. */
    @Override
    public void close() {
        pools.forEach(HikariDataSource::close);
        pools.clear();
        database.drop();
    }
}
