package dev.millrace.benchmarks.peers;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.WorkerBuilder;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.job.JobType;
import dev.millrace.worker.Worker;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

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
    public Submitter submitter(PeerDatabase database) {
        HikariDataSource pool = database.pool(2);
        return new Submissions(on(pool), pool);
    }

    @Override
    public Working work(PeerDatabase database, int concurrency, Recorder recorder) {
        HikariDataSource pool = database.workerPool(concurrency);
        Millrace millrace = on(pool);
        Worker worker = settings.apply(millrace.worker().concurrency(concurrency))
                .handle(NOOP, (payload, context) -> recorder.ran(payload.n()))
                .start();
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

    private record Running(Millrace millrace, Worker worker, HikariDataSource pool) implements Working {
        @Override
        public Submitter here() {
            return new Submissions(millrace, pool);
        }

        @Override
        public void close() {
            worker.close();
            pool.close();
        }
    }
}
