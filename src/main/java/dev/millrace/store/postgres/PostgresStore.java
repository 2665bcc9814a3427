package dev.millrace.store.postgres;

import dev.millrace.db.Release;
import dev.millrace.store.Controls;
import dev.millrace.store.JobCounts;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.JobQueue;
import dev.millrace.store.JobSignals;
import dev.millrace.store.JobStore;
import dev.millrace.store.LeaseStore;
import dev.millrace.store.LogSettings;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.store.RemoteJobs;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.store.Retention;
import dev.millrace.store.StoreClock;
import dev.millrace.store.WorkSource;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;
import org.jooq.Configuration;
import org.jooq.impl.DefaultConnectionProvider;
import org.jspecify.annotations.Nullable;

/**
 * The store in one schema of one database: the way to the implementations of the interfaces in {@code
 * dev.millrace.store}. Each operation throws {@link dev.millrace.store.SchemaNotReadyException} if the schema is not one
 * that this release of the library may use; see {@link SchemaGate}. On a pool, one that fails because the database is not
 * available is repeated for up to 5 s where that is safe, before it throws {@link
 * dev.millrace.store.StoreUnavailableException}; see {@link Repetition} and {@link #forLoops}. Immutable and safe for use by many threads; in a caller's transaction as far as the caller's
 * connection is.
 */
public final class PostgresStore {
    private final JobStore jobs;
    private final JobQueue queue;
    private final WorkSource work;
    private final ReconcilableJobs reconcilable;
    private final RemoteJobs remote;
    private final LeaseStore leases;
    private final Controls controls;
    private final StoreClock clock;
    private final JobCounts counts;
    private final JobLogStore logs;
    private final ResultPackageStore results;
    private final Retention retention;

    private final Database database;
    private final Rendering rendering;
    private final SchemaGate gate;
    private final JobCodec codec;
    private final @Nullable OwnConnections pool;
    private final boolean signalling;

    private PostgresStore(
            Database database,
            @Nullable OwnConnections pool,
            Rendering rendering,
            SchemaGate gate,
            JobCodec codec,
            boolean signalling) {
        this.signalling = signalling;
        this.database = database;
        this.pool = pool;
        this.rendering = rendering;
        this.gate = gate;
        this.codec = codec;
        PostgresWorkSource source = new PostgresWorkSource(database, codec);
        this.jobs = new PostgresJobStore(database, codec);
        this.queue = new PostgresJobQueue(database, source, codec);
        this.work = source;
        this.reconcilable = new PostgresReconcilableJobs(database, codec);
        this.remote = new PostgresRemoteJobs(database, codec, source);
        this.leases = new PostgresLeaseStore(database);
        this.controls = new PostgresControls(database);
        this.clock = new PostgresStoreClock(database);
        this.counts = new PostgresJobCounts(database);
        this.logs = new PostgresJobLogStore(database, LogSettings.DEFAULT);
        this.results = new PostgresResultPackageStore(database);
        this.retention = new PostgresRetention(database);
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
        return on(pool, schema, gate, Repetition.Policy.DEFAULT);
    }

    /** For tests: with other pauses. */
    static PostgresStore on(DataSource pool, String schema, SchemaGate gate, Repetition.Policy policy) {
        return own(new OwnConnections(pool), new Rendering(schema), gate, new JobCodec(), policy, false);
    }

    private static PostgresStore own(
            OwnConnections pool,
            Rendering rendering,
            SchemaGate gate,
            JobCodec codec,
            Repetition.Policy policy,
            boolean signalling) {
        Database database = new Database(pool, rendering, gate, policy, signalling);
        return new PostgresStore(database, pool, rendering, gate, codec, signalling);
    }

    /**
     * The same store, whose submissions of jobs that may be claimed at once say so by {@link #signals}; in a caller's transaction
     * as well.
     *
     * @return the store
     */
    public PostgresStore signalling() {
        return pool == null ? this : own(pool, rendering, gate, codec, Repetition.Policy.DEFAULT, true);
    }

    /** {@return what tells that jobs have come in, to those who listen; in a caller's transaction nobody can} */
    public JobSignals signals() {
        return new PostgresJobSignals(database, pool, rendering.schema());
    }

    /**
     * The same store for a loop that repeats by itself, and reports outages: a database that is not available is a {@link
     * dev.millrace.store.StoreUnavailableException} at once, rather than after seconds of repetition. So what such a loop
     * says about its own pace, its health and its end stays true. In a caller's transaction nothing is repeated anyway.
     *
     * @return the store
     */
    public PostgresStore forLoops() {
        return pool == null ? this : own(pool, rendering, gate, codec, Repetition.Policy.FOR_LOOPS, signalling);
    }

    /**
     * The same store for a loop ({@link #forLoops}) whose statements must not wait until others give connections back: it takes one
     * of the pool's, as soon as there is one, and keeps it. Calls that come while that is in use take one of the pool as
     * ever.
     *
     * @param answerWithin after which time a statement on the connection that is kept fails, so that a network that
     *     went silent is noticed; null to wait for as long as the driver does. Whole milliseconds
     * @return the store, to be closed
     * @throws IllegalStateException in a caller's transaction, whose connection is not ours
     */
    public Reserved reserving(@Nullable Duration answerWithin) {
        if (pool == null) {
            throw new IllegalStateException("A store in a caller's transaction has no connections of its own.");
        }
        KeptConnection kept = new KeptConnection(pool, answerWithin);
        return new Reserved(
                own(kept.connections(), rendering, gate, codec, Repetition.Policy.FOR_LOOPS, signalling), kept);
    }

    /** A store that keeps a connection. */
    public static final class Reserved implements AutoCloseable {
        private final PostgresStore store;
        private final KeptConnection kept;

        private Reserved(PostgresStore store, KeptConnection kept) {
            this.store = store;
            this.kept = kept;
        }

        /** {@return the store} */
        public PostgresStore store() {
            return store;
        }

        /**
         * Takes the connection now rather than with the first statement. Waits as long as the pool does.
         *
         * @return whether the pool gave one
         */
        public boolean reserve() {
            return kept.reserve();
        }

        /** Gives the connection back. The store can be used all the same. */
        @Override
        public void close() {
            kept.close();
        }
    }

    /** {@return whether there is a connection} In a caller's transaction there is. Waits as long as the pool does. */
    public boolean hasConnection() {
        return pool == null || pool.available();
    }

    /**
     * The same schema, each operation in the transaction that this configuration is of; of its settings none is used.
     *
     * @param transaction the configuration that jOOQ hands to the body of a transaction
     * @return the store within the transaction
     */
    public PostgresStore in(Configuration transaction) {
        return in(new CallerConnection(transaction.connectionProvider()));
    }

    /**
     * The same schema, each operation on this connection, which stays the caller's to commit and close.
     *
     * @param connection open, and not in auto-commit mode
     * @return the store on the connection
     */
    public PostgresStore in(Connection connection) {
        return in(new CallerConnection(new DefaultConnectionProvider(connection)));
    }

    /**
     * The same schema, each operation on a connection of this data source, which has to be that of the transaction that
     * surrounds the call, as Spring's {@code TransactionAwareDataSourceProxy} gives it. It is closed after each
     * operation, and nothing is committed.
     *
     * @param transactionAware hands out the connection of the surrounding transaction
     * @return the store within whatever transaction surrounds each call
     */
    public PostgresStore in(DataSource transactionAware) {
        return in(new CallerConnection(new CallerDataSource(transactionAware)));
    }

    private PostgresStore in(CallerConnection caller) {
        return new PostgresStore(
                new Database(caller, rendering, gate, signalling), null, rendering, gate, codec, signalling);
    }

    /** {@return jobs as rows: create, read, list, change} */
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

    /** {@return attempts at jobs of remote backends} */
    public RemoteJobs remote() {
        return remote;
    }

    /** {@return named rights that one owner holds at a time} */
    public LeaseStore leases() {
        return leases;
    }

    /** {@return switches that hold for all processes} */
    public Controls controls() {
        return controls;
    }

    /** {@return the database's clock} */
    public StoreClock clock() {
        return clock;
    }

    /** {@return how many jobs there are} */
    public JobCounts counts() {
        return counts;
    }

    /** {@return the logs of jobs, kept by the default settings} */
    public JobLogStore logs() {
        return logs;
    }

    /**
     * {@return the logs of jobs, kept by these settings}
     *
     * @param settings how much of them is kept, and for how long
     */
    public JobLogStore logs(LogSettings settings) {
        return new PostgresJobLogStore(database, settings);
    }

    /** {@return what jobs leave for their callers} */
    public ResultPackageStore results() {
        return results;
    }

    /** {@return what a retention sweeper needs} */
    public Retention retention() {
        return retention;
    }
}
