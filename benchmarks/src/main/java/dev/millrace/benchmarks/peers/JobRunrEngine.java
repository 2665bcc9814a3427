package dev.millrace.benchmarks.peers;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.benchmarks.BenchDatabase;
import java.sql.SQLException;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.configuration.JobRunrConfiguration;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;

/** JobRunr, open source: job requests with their handler. */
final class JobRunrEngine implements Engine {
    private final UnaryOperator<BackgroundJobServerConfiguration> settings;

    /** @param settings what is not as by default */
    JobRunrEngine(UnaryOperator<BackgroundJobServerConfiguration> settings) {
        this.settings = settings;
    }

    /** What is run; Jackson makes it. */
    public static final class Noop implements JobRequest {
        private final String text;

        Noop() {
            this("");
        }

        Noop(String text) {
            this.text = text;
        }

        @Override
        public Class<NoopHandler> getJobRequestHandler() {
            return NoopHandler.class;
        }
    }

    /** What runs it. */
    public static final class NoopHandler implements JobRequestHandler<Noop> {
        private final Recorder recorder;

        NoopHandler(Recorder recorder) {
            this.recorder = recorder;
        }

        @Override
        public void run(Noop noop) {
            recorder.ran(Payload.index(noop.text));
        }
    }

    private record Handlers(NoopHandler handler) implements JobActivator {
        @Override
        public <T> T activateJob(Class<T> type) {
            return type.cast(handler);
        }
    }

    @Override
    public void prepare(BenchDatabase database) {
        PostgresStorageProvider storage = new PostgresStorageProvider(database.unpooled());
        storage.close();
    }

    @Override
    public Submitter submitter(PeerDatabase database) throws SQLException {
        HikariDataSource pool = database.pool(2);
        return new Submissions(on(pool).initialize().getJobRequestScheduler(), pool);
    }

    @Override
    public Working worker(PeerDatabase database, int concurrency, Recorder recorder) throws SQLException {
        HikariDataSource pool = database.workerPool(concurrency);
        JobRequestScheduler scheduler = on(pool).useJobActivator(new Handlers(new NoopHandler(recorder)))
                .useBackgroundJobServer(
                        settings.apply(BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                                .andWorkerCount(concurrency)),
                        false)
                .initialize()
                .getJobRequestScheduler();
        return new Running(scheduler, pool);
    }

    private static JobRunrConfiguration on(HikariDataSource pool) {
        return JobRunr.configure().useStorageProvider(new PostgresStorageProvider(pool));
    }

    private record Submissions(JobRequestScheduler scheduler, HikariDataSource pool) implements Submitter {
        @Override
        public void one(int index) {
            scheduler.enqueue(new Noop(Payload.text(index)));
        }

        @Override
        public void many(int from, int to) {
            scheduler.enqueue(IntStream.range(from, to).mapToObj(index -> new Noop(Payload.text(index))));
        }

        @Override
        public void close() {
            JobRunr.destroy();
            pool.close();
        }
    }

    private record Running(JobRequestScheduler scheduler, HikariDataSource pool) implements Working {
        @Override
        public void start() {
            JobRunr.getBackgroundJobServer().start();
        }

        @Override
        public Submitter here() {
            return new Submissions(scheduler, pool);
        }

        @Override
        public void close() {
            JobRunr.destroy();
            pool.close();
        }
    }
}
