package dev.millrace.benchmarks.load;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Payloads;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.ServerStatistics;
import dev.millrace.benchmarks.report.Markdown;
import dev.millrace.job.NewJob;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Pulse;
import dev.millrace.store.WorkSource;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JsonText;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** What heartbeats do to the table: at their pace, with all loops of a worker, and as fast as they go. */
public final class HeartbeatFamily implements Family {
    /** A claim sets the same column; it locks its rows by another name. */
    private static final String BEATS = "with \"rows_to_lock\"%set \"last_heartbeat_at\" = %";

    @Override
    public String name() {
        return "heartbeat";
    }

    @Override
    public String measures() {
        return "What 200 running jobs cost by being alive: for three minutes at the default pace of a beat in 30 s, with"
                + " all loops of a worker, and then 20,000 beats as fast as they go.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(5);
    }

    @Override
    public void run(Bench bench) throws SQLException, InterruptedException {
        paced(bench);
        fast(bench);
    }

    /** What the table and the server's counters say at one moment. */
    private record Moment(
            BenchDatabase database,
            String wal,
            ServerStatistics.TableChanges changes,
            ServerStatistics.TableSize size,
            long nanos) {
        double seconds() {
            return (System.nanoTime() - nanos) / 1e9;
        }

        static Moment of(BenchDatabase database) throws SQLException, InterruptedException {
            ServerStatistics statistics = database.statistics();
            statistics.awaitCounts();
            statistics.resetStatements();
            return new Moment(
                    database,
                    statistics.walPosition(),
                    statistics.changes(BenchDatabase.JOBS),
                    statistics.size(BenchDatabase.JOBS),
                    System.nanoTime());
        }
    }

    private static void paced(Bench bench) throws SQLException, InterruptedException {
        BenchDatabase database = bench.database("heartbeat_paced").migrate();
        leaveToBeats(database);
        Duration interval = Duration.ofMillis(bench.size().of(500, 1_000, 30_000));
        int jobs = bench.size().of(20, 200, 200);
        int intervals = bench.size().of(4, 8, 6);
        Duration watched = interval.multipliedBy(intervals);
        try (HeldJobs held =
                new HeldJobs(database, jobs, interval, UnaryOperator.identity(), UnaryOperator.identity())) {
            database.settle();
            Thread.sleep(
                    interval.toMillis() * 5 / 2); // rows find their places, and jobs come to be beaten for together
            Moment before = Moment.of(database);
            Thread.sleep(watched.toMillis());
            double expected = jobs * before.seconds() * 1_000 / interval.toMillis();
            long beats = found(bench, "paced", before);
            bench.say("paced: " + beats + " beats");
            bench.results()
                    .check(
                            "paced: beats are as many as intervals ask for, to within half of them",
                            true,
                            beats > expected * 0.5 && beats < expected * 1.5);
        }
        bench.results().check("paced: jobs that succeeded afterwards", (long) jobs, database.jobs("Succeeded"));
        bench.results()
                .check(
                        "paced: attempts",
                        (long) jobs,
                        database.number("SELECT sum(attempt_count) FROM " + BenchDatabase.JOBS));
        targets(bench);
    }

    private static void fast(Bench bench) throws SQLException, InterruptedException {
        BenchDatabase database = bench.database("heartbeat_fast").migrate();
        leaveToBeats(database);
        int jobs = bench.size().of(20, 200, 200);
        int rounds = bench.size().of(5, 20, 100);
        DataSource connection = database.pool(1);
        PostgresStore store = PostgresStore.on(connection, BenchDatabase.SCHEMA);
        List<Attempt> attempts = running(store, jobs);
        database.settle();
        Beating beating = new Beating(bench, database, connection, store.work(), attempts);
        beating.run("first two rounds", 2);
        double seconds = beating.run("fast", rounds);
        bench.results().add("beats", Map.of("run", "fast"), "beats/s", List.of(jobs * rounds / seconds));
    }

    /** Beats as fast as they go, on one connection. */
    private record Beating(
            Bench bench, BenchDatabase database, DataSource connection, WorkSource work, List<Attempt> attempts) {
        /** {@return the seconds that this took} */
        double run(String name, int rounds) throws SQLException, InterruptedException {
            ServerStatistics.flush(connection);
            Moment before = Moment.of(database);
            beat(work, attempts, rounds);
            double seconds = before.seconds();
            ServerStatistics.flush(connection);
            bench.results().check(name + ": beats", (long) attempts.size() * rounds, found(bench, name, before));
            bench.results()
                    .check(
                            name + ": rows updated",
                            (long) attempts.size() * rounds,
                            database.statistics().changes(BenchDatabase.JOBS).updates()
                                    - before.changes().updates());
            return seconds;
        }
    }

    /** Vacuum and analysis write to indexes and mark rows, whenever they come to it: that would be counted as beats'. */
    private static void leaveToBeats(BenchDatabase database) throws SQLException {
        database.execute(
                "ALTER TABLE " + BenchDatabase.JOBS + " SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)",
                "VACUUM ANALYZE"); // the new catalog as well, or that would be done meanwhile
    }

    private static void beat(WorkSource work, List<Attempt> attempts, int rounds) {
        for (int round = 0; round < rounds; round++) {
            Map<Attempt, Pulse> pulses = work.beat(attempts);
            if (pulses.size() != attempts.size() || pulses.values().stream().anyMatch(pulse -> pulse != Pulse.HELD)) {
                throw new CheckFailedException("Beats of held jobs were answered " + pulses.values());
            }
        }
    }

    /** Jobs that run here, without a worker. */
    private static List<Attempt> running(PostgresStore store, int jobs) {
        List<NewJob> wanted = new ArrayList<>();
        for (int job = 0; job < jobs; job++) {
            wanted.add(NewJob.of("job-" + job, "held", JsonText.of("{\"input\":\"" + Payloads.noise(4_000) + "\"}")));
        }
        store.jobs().submitAll(wanted);
        WorkSource work = store.work();
        List<Attempt> attempts = new Claimer(work, List.of("held"))
                .claim(jobs).stream().map(Claim::attempt).toList();
        attempts.forEach(work::start);
        return attempts;
    }

    /** Keeps what has changed since then, and returns the number of beats. */
    private static long found(Bench bench, String run, Moment before) throws SQLException, InterruptedException {
        BenchDatabase database = before.database();
        ServerStatistics statistics = database.statistics();
        double seconds = before.seconds();
        ServerStatistics.Statements beating = statistics.statements(BEATS);
        ServerStatistics.Statements all = statistics.statements("%");
        ServerStatistics.Wal wal = statistics.walSince(before.wal(), BenchDatabase.JOBS);
        statistics.awaitCounts();
        ServerStatistics.TableChanges changes = statistics.changes(BenchDatabase.JOBS);
        ServerStatistics.TableSize size = statistics.size(BenchDatabase.JOBS);
        long beats = beating.rows();
        long updates = changes.updates() - before.changes().updates();
        double heapOnly = 100.0 * (changes.heapOnly() - before.changes().heapOnly()) / updates;
        keep(bench, run, "heap-only", "%", heapOnly);
        keep(bench, run, "WAL a beat", "bytes", (double) wal.bytes() / beats);
        keep(bench, run, "full-page images a beat", "bytes", (double) wal.fullPageBytes() / beats);
        keep(bench, run, "beats a statement", "beats", (double) beats / beating.calls());
        keep(bench, run, "buffers a beat", "pages", (double) beating.buffers() / beats);
        keep(bench, run, "statements", "statements/s", all.calls() / seconds);
        keep(
                bench,
                run,
                "heap growth",
                "bytes",
                (double) size.heap() - before.size().heap());
        keep(
                bench,
                run,
                "TOAST growth",
                "bytes",
                (double) size.toast() - before.size().toast());
        keep(
                bench,
                run,
                "index growth",
                "bytes",
                (double) size.indexes() - before.size().indexes());
        return beats;
    }

    private static void keep(Bench bench, String run, String name, String unit, double value) {
        bench.results().add(name, Map.of("run", run), unit, List.of(value));
    }

    private static void targets(Bench bench) {
        bench.results().target("heap-only, paced, %", paced(bench, "heap-only"), ">=", 99);
        bench.results().target("TOAST growth, paced, bytes", paced(bench, "TOAST growth"), "<=", 0);
        bench.results().target("WAL a beat, paced, bytes", paced(bench, "WAL a beat"), "<=", 250);
        bench.results().target("beats a statement, paced", paced(bench, "beats a statement"), ">=", 50);
        bench.results().target("statements a second, paced", paced(bench, "statements"), "<=", 10);
    }

    private static double paced(Bench bench, String name) {
        return bench.results().measurement(name, Map.of("run", "paced")).median();
    }

    @Override
    public Rendering render(FamilyResults results) {
        Markdown table = new Markdown("", "paced", "as fast as they go", "the first two beats of each");
        for (String name : List.of(
                "heap-only",
                "WAL a beat",
                "full-page images a beat",
                "beats a statement",
                "buffers a beat",
                "statements",
                "heap growth",
                "TOAST growth",
                "index growth")) {
            var paced = results.measurement(name, Map.of("run", "paced"));
            table.row(
                    name + ", " + paced.unit(),
                    paced,
                    results.measurement(name, Map.of("run", "fast")),
                    results.measurement(name, Map.of("run", "first two rounds")));
        }
        table.row("beats/s", "", results.measurement("beats", Map.of("run", "fast")), "");
        return Rendering.of(table + "\n" + Markdown.targets(results.targets()));
    }
}
