package dev.millrace;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.backend.Backend;
import dev.millrace.db.MigrationReport;
import dev.millrace.db.Migrator;
import dev.millrace.job.Checks;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.PayloadCodec;
import dev.millrace.job.TraceContext;
import dev.millrace.recovery.BackendReconciler;
import dev.millrace.recovery.BackendSettings;
import dev.millrace.recovery.BackendStores;
import dev.millrace.recovery.JobReconciler;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.recovery.RetentionSettings;
import dev.millrace.recovery.RetentionSweeper;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Controls;
import dev.millrace.store.JobCounts;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.JobQueue;
import dev.millrace.store.JobStore;
import dev.millrace.store.LeaseStore;
import dev.millrace.store.LogSettings;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.store.RunnerCapability;
import dev.millrace.store.StoreClock;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.store.postgres.PostgresStore;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jooq.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * The way in: durable jobs in one schema of one PostgreSQL database.
 *
 * <pre>{@code
 * var thumbnail = JobType.of("thumbnail", Thumbnail.class);
 * var millrace = Millrace.on(dataSource);
 * millrace.migrate();
 * try (var worker = millrace.worker().handle(thumbnail, (args, context) -> resize(args)).start()) {
 *     Job job = millrace.submit(thumbnail, new Thumbnail("cat.png", 640));
 *     millrace.await(job, Duration.ofSeconds(30));
 * }
 * }</pre>
 *
 * <p>Immutable, holds no connection and no thread, and is safe for use by many threads: make one and keep it.
 */
public final class Millrace {
    /** The schema that is used unless another one is named. */
    public static final String DEFAULT_SCHEMA = "millrace";

    private static final Duration READINESS_PATIENCE = Duration.ofSeconds(2);
    private static final long FIRST_LOOK_MILLIS = 2;
    private static final long LONGEST_LOOK_MILLIS = 250;
    private static final Duration LONGEST_WAIT = Duration.ofDays(36_525);

    private final DataSource dataSource;
    private final Migrator migrator;
    private final String schema;
    private final Submissions submissions;
    private final PostgresStore store;
    private final @Nullable WakeUps wakeUps;
    private final ReadinessProbe readiness;

    private Millrace(DataSource dataSource, String schema, Submissions submissions, boolean signalling) {
        this.dataSource = dataSource;
        this.migrator = Migrator.of(dataSource, schema); // refuses a name that is not allowed
        this.schema = schema;
        this.submissions = submissions;
        PostgresStore silent = PostgresStore.on(dataSource, schema);
        this.store = signalling ? silent.signalling() : silent;
        this.wakeUps = signalling ? new WakeUps(store.forLoops().signals(), WakeUps.Pace.DEFAULT) : null;
        this.readiness = new ReadinessProbe(store.forLoops().reconcilable()::probe);
    }

    /**
     * Jobs in the schema {@value #DEFAULT_SCHEMA} of this database.
     *
     * @param dataSource a pool of connections. Must not be one that takes part in surrounding transactions: each
     *     operation is a transaction of its own, and {@link #in} is for those of the caller. Set the driver's {@code
     *     socketTimeout}, to less than the shortest heartbeat timeout: a connection that went silent is noticed by it
     * @return the way in to these jobs; it has not looked at the database yet
     */
    public static Millrace on(DataSource dataSource) {
        Objects.requireNonNull(dataSource, "dataSource");
        ObjectMapper mapper = JsonMapper.builder()
                .findAndAddModules()
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES) // a newer producer may know more
                .build();
        return new Millrace(
                dataSource, DEFAULT_SCHEMA, new Submissions(new JacksonPayloads(mapper), Tracing.NONE), false);
    }

    /**
     * The same in another schema. Several in one database don't see each other.
     *
     * @param name any name that PostgreSQL takes, such as {@code My-Jobs}; used as it is, without folding to lower case
     * @return the way in to the jobs of that schema
     * @throws dev.millrace.db.InvalidSchemaNameException if it is not allowed
     */
    public Millrace withSchema(String name) {
        return new Millrace(dataSource, name, submissions, wakeUps != null);
    }

    /**
     * The same with payloads mapped by this mapper. By default it is one with all modules that are on the class path
     * ({@code java.time} in payloads needs {@code jackson-datatype-jsr310}), and members of a payload that its type does not
     * have are passed over, so that producers and workers can be upgraded in any order.
     *
     * @param mapper maps payloads; must not be reconfigured any more
     * @return the way in to the same jobs, with this mapper
     */
    public Millrace withObjectMapper(ObjectMapper mapper) {
        return new Millrace(
                dataSource,
                schema,
                new Submissions(new JacksonPayloads(mapper.copy()), submissions.tracing()),
                wakeUps != null);
    }

    /**
     * The same, giving each job that is submitted the trace context of the caller, unless {@link
     * SubmitOption#traceContext(String)} gives another one. For Micrometer's observations there is {@code
     * dev.millrace.micrometer.MillraceObservations}; any other tracer can say its current context in one line.
     *
     * @param current the trace context of the calling thread, or null; asked once for each call that submits. If it fails, the
     *     job is submitted without one
     * @return the way in to the same jobs
     */
    public Millrace withTracing(Supplier<? extends @Nullable TraceContext> current) {
        Objects.requireNonNull(current, "current");
        return new Millrace(
                dataSource, schema, new Submissions(submissions.payloads(), new Tracing(current)), wakeUps != null);
    }

    /**
     * The same with wake-ups: jobs that are submitted by it wake the workers that are made by it, in whichever process, rather
     * than to wait for a poll. It is done by PostgreSQL's NOTIFY in the statement that inserts the job, so a job that is
     * submitted in a caller's transaction ({@link #in}) wakes when that commits, whatever its kind; but a transaction that is to be
     * prepared for a commit in two phases is refused by PostgreSQL once it has notified. Many jobs of one statement wake once.
     *
     * <p>A hint only: workers poll as ever. A process uses one connection of the pool for it while it has workers, and
     * switches it off by itself, with one line in the log, where signals don't get through, as behind a transaction pooler. Of
     * delayed jobs, and of those that wait for their next attempt, no signal is sent: they wait for a poll.
     *
     * <p>NOTIFY makes transactions commit one after another, so where thousands of transactions a second submit jobs, do
     * without.
     *
     * @return the way in to the same jobs, with wake-ups; keep it, and make the workers by it
     */
    public Millrace withWakeUps() {
        return new Millrace(dataSource, schema, submissions, true);
    }

    /**
     * Creates the schema, or brings it to this release. Does nothing if it is there already, also where a newer release
     * has brought it further and lets this one go on; nodes that start together may all call it.
     *
     * @return what was done
     * @throws dev.millrace.db.MigrationException if it can't be done; the message says what to do
     */
    public MigrationReport migrate() {
        return migrator.migrate();
    }

    /**
     * Submits a job: it is durable and claimable, or delayed if asked, when this returns.
     *
     * @param <T> the payload's type
     * @param type the kind of job, and the type of its payload
     * @param payload the handler's input; has to become a JSON object
     * @param options what is to be other than the default; of two for the same thing the last one counts
     * @return the job; the one that is already there if its id is given and was submitted before with the same content
     * @throws dev.millrace.job.InvalidJobException if payload or options are not allowed; nothing was written
     * @throws dev.millrace.store.JobConflictException if another job has the given id
     * @throws dev.millrace.store.StoreException if the database can't do it
     */
    public <T> Job submit(JobType<T> type, T payload, SubmitOption... options) {
        return submissions.submit(store.jobs(), type, payload, options);
    }

    /**
     * Submits a job for each of these payloads, in statements of up to 1,000 jobs, each committed by itself. If it
     * fails, the jobs of other statements may be there; as each call draws new ids, a repetition submits them once more. Where
     * that must not be, give each job an id of its own by {@link JobStore#submitAll}, or submit them in one transaction
     * by {@link #in}.
     *
     * @param <T> the payloads' type
     * @param type the kind of job, and the type of its payload
     * @param payloads the handler's inputs, one for each job; have to become JSON objects
     * @param options what is to be other than the default, for all of them; an id can't be given
     * @return the jobs, in the order of their payloads
     * @throws dev.millrace.job.InvalidJobException if something is not allowed; nothing was sent then
     * @throws dev.millrace.store.JobsFailedException if the database refuses some, such as by a trigger of yours; all others
     *     are submitted, and a repetition would submit these once more
     * @throws dev.millrace.store.StoreException if the database can't do it
     */
    public <T> List<Job> submitAll(JobType<T> type, Collection<T> payloads, SubmitOption... options) {
        return submissions.submitAll(store.jobs(), type, payloads, options);
    }

    /**
     * Millrace in the caller's jOOQ transaction: commit makes its jobs visible, rollback makes them gone. Of the
     * configuration only the connection is used; each operation refuses one in auto-commit mode, which is in none.
     *
     * @param transaction the configuration that jOOQ hands to the body of a transaction
     * @return operations that are part of this transaction
     */
    public MillraceTransaction in(Configuration transaction) {
        Objects.requireNonNull(transaction, "transaction");
        return new MillraceTransaction(store.in(transaction), submissions);
    }

    /**
     * Millrace in the transaction on the caller's connection, which stays the caller's to commit and close.
     *
     * @param connection open, and not in auto-commit mode
     * @return operations that are part of this transaction
     */
    public MillraceTransaction in(Connection connection) {
        Objects.requireNonNull(connection, "connection");
        return new MillraceTransaction(store.in(connection), submissions);
    }

    /**
     * Millrace in whatever transaction a framework has open when an operation is called: each takes a connection of this
     * data source, which has to be the transaction's, and closes it without committing. Made once, it is for use by many
     * threads, each in its own transaction.
     *
     * <pre>{@code
     * var jobs = millrace.in(new TransactionAwareDataSourceProxy(pool)); // Spring's
     * transactionTemplate.executeWithoutResult(status -> {
     *     orders.insert(order);
     *     jobs.submit(ship, new Ship(order.id()));
     * });
     * }</pre>
     *
     * @param transactionAware hands out the connection of the surrounding transaction; one in auto-commit mode, which is
     *     in none, is refused by each operation, and so is an ordinary pool, whose connections are
     * @return operations that are part of the surrounding transaction
     */
    public MillraceTransaction in(DataSource transactionAware) {
        Objects.requireNonNull(transactionAware, "transactionAware");
        return new MillraceTransaction(store.in(transactionAware), submissions);
    }

    /**
     * {@return the job with this id, if there is one}
     *
     * @param id the job's id
     */
    public Optional<Job> get(String id) {
        return store.jobs().get(id);
    }

    /**
     * Cancels a job: one that is queued ends {@code Cancelled} at once, one that is claimed gets a durable request that
     * its worker sees at its next heartbeat.
     *
     * @param id the job's id
     * @param by who asks, at most 512 characters, or null
     * @param why the reason, at most 2,000 characters, or null
     * @return what became of the request
     */
    public CancelResult cancel(String id, @Nullable String by, @Nullable String why) {
        return store.jobs().cancel(id, by, why);
    }

    /**
     * {@return what a job has left for its callers by {@code JobContext.resultPackage}; empty if it has left nothing, or JSON
     * {@code null}, or its retention is over}
     *
     * @param <R> the result's type
     * @param id the job's id
     * @param type the result's type; {@code JsonText} for the JSON as it is
     * @throws dev.millrace.job.PayloadException if it doesn't fit the type
     */
    public <R> Optional<R> result(String id, Class<R> type) {
        return store.results()
                .get(id)
                .flatMap(json -> Optional.ofNullable(submissions.payloads().decodeResult(json, type)));
    }

    /**
     * Waits for a job to end; see {@link #await(String, Duration)}.
     *
     * @param job the job to wait for
     * @param timeout how long to wait at most
     * @return the job as it ended
     * @throws InterruptedException if this thread is interrupted while it waits
     */
    public Job await(Job job, Duration timeout) throws InterruptedException {
        return await(job.id(), timeout);
    }

    /**
     * Waits until a job has ended, by asking the database again and again: soon at first, then four times a second. For scripts and
     * tests: a service would rather let a job tell of its end. An outage of the database is waited out.
     *
     * @param id the job's id
     * @param timeout how long to wait at most
     * @return the job as it ended: succeeded, failed or cancelled
     * @throws AwaitTimeoutException if it has not ended by then; the message says where it stands
     * @throws JobNotFoundException if there is no such job
     * @throws InterruptedException if this thread is interrupted while it waits
     */
    public Job await(String id, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + nanos(Checks.given("timeout", timeout));
        long pause = FIRST_LOOK_MILLIS;
        Job job = null;
        StoreUnavailableException outage = null;
        PostgresStore looping = store.forLoops();
        while (true) {
            try {
                job = looping.jobs().get(id).orElseThrow(() -> new JobNotFoundException(id, schema));
                outage = null;
                if (job.status().isFinal()) {
                    return job;
                }
            } catch (StoreUnavailableException e) {
                outage = e;
            }
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new AwaitTimeoutException(id, job, timeout, outage);
            }
            Thread.sleep(Math.min(pause, left));
            pause = Math.min(pause * 2, LONGEST_LOOK_MILLIS);
        }
    }

    private static long nanos(Duration timeout) {
        return timeout.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT.toNanos() : timeout.toNanos();
    }

    /** {@return a worker for this database, to be given its handlers and started} */
    public WorkerBuilder worker() {
        return new WorkerBuilder(store, submissions.payloads(), wakeUps);
    }

    /**
     * {@return a reconciler for this database, not started yet: for a process that recovers the jobs of dead workers
     * without being one} Workers bring their own.
     *
     * @param settings how often it looks, and how much at once
     */
    public JobReconciler reconciler(RecoverySettings settings) {
        PostgresStore looping = store.forLoops();
        return new JobReconciler(settings, looping.reconcilable(), looping.queue());
    }

    /**
     * {@return a reconciler of remote backends for this database, not started yet: for a process that looks after their jobs
     * without being a worker} Workers bring their own.
     *
     * @param settings how often it looks, and how much at once
     * @param backends the backends, each with a name of its own; they are not closed with it
     * @throws IllegalArgumentException if two have the same name, or one is named {@code local}
     */
    public BackendReconciler backendReconciler(BackendSettings settings, Backend... backends) {
        return new BackendReconciler(settings, backendStores(store.forLoops(), store.leases()), List.of(backends));
    }

    /** @param leases that repeat a renewal by themselves: a lease ends at the first one that fails */
    static BackendStores backendStores(PostgresStore looping, LeaseStore leases) {
        return new BackendStores(
                looping.reconcilable(),
                looping.remote(),
                looping.jobs(),
                leases,
                looping.results(),
                looping.controls());
    }

    /**
     * {@return a sweeper for this database, not started yet: for a process that deletes what has outlived its retention
     * without being a worker} Workers bring their own.
     *
     * @param settings how often it sweeps, and how much at once
     */
    public RetentionSweeper retentionSweeper(RetentionSettings settings) {
        return new RetentionSweeper(settings, store.forLoops().retention());
    }

    @Nullable
    WakeUps wakeUps() {
        return wakeUps;
    }

    /**
     * Asks the database once whether it is ready for jobs, and waits two seconds at most; see {@link
     * #readiness(Duration)}.
     *
     * @return what it said
     */
    public Readiness readiness() {
        return readiness(READINESS_PATIENCE);
    }

    /**
     * Asks the database once whether it is ready for jobs: by a statement that takes the way of a heartbeat and writes
     * nothing. So it is not ready either while it is read-only, while its schema is not one that this release may use, or
     * while the role may not write. For readiness checks, from any thread and as often as you like: there is one question
     * at a time, and those who ask meanwhile share its answer. Throws nothing that the database says.
     *
     * @param patience how long to wait for the answer at most
     * @return what it said
     */
    public Readiness readiness(Duration patience) {
        return readiness.ask(patience);
    }

    /**
     * {@return whether this process has what it takes to run jobs, in the capability {@value RunnerCapability#NAME}} It
     * follows configuration: with a {@code Millrace} it is available, whether or not the database can be reached.
     */
    public RunnerCapability capability() {
        return RunnerCapability.of(store.jobs(), store.queue());
    }

    /** {@return the name of the schema} */
    public String schema() {
        return schema;
    }

    /** {@return the pool that was given} */
    public DataSource dataSource() {
        return dataSource;
    }

    /** {@return how payloads become parameters, and parameters payloads} */
    public PayloadCodec payloads() {
        return submissions.payloads();
    }

    /** {@return jobs as rows: create, read, change} */
    public JobStore jobs() {
        return store.jobs();
    }

    /** {@return the local queue} */
    public JobQueue queue() {
        return store.queue();
    }

    /** {@return how many jobs there are, exactly or up to a bound that keeps it cheap} */
    public JobCounts counts() {
        return store.counts();
    }

    /** {@return the logs of jobs, of which the newest 2,000 lines are kept, for seven days after the last one} */
    public JobLogStore logs() {
        return store.logs();
    }

    /**
     * {@return the logs of jobs, kept by other settings}
     *
     * @param settings how much of them is kept, and for how long
     */
    public JobLogStore logs(LogSettings settings) {
        return store.logs(settings);
    }

    /** {@return what jobs leave for their callers} */
    public ResultPackageStore results() {
        return store.results();
    }

    /** {@return named rights that one owner holds at a time, for work that is to run in one place} */
    public LeaseStore leases() {
        return store.leases();
    }

    /** {@return switches that hold for all processes: {@link Controls#hold} stops claims and recovery} */
    public Controls controls() {
        return store.controls();
    }

    /** {@return the database's clock} */
    public StoreClock clock() {
        return store.clock();
    }
}
