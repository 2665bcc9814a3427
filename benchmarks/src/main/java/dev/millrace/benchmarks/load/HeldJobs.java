package dev.millrace.benchmarks.load;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.WorkerBuilder;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.Payloads;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.JobType;
import dev.millrace.worker.Worker;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;

/** A worker whose jobs run until it is closed, which then succeed. */
final class HeldJobs implements AutoCloseable {
    private static final int KINDS = 10;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** A payload. */
    record Held(String input) {}

    private final BenchDatabase database;
    private final int jobs;
    private final CountDownLatch over = new CountDownLatch(1);
    private final HikariDataSource pool;
    private final Worker worker;

    /**
     * Returns when all jobs run.
     *
     * @param database has Millrace's tables, and no jobs
     * @param jobs how many; none is allowed
     * @param interval of their heartbeats
     * @param millrace what of Millrace is to be used, such as wake-ups
     * @param settings what else the worker has
     */
    HeldJobs(
            BenchDatabase database,
            int jobs,
            Duration interval,
            UnaryOperator<Millrace> millrace,
            UnaryOperator<WorkerBuilder> settings)
            throws SQLException, InterruptedException {
        this.database = database;
        this.jobs = jobs;
        this.pool = database.pool(14);
        Millrace way = millrace.apply(Millrace.on(pool));
        WorkerBuilder builder = settings.apply(way.worker().concurrency(jobs + 10));
        List<JobType<Held>> types = new ArrayList<>();
        for (int kind = 0; kind < KINDS; kind++) {
            JobType<Held> type = JobType.of("kind-" + kind, Held.class);
            types.add(type);
            builder = builder.handle(type, (payload, context) -> over.await());
        }
        for (int kind = 0; kind < KINDS; kind++) {
            int share = jobs / KINDS + (kind < jobs % KINDS ? 1 : 0);
            way.submitAll(
                    types.get(kind),
                    Collections.nCopies(share, new Held(Payloads.noise(4_000))),
                    SubmitOption.heartbeat(new HeartbeatPolicy(interval, interval.multipliedBy(3))));
        }
        worker = builder.start();
        awaitRunning();
    }

    private void awaitRunning() throws SQLException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (database.jobs("Running") < jobs) {
            if (System.nanoTime() > deadline) {
                close();
                throw new CheckFailedException(
                        "Of " + jobs + " jobs " + database.jobs("Running") + " run after " + PATIENCE);
            }
            Thread.sleep(20);
        }
    }

    /** Lets the jobs succeed, and ends the worker. */
    @Override
    public void close() {
        over.countDown();
        worker.close();
        pool.close();
    }
}
