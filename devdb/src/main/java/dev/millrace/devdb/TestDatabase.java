package dev.millrace.devdb;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The database of one test class: an empty, migrated schema. See {@link MillraceDatabase}. Instances can be shared
 * between threads.
 */
public final class TestDatabase {

    private static final int POOL_SIZE = 10;
    private static final long POOL_TIMEOUT_MILLIS = 10_000;

    private final DevDatabase server;
    private final Database database;
    private final Database asAdmin;
    private final String schema;
    private final Runnable drop;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable HikariDataSource pool;

    TestDatabase(DevDatabase server, Database database, Database asAdmin, String schema, Runnable drop) {
        this.server = server;
        this.database = database;
        this.asAdmin = asAdmin;
        this.schema = schema;
        this.drop = drop;
    }

    /** {@return the schema that was migrated} */
    public String schema() {
        return schema;
    }

    /** {@return the JDBC URL of the class's database} */
    public String jdbcUrl() {
        return database.jdbcUrl();
    }

    /**
     * {@return the user to connect as: the server's, or with {@code millrace.devdb.role} one that owns the schema and no
     * more}
     */
    public String user() {
        return database.user();
    }

    /** {@return the user's password} */
    public String password() {
        return database.password();
    }

    /** {@return a HikariCP pool of up to 10 connections, made at the first call and closed after the class} */
    public DataSource dataSource() {
        lock.lock();
        try {
            if (pool == null) {
                HikariConfig config = new HikariConfig();
                config.setPoolName("test-" + database.name());
                config.setDataSource(database.dataSource());
                config.setMaximumPoolSize(POOL_SIZE);
                config.setMinimumIdle(0);
                config.setConnectionTimeout(POOL_TIMEOUT_MILLIS);
                pool = new HikariDataSource(config);
            }
            return pool;
        } finally {
            lock.unlock();
        }
    }

    /** {@return a data source whose connections are new each time, for tests that look at sessions or break them} */
    public DataSource unpooledDataSource() {
        return database.dataSource();
    }

    /**
     * {@return an unpooled data source for the server's user, for what tests need beyond the schema: creating a role,
     * ending the sessions of others}
     */
    public DataSource adminDataSource() {
        return asAdmin.dataSource();
    }

    /**
     * {@return an unpooled data source for another user; a container and a given server check the password}
     *
     * @param user any role of the server
     * @param password its password
     */
    public DataSource unpooledDataSource(String user, String password) {
        return database.dataSource(user, password);
    }

    /** {@return the server, which other classes use at the same time: don't stop it} */
    public DevDatabase server() {
        return server;
    }

    /** Closes the pool and drops the database, or the schema. */
    void close() {
        lock.lock();
        try {
            if (pool != null) {
                pool.close();
            }
        } finally {
            lock.unlock();
        }
        drop.run();
    }
}
