package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.peers.Contender;
import dev.millrace.benchmarks.peers.Peer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Single jobs for one contender's idle worker, at times that no poll interval can fall in step with. */
final class LatencyRun {
    private static final long PATIENCE_SECONDS = 120;
    private static final int LOOK_MILLIS = 5;
    private static final long SEED = 20;

    /** Of other pauses than those that count. */
    private static final long WARM_UP_SEED = 10;

    /** So short that it takes not too long, and so long that most jobs find an idle worker, as those that count do. */
    private static final int WARM_UP_MEAN_MILLIS = 10;

    private final Bench bench;
    private final Contender contender;
    private final int warmUp;
    private final int samples;
    private final int meanMillis;

    /**
     * @param warmUp how many jobs come before those that count: with pauses, as those do, unless it is for whoever polls so
     *     seldom that each would wait for a poll of its own
     * @param samples how many count
     * @param meanMillis how long the pauses between them are in the mean
     */
    LatencyRun(Bench bench, Contender contender, int warmUp, int samples, int meanMillis) {
        this.bench = bench;
        this.contender = contender;
        this.warmUp = warmUp;
        this.samples = samples;
        this.meanMillis = meanMillis;
    }

    /** How soon each began. */
    List<Latency> run(int round) throws Exception {
        try (BenchDatabase database = bench.database(Setting.databaseName(contender, "latency_" + round))) {
            contender.prepare(database);
            try (Peer worker = contender.worker(database, Setting.CONCURRENCY, 2 * (warmUp + samples))) {
                if (contender.submitsHere()) {
                    return measure(database, worker, worker, round);
                }
                try (Peer submitter = contender.submitter(database)) {
                    return measure(database, worker, submitter, round);
                }
            }
        }
    }

    private List<Latency> measure(BenchDatabase database, Peer worker, Peer submitter, int round) throws Exception {
        worker.work();
        worker.started();
        if (contender.slow()) {
            submitter.one(0, warmUp);
        } else {
            submitter.paced(0, warmUp, WARM_UP_MEAN_MILLIS, WARM_UP_SEED + round);
        }
        awaitCount(worker, warmUp);
        Setting.settle(database);
        long[][] submitted = submitter.paced(warmUp, warmUp + samples, meanMillis, SEED + round);
        awaitCount(worker, warmUp + samples);
        awaitEnd(database);
        return latencies(submitted, worker.runs());
    }

    private void awaitCount(Peer worker, int jobs) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (worker.count() < jobs) {
            waitALittle(deadline, "has run " + worker.count() + " of " + jobs + " jobs: " + worker.printed());
        }
    }

    private void awaitEnd(BenchDatabase database) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (database.number(contender.ledger().unfinished()) > 0) {
            waitALittle(deadline, "has unfinished jobs in its tables");
        }
        if (contender.ledger().finished().isPresent()) {
            bench.results()
                    .check(
                            contender.name() + ": finished jobs in its tables",
                            (long) warmUp + samples,
                            database.number(contender.ledger().finished().get()));
        }
    }

    private void waitALittle(long deadline, String otherwise) throws InterruptedException {
        Thread.sleep(LOOK_MILLIS);
        if (System.nanoTime() > deadline) {
            throw new CheckFailedException(contender + " " + otherwise);
        }
    }

    /** By the clock that all processes share, to the first begin of each handler. */
    private List<Latency> latencies(long[][] submitted, long[][] runs) {
        Map<Long, Long> begun = new HashMap<>();
        for (long[] run : runs) {
            begun.merge(run[0], run[1], Math::min);
        }
        bench.results().check(contender.name() + ": different jobs that were run", warmUp + samples, begun.size());
        List<Latency> latencies = new ArrayList<>();
        for (long[] job : submitted) {
            Long begin = begun.get(job[0]);
            if (begin == null) {
                throw new CheckFailedException(contender + " has not run job " + job[0]);
            }
            latencies.add(new Latency((begin - job[2]) / 1e3, (begin - job[1]) / 1e3));
        }
        bench.results().check(contender.name() + ": jobs whose latency is known", samples, latencies.size());
        return latencies;
    }
}
