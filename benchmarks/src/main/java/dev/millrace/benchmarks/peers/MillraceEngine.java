package dev.millrace.benchmarks.peers;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.WorkerBuilder;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.job.JobType;
import dev.millrace.worker.Worker;
import java.sql.SQLException;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Millrace, by its public API like all others. */
final class MillraceEngine implements Engine {
    private static final JobType<Payload> NOOP = JobType.of("noop", Payload.class);

    private final boolean wakeUps;
    private final UnaryOperator<WorkerBuilder> settings;

    /**
     * @param wakeUps whether jobs wake workers
     * @param settings what is not as by default
     */
    MillraceEngine(boolean wakeUps, UnaryOperator<WorkerBuilder> settings) {
        this.wakeUps = wakeUps;
        this.settings = settings;
    }

    @Override
    public void prepare(BenchDatabase database) {
        database.migrate();
    }

    @Override
    public Submitter submitter(PeerDatabase database) throws SQLException {
        HikariDataSource pool = database.pool(2);
        return new Submissions(on(pool), pool);
    }

    @Override
    public Working worker(PeerDatabase database, int concurrency, Recorder recorder) throws SQLException {
        HikariDataSource pool = database.workerPool(concurrency);
        Millrace millrace = on(pool);
        WorkerBuilder worker = settings.apply(millrace.worker().concurrency(concurrency))
                .handle(NOOP, (payload, context) -> recorder.ran(payload.n()));
        return new Running(millrace, worker, pool);
    }

    private Millrace on(HikariDataSource pool) {
        Millrace millrace = Millrace.on(pool);
        return wakeUps ? millrace.withWakeUps() : millrace;
    }

    private record Submissions(Millrace millrace, HikariDataSource pool) implements Submitter {
        @Override
        public void one(int index) {
            millrace.submit(NOOP, Payload.of(index));
        }

        @Override
        public void many(int from, int to) {
            millrace.submitAll(
                    NOOP, IntStream.range(from, to).mapToObj(Payload::of).toList());
        }

        @Override
        public void close() {
            pool.close();
        }
    }

    private static final class Running implements Working {
        private final Millrace millrace;
        private final WorkerBuilder builder;
        private final HikariDataSource pool;
        private @Nullable Worker worker;

        Running(Millrace millrace, WorkerBuilder builder, HikariDataSource pool) {
            this.millrace = millrace;
            this.builder = builder;
            this.pool = pool;
        }

        @Override
        public void start() {
            worker = builder.start();
        }

        @Override
        public Submitter here() {
            return new Submissions(millrace, pool);
        }

        @Override
        public void close() {
            if (worker != null) {
                worker.close();
            }
            pool.close();
        }
    }
}
