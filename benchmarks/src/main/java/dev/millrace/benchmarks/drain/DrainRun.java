package dev.millrace.benchmarks.drain;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.ServerProcesses;
import dev.millrace.benchmarks.ServerStatistics;
import dev.millrace.benchmarks.ServerStatistics.Wal;
import dev.millrace.benchmarks.peers.Contender;
import dev.millrace.benchmarks.peers.Micros;
import dev.millrace.benchmarks.peers.Peer;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/** One contender drains one queue, in a database that is made for it and dropped afterwards. */
final class DrainRun {
    private static final long PATIENCE_MINUTES = 20;
    private static final int LOOK_MILLIS = 5;

    private final Bench bench;
    private final Contender contender;
    private final int processes;
    private final int jobs;
    private final DrainPortions portions;

    /** @param portions how many jobs, and how they are submitted */
    DrainRun(Bench bench, Contender contender, int processes, DrainPortions portions) {
        this.bench = bench;
        this.contender = contender;
        this.processes = processes;
        this.jobs = portions.jobs();
        this.portions = portions;
    }

    private record Submitted(double oneSeconds, double manySeconds, Wal oneWal, Wal manyWal) {}

    Drained run(String name) throws Exception {
        try (BenchDatabase database = bench.database(Setting.databaseName(contender, name))) {
            contender.prepare(database);
            ServerStatistics statistics = database.statistics();
            statistics.walSince(statistics.walPosition()); // makes its extension now, not where WAL is measured
            Submitted submitted = submit(database, statistics);
            long waiting = database.number(contender.ledger().unfinished());
            if (waiting < jobs) { // some have more than one row for a job
                throw new CheckFailedException(
                        contender + " has " + waiting + " jobs in its tables after " + jobs + " were submitted");
            }
            Setting.settle(database);
            return drain(database, statistics, submitted);
        }
    }

    private Submitted submit(BenchDatabase database, ServerStatistics statistics) throws Exception {
        try (Peer submitter = contender.submitter(database)) {
            Setting.settle(database);
            one(submitter, 0, portions.oneByOne());
            String begin = statistics.walPosition();
            double one = one(submitter, portions.oneByOne(), portions.oneEnd());
            Wal oneWal = statistics.walSince(begin);
            submitter.many(portions.oneEnd(), portions.manyBegin());
            begin = statistics.walPosition();
            double many = submitter.many(portions.manyBegin(), jobs);
            return new Submitted(one, many, oneWal, statistics.walSince(begin));
        }
    }

    private static double one(Peer submitter, int from, int to) throws IOException, InterruptedException {
        return from == to ? 0 : submitter.one(from, to);
    }

    private Drained drain(BenchDatabase database, ServerStatistics statistics, Submitted submitted) throws Exception {
        List<Peer> workers = new ArrayList<>();
        try {
            for (int process = 0; process < processes; process++) {
                workers.add(contender.worker(database, Setting.CONCURRENCY, 2 * jobs + 100));
            }
            Optional<ServerProcesses> server = ServerProcesses.of(database);
            statistics.resetStatements();
            long transactionsBefore = transactions(database);
            String begin = statistics.walPosition();
            Processors before = processors(workers, server);
            for (Peer worker : workers) {
                worker.work();
            }
            long start = earliestStart(workers);
            Finish finish = awaitEnd(database, workers);
            Processors processors = processors(workers, server).since(before); // before the server reads its WAL for us
            Wal wal = statistics.walSince(begin);
            long statements = statistics.statements("%").calls() - finish.looks();
            Runs runs = runs(workers);
            end(workers);
            statistics.awaitCounts();
            long transactions = transactions(database) - transactionsBefore - finish.looks();
            checkLedger(database);
            Costs costs = new Costs(wal, statements, transactions, processors);
            return result(submitted, start, finish, costs, runs);
        } finally {
            end(workers);
        }
    }

    private static long earliestStart(List<Peer> workers) throws InterruptedException {
        long start = Long.MAX_VALUE;
        for (Peer worker : workers) {
            start = Math.min(start, worker.started());
        }
        return start;
    }

    /**
     * The end of a drain.
     *
     * @param at when the contender's tables said that all are finished
     * @param looks how often they were asked
     */
    private record Finish(long at, long looks) {}

    /** Asks the database only once all handlers have run, so that asking costs the contender nothing. */
    private Finish awaitEnd(BenchDatabase database, List<Peer> workers) throws InterruptedException, SQLException {
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
        while (workers.stream().mapToInt(Peer::count).sum() < jobs) {
            waitALittle(deadline, workers);
        }
        long looks = 1;
        while (database.number(contender.ledger().unfinished()) > 0) {
            waitALittle(deadline, workers);
            looks++;
        }
        return new Finish(Micros.now(), looks);
    }

    private void waitALittle(long deadline, List<Peer> workers) throws InterruptedException {
        Thread.sleep(LOOK_MILLIS);
        if (System.nanoTime() > deadline) {
            List<String> counts = workers.stream()
                    .map(worker -> worker.count() + " jobs, " + worker.printed())
                    .toList();
            throw new CheckFailedException(
                    contender + " has not drained " + jobs + " jobs in " + PATIENCE_MINUTES + " min: " + counts);
        }
    }

    /**
     * What was run.
     *
     * @param times when handlers began, sorted
     * @param different how many different jobs those were
     */
    private record Runs(List<Long> times, long different) {}

    private Runs runs(List<Peer> workers) throws IOException, InterruptedException {
        List<long[]> all = new ArrayList<>();
        for (Peer worker : workers) {
            all.addAll(Arrays.asList(worker.runs()));
        }
        List<Long> times = all.stream().map(run -> run[1]).sorted().toList();
        LongStream different = all.stream().mapToLong(run -> run[0]).distinct();
        return new Runs(
                times, different.filter(index -> index >= 0 && index < jobs).count());
    }

    private void checkLedger(BenchDatabase database) throws SQLException {
        String who = contender.name() + ", " + processes + (processes == 1 ? " process" : " processes");
        bench.results()
                .check(
                        who + ": unfinished jobs in its tables",
                        0L,
                        database.number(contender.ledger().unfinished()));
        if (contender.ledger().finished().isPresent()) {
            bench.results()
                    .check(
                            who + ": finished jobs in its tables",
                            (long) jobs,
                            database.number(contender.ledger().finished().get()));
        }
    }

    /**
     * For how long processors were busy, in milliseconds.
     *
     * @param workers with the workers
     * @param server with the server; no number where the system does not tell
     */
    private record Processors(double workers, double server) {
        Processors since(Processors before) {
            return new Processors(workers - before.workers, server - before.server);
        }
    }

    private static Processors processors(List<Peer> workers, Optional<ServerProcesses> server) throws IOException {
        long millis = workers.stream()
                .mapToLong(worker -> worker.processorTime().toMillis())
                .sum();
        return new Processors(millis, server.isPresent() ? server.get().processorMillis() : Double.NaN);
    }

    private record Costs(Wal wal, long statements, long transactions, Processors processors) {}

    private Drained result(Submitted submitted, long start, Finish finish, Costs costs, Runs runs) {
        bench.results().check(contender.name() + ": different jobs that were run", (long) jobs, runs.different());
        double many = portions.many();
        long half = runs.times().get(jobs / 2);
        return new Drained(
                portions,
                portions.oneByOne() / submitted.oneSeconds(), // no number if none were; nobody asks for it then
                many / submitted.manySeconds(),
                submitted.oneWal().bytes() / (double) portions.oneByOne(),
                submitted.manyWal().bytes() / many,
                jobs * 1e6 / (finish.at() - start),
                (jobs - jobs / 2) * 1e6 / (finish.at() - half),
                (runs.times().get(0) - start) / 1e6,
                costs.wal().bytes() / (double) jobs,
                costs.wal().fullPageBytes() / (double) jobs,
                costs.statements() / (double) jobs,
                costs.transactions() / (double) jobs,
                costs.processors().workers() / jobs,
                costs.processors().server() / jobs,
                runs.times().size() - runs.different());
    }

    private static long transactions(BenchDatabase database) throws SQLException {
        return database.number("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()");
    }

    private static void end(List<Peer> workers) throws InterruptedException {
        for (Peer worker : workers) {
            worker.close();
        }
        workers.clear();
    }
}
