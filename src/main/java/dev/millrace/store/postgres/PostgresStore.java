package dev.millrace.store.postgres;

import dev.millrace.db.Release;
import dev.millrace.store.JobQueue;
import dev.millrace.store.JobStore;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.store.StoreClock;
import dev.millrace.store.WorkSource;
import java.sql.Connection;
import javax.sql.DataSource;
import org.jooq.Configuration;
import org.jooq.ConnectionProvider;
import org.jooq.impl.DefaultConnectionProvider;

/**
 * The store in one schema of one database: the way to the implementations of the interfaces in {@code
 * dev.millrace.store}. Each operation throws {@link dev.millrace.store.SchemaNotReadyException} if the schema is not one
 * that this release of the library may use; see {@link SchemaGate}. Immutable and safe for use by many threads; in a caller's transaction as far as the caller's
 * connection is.
 */
public final class PostgresStore {
    private final JobStore jobs;
    private final JobQueue queue;
    private final WorkSource work;
    private final ReconcilableJobs reconcilable;
    private final StoreClock clock;

    private final String schema;
    private final SchemaGate gate;
    private final JobCodec codec;

    private PostgresStore(ConnectionProvider connections, String schema, SchemaGate gate, JobCodec codec) {
        this.schema = schema;
        this.gate = gate;
        this.codec = codec;
        Database database = new Database(connections, schema, gate, connections instanceof OwnConnections);
        PostgresWorkSource source = new PostgresWorkSource(database, codec);
        this.jobs = new PostgresJobStore(database, codec);
        this.queue = new PostgresJobQueue(database, source);
        this.work = source;
        this.reconcilable = new PostgresReconcilableJobs(database, codec);
        this.clock = new PostgresStoreClock(database);
    }

    /**
     * Each operation in a transaction of its own, on a connection of this pool.
     *
     * @param pool gives connections to the database; each is closed after use
     * @param schema the name of the schema, taken as it is
     * @return the store; it has not looked at the database yet
     */
    public static PostgresStore on(DataSource pool, String schema) {
        return on(pool, schema, new SchemaGate(schema, Release.current()));
    }

    /** For tests: as another release, or with another clock. */
    static PostgresStore on(DataSource pool, String schema, SchemaGate gate) {
        return new PostgresStore(new OwnConnections(pool), schema, gate, new JobCodec());
    }

    /**
     * The same schema, each operation in the transaction that this configuration is of; of its settings none is used.
     *
     * @param transaction the configuration that jOOQ hands to the body of a transaction
     * @return the store within the transaction
     */
    public PostgresStore in(Configuration transaction) {
        return new PostgresStore(new CallerConnection(transaction.connectionProvider()), schema, gate, codec);
    }

    /**
     * The same schema, each operation on this connection, which stays the caller's to commit and close.
     *
     * @param connection open, and not in auto-commit mode
     * @return the store on the connection
     */
    public PostgresStore in(Connection connection) {
        return new PostgresStore(new CallerConnection(new DefaultConnectionProvider(connection)), schema, gate, codec);
    }

    /** {@return jobs as rows: create, read, change} */
    public JobStore jobs() {
        return jobs;
    }

    /** {@return the local queue} */
    public JobQueue queue() {
        return queue;
    }

    /** {@return where workers get their jobs from} */
    public WorkSource work() {
        return work;
    }

    /** {@return what a reconciler needs} */
    public ReconcilableJobs reconcilable() {
        return reconcilable;
    }

    /** {@return the database's clock} */
    public StoreClock clock() {
        return clock;
    }
}
