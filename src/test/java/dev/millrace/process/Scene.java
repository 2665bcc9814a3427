package dev.millrace.process;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.recovery.JobReconciler;
import dev.millrace.recovery.RecoverySettings;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;

/** What a test and its child processes share, and all that must be ended after the test. */
final class Scene implements AutoCloseable {
    /** For waiting for what takes a moment, also on a machine that is busy with other things. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    static final Duration SWEEP = Duration.ofMillis(100);

    final Place place;
    final Millrace millrace;
    final PostgresStore store;
    private final HikariDataSource pool;
    private final DSLContext dsl;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    Scene(Place place) {
        this(place, Pools.quick(place));
    }

    Scene(Place place, HikariDataSource pool) {
        this.place = place;
        this.pool = pool;
        this.millrace = Millrace.on(pool).withSchema(place.schema());
        this.store = PostgresStore.on(pool, place.schema());
        this.dsl = DSL.using(
                pool,
                SQLDialect.POSTGRES,
                new Settings()
                        .withRenderMapping(new RenderMapping()
                                .withSchemata(
                                        new MappedSchema().withInput("millrace").withOutput(place.schema()))));
    }

    /** To be closed at the end, if not before. */
    <T extends AutoCloseable> T closing(T it) {
        open.push(it);
        return it;
    }

    ChildJvm start(Class<?> main, String... arguments) {
        return closing(ChildJvm.start(main, place, arguments));
    }

    /** A process with a worker of this name, for up to 4 jobs at a time, that leaves recovery to others. */
    ChildJvm startWorker(String name) {
        return start(WorkerProcess.class, name, "4", "0");
    }

    /** A reconciler in this process that has watched the database for long enough to trust heartbeats. */
    JobReconciler startWatchingReconciler(Duration heartbeatTimeout) {
        JobReconciler reconciler = closing(millrace.reconciler(sweeping()));
        reconciler.start();
        until(() -> Watch.of(reconciler).trusts(heartbeatTimeout));
        return reconciler;
    }

    static RecoverySettings sweeping() {
        return RecoverySettings.DEFAULT.withJobSweepInterval(SWEEP);
    }

    Job submit(JobType<Task> type, SubmitOption... options) {
        return millrace.submit(type, Task.NONE, options);
    }

    /** In one transaction, so that they can be claimed at once. Returns their ids. */
    List<String> submitTogether(int number, JobType<Task> type, Task task, SubmitOption... options) {
        return dsl.transactionResult(tx -> Stream.generate(
                        () -> millrace.in(tx).submit(type, task, options).id())
                .limit(number)
                .toList());
    }

    /** Something that is done while a row is locked. */
    interface Meanwhile {
        void run() throws Exception;
    }

    /** Locks a row as a caller's transaction does that has not ended yet. */
    void holdRow(String id, Meanwhile meanwhile) {
        dsl.transaction(tx -> {
            tx.dsl()
                    .select(EXECUTION_JOBS.OPERATION_ID)
                    .from(EXECUTION_JOBS)
                    .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                    .forUpdate()
                    .execute();
            meanwhile.run();
        });
    }

    /** The ids of all jobs. */
    List<String> jobs() {
        return dsl.select(EXECUTION_JOBS.OPERATION_ID).from(EXECUTION_JOBS).fetch(EXECUTION_JOBS.OPERATION_ID);
    }

    Job job(String id) {
        return millrace.get(id).orElseThrow();
    }

    JobStatus status(String id) {
        return job(id).status();
    }

    Instant now() {
        return store.clock().now();
    }

    /** The whole row, by the names of its columns; empty if there is none. */
    Map<String, Object> row(String id) {
        return dsl.selectFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .fetchOptional()
                .map(row -> row.intoMap())
                .orElse(Map.of());
    }

    /** The row but for what a living attempt changes all the time. */
    Map<String, Object> rowWithoutBeats(String id) {
        Map<String, Object> row = row(id);
        row.remove(EXECUTION_JOBS.LAST_HEARTBEAT_AT.getName());
        return row;
    }

    /** The columns in which two states of a row differ. */
    static Map<String, String> changes(Map<String, Object> before, Map<String, Object> after) {
        Map<String, String> changes = new TreeMap<>();
        Stream.of(before, after).map(Map::keySet).flatMap(Set::stream).forEach(column -> {
            if (!Objects.equals(before.get(column), after.get(column))) {
                changes.put(column, before.get(column) + " -> " + after.get(column));
            }
        });
        return changes;
    }

    int forgivenAttempts(String id) {
        return dsl.select(EXECUTION_JOBS.FORGIVEN_ATTEMPTS)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .fetchSingle()
                .value1();
    }

    /** The server's processes that serve connections of this application. */
    List<ProcessHandle> serverProcesses(String application) {
        return dsl
                .select(DSL.field(DSL.name("pid"), Long.class))
                .from(DSL.table(DSL.name("pg_catalog", "pg_stat_activity")))
                .where(DSL.field(DSL.name("application_name"), String.class).eq(application))
                .fetch()
                .stream()
                .flatMap(row -> ProcessHandle.of(row.value1()).stream())
                .toList();
    }

    Instant serverStartedAt() {
        return dsl.select(DSL.function(
                        DSL.name("pg_catalog", "pg_postmaster_start_time"), EXECUTION_JOBS.UPDATED_AT.getDataType()))
                .fetchSingle()
                .value1();
    }

    /** Removes all jobs. */
    void clear() {
        dsl.deleteFrom(EXECUTION_JOBS).execute();
    }

    void delete(String id) {
        dsl.deleteFrom(EXECUTION_JOBS).where(EXECUTION_JOBS.OPERATION_ID.eq(id)).execute();
    }

    /** Waits for this, a database that doesn't answer included. */
    static void until(Callable<Boolean> condition) {
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(10))
                .ignoreException(StoreUnavailableException.class)
                .until(condition);
    }

    Job awaitEnd(String id) throws InterruptedException {
        return millrace.await(id, PATIENCE);
    }

    static HeartbeatPolicy beats(int intervalMillis, int timeoutMillis) {
        return new HeartbeatPolicy(Duration.ofMillis(intervalMillis), Duration.ofMillis(timeoutMillis));
    }

    /** Closes everything, the last first, whatever happens on the way. */
    @Override
    public void close() {
        Throwable failure = null;
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Throwable e) {
                failure = e;
            }
        }
        pool.close();
        assertThat(failure).isNull();
    }
}
