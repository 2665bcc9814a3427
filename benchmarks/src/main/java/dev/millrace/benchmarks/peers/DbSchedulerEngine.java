package dev.millrace.benchmarks.peers;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerBuilder;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.benchmarks.BenchDatabase;
import java.sql.SQLException;
import java.time.Instant;
import java.util.function.IntConsumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** db-scheduler: one-time tasks, each an instance with its payload. */
final class DbSchedulerEngine implements Engine {
    private final UnaryOperator<SchedulerBuilder> settings;

    /** @param settings what is not as by default */
    DbSchedulerEngine(UnaryOperator<SchedulerBuilder> settings) {
        this.settings = settings;
    }

    /** The table and the indexes that its documentation gives for PostgreSQL. */
    @Override
    public void prepare(BenchDatabase database) throws SQLException {
        database.execute(
                """
                CREATE TABLE scheduled_tasks (
                    task_name text NOT NULL,
                    task_instance text NOT NULL,
                    task_data bytea,
                    execution_time timestamptz NOT NULL,
                    picked boolean NOT NULL,
                    picked_by text,
                    last_success timestamptz,
                    last_failure timestamptz,
                    consecutive_failures integer,
                    last_heartbeat timestamptz,
                    version bigint NOT NULL,
                    priority smallint,
                    PRIMARY KEY (task_name, task_instance)
                )""",
                "CREATE INDEX execution_time_idx ON scheduled_tasks (execution_time)",
                "CREATE INDEX last_heartbeat_idx ON scheduled_tasks (last_heartbeat)",
                "CREATE INDEX priority_execution_time_idx ON scheduled_tasks (priority DESC, execution_time ASC)");
    }

    @Override
    public Submitter submitter(PeerDatabase database) throws SQLException {
        HikariDataSource pool = database.pool(2);
        OneTimeTask<String> task = task(index -> {
            throw new IllegalStateException("Who only submits runs nothing, but was given " + index);
        });
        return new Submissions(SchedulerClient.Builder.create(pool, task).build(), task, pool);
    }

    @Override
    public Working worker(PeerDatabase database, int concurrency, Recorder recorder) throws SQLException {
        HikariDataSource pool = database.workerPool(concurrency);
        OneTimeTask<String> task = task(recorder::ran);
        Scheduler scheduler = settings.apply(Scheduler.create(pool, task).threads(concurrency))
                .build();
        return new Running(scheduler, task, pool);
    }

    private static OneTimeTask<String> task(IntConsumer ran) {
        return Tasks.oneTime("noop", String.class)
                .execute((instance, context) -> ran.accept(Payload.index(instance.getData())));
    }

    private record Submissions(SchedulerClient client, OneTimeTask<String> task, HikariDataSource pool)
            implements Submitter {
        @Override
        public void one(int index) {
            client.scheduleIfNotExists(instance(index), Instant.now());
        }

        @Override
        public void many(int from, int to) {
            Stream<TaskInstance<?>> instances = IntStream.range(from, to).mapToObj(this::instance);
            client.scheduleBatch(instances, Instant.now());
        }

        private TaskInstance<String> instance(int index) {
            return task.instance(Integer.toString(index), Payload.text(index));
        }

        @Override
        public void close() {
            pool.close();
        }
    }

    private record Running(Scheduler scheduler, OneTimeTask<String> task, HikariDataSource pool) implements Working {
        @Override
        public void start() {
            scheduler.start();
        }

        @Override
        public Submitter here() {
            return new Submissions(scheduler, task, pool);
        }

        @Override
        public void close() {
            scheduler.stop();
            pool.close();
        }
    }
}
