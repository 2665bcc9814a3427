package dev.millrace.benchmarks.load;

import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.CheckFailedException;
import dev.millrace.benchmarks.ChildJvm;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.report.Markdown;
import dev.millrace.devdb.Provider;
import dev.millrace.devdb.StopMode;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.StoreException;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/** Workers that are killed again and again, and a server that crashes, while jobs come in. */
public final class FaultsFamily implements Family {
    private static final Duration TIMEOUT = Duration.ofSeconds(4);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int PRODUCERS = 4;
    private static final Duration LONGEST_OUTAGE = Duration.ofSeconds(30);
    private static final SubmitOption BEATS =
            SubmitOption.heartbeat(new HeartbeatPolicy(TIMEOUT.dividedBy(4), TIMEOUT));
    private static final SubmitOption RETRIES = SubmitOption.retry(RetryPolicy.fixed(20, Duration.ofMillis(200)));

    @Override
    public String name() {
        return "faults";
    }

    @Override
    public String measures() {
        return "100 jobs a second for about a minute, each of which takes 100 ms, in three worker processes; every 5 s one of these"
                + " is killed (kill -9) and another one started. After half of the time the server crashes instead and starts"
                + " again, unless it is one of somebody else (`--url`): the table says how often it did. Heartbeat timeout 4 s"
                + " rather than the default of 90 s, sweeps of the recovery every second. A job is lost that was submitted, and"
                + " has not succeeded two minutes after the last one came, or has succeeded without having run.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(2);
    }

    @Override
    public void run(Bench bench) throws Exception {
        BenchDatabase database = bench.database("faults").migrate();
        database.execute("CREATE TABLE " + FaultWorker.RUNS
                + " (number bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())");
        ExecutorService threads = Executors.newFixedThreadPool(PRODUCERS);
        try (Crew crew = new Crew(database)) {
            crew.hire(bench.size().of(2, 3, 3));
            Producer producer =
                    new Producer(Millrace.on(database.pool(PRODUCERS + 2)).withWakeUps());
            List<Future<Duration>> producing = new ArrayList<>();
            long began = System.nanoTime();
            for (int thread = 0; thread < PRODUCERS; thread++) {
                producing.add(threads.submit(producer));
            }
            try {
                breakThings(bench, database, crew);
            } finally {
                producer.end();
            }
            Duration away = Duration.ZERO;
            for (Future<Duration> one : producing) {
                Duration waited = one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                away = waited.compareTo(away) > 0 ? waited : away;
            }
            long nanos = System.nanoTime() - began - away.toNanos();
            long submitted = producer.submitted();
            keep(bench, submitted, submitted / (nanos / 1e9));
            awaitEnd(database, submitted);
            find(bench, database, crew, submitted);
        } finally {
            threads.shutdownNow();
        }
    }

    /** Without the time in which the server was away. */
    private static void keep(Bench bench, long submitted, double rate) {
        bench.say(String.format(Locale.ROOT, "%,d jobs, %.1f a second", submitted, rate));
        bench.results().add("submitted", Map.of(), "jobs", List.of((double) submitted));
        bench.results().add("submitted a second, while the server was there", Map.of(), "jobs/s", List.of(rate));
        int least = bench.size().of(20, 50, 80);
        bench.results().check("at least " + least + " jobs a second came", true, rate >= least);
    }

    /**
     * Submits a job each 10 ms, under an id of its own, and repeats that until it is told that it is there. By several threads,
     * each of which says for how long it has found no server.
     */
    private static final class Producer implements Callable<Duration> {
        private final Millrace millrace;
        private long due = System.nanoTime();
        private long submitted;
        private boolean over;

        Producer(Millrace millrace) {
            this.millrace = millrace;
        }

        /** One that is to be submitted. */
        private record Next(long number, long due) {}

        /** At most a second of what was missed is made up for. */
        private synchronized Optional<Next> next() {
            if (over) {
                return Optional.empty();
            }
            due = Math.max(due + TimeUnit.MILLISECONDS.toNanos(10), System.nanoTime() - TimeUnit.SECONDS.toNanos(1));
            return Optional.of(new Next(submitted++, due));
        }

        synchronized void end() {
            over = true;
        }

        /** {@return how many, if no thread has failed} */
        synchronized long submitted() {
            return submitted;
        }

        @Override
        public Duration call() throws InterruptedException {
            Duration away = Duration.ZERO;
            for (Optional<Next> next = next(); next.isPresent(); next = next()) {
                TimeUnit.NANOSECONDS.sleep(next.get().due() - System.nanoTime());
                away = away.plus(submit(next.get().number()));
            }
            return away;
        }

        /** Whether an answer that was lost meant a job is only known when the server is there again. */
        private Duration submit(long number) throws InterruptedException {
            long began = System.nanoTime();
            boolean repeated = false;
            while (true) {
                try {
                    millrace.submit(
                            FaultWorker.TYPE,
                            new FaultWorker.Numbered(number),
                            SubmitOption.id("number-" + number),
                            BEATS,
                            RETRIES);
                    return repeated ? Duration.ofNanos(System.nanoTime() - began) : Duration.ZERO;
                } catch (StoreException e) {
                    if (System.nanoTime() - began > LONGEST_OUTAGE.toNanos()) {
                        throw e;
                    }
                    repeated = true;
                    Thread.sleep(100); // the server is being started again
                }
            }
        }
    }

    /** The worker processes. */
    private static final class Crew implements AutoCloseable {
        private final BenchDatabase database;
        private final List<ChildJvm> workers = new ArrayList<>();
        private final List<String> names = new ArrayList<>();
        private final List<Kill> kills = new ArrayList<>();
        private int started;

        Crew(BenchDatabase database) {
            this.database = database;
        }

        /** Starts that many, and returns when all are there. */
        void hire(int size) throws IOException, InterruptedException, TimeoutException {
            for (int worker = 0; worker < size; worker++) {
                start();
            }
            for (ChildJvm worker : workers) {
                worker.awaitLine("ready");
            }
        }

        private void start() throws IOException {
            String name = "worker-" + started++;
            names.add(name);
            workers.add(ChildJvm.start(
                    FaultWorker.class,
                    List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                    FaultWorker.environment(database, name)));
        }

        /** Kills the oldest one, and returns when another one is there in its place. */
        void kill() throws IOException, InterruptedException, SQLException, TimeoutException {
            String name = names.remove(0);
            awaitClaims(name);
            ChildJvm worker = workers.get(0);
            if (!worker.alive()) {
                throw new CheckFailedException(name + " has ended by itself: " + String.join("\n", worker.lines()));
            }
            worker.kill();
            workers.remove(0);
            String at = database.text("SELECT clock_timestamp()");
            String held = database.text(
                    "SELECT coalesce(string_agg(operation_id, ','), '') FROM " + BenchDatabase.JOBS
                            + " WHERE status IN ('Provisioning', 'Running') AND claimed_by = ?",
                    name);
            kills.add(new Kill(at, held.isEmpty() ? List.of() : List.of(held.split(",", -1))));
            start();
            workers.get(workers.size() - 1).awaitLine("ready");
        }

        /** Until it holds some jobs, which it will at once unless it is still waiting for the server. */
        private void awaitClaims(String name) throws SQLException, InterruptedException {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
            String query = "SELECT count(*) FROM " + BenchDatabase.JOBS
                    + " WHERE status IN ('Provisioning', 'Running') AND claimed_by = ?";
            while (database.number(query, name) < 2 && System.nanoTime() < deadline) {
                Thread.sleep(5);
            }
        }

        @Override
        public void close() throws InterruptedException {
            for (ChildJvm worker : workers) {
                worker.kill();
            }
        }
    }

    /** When a process was killed, and which jobs it held. */
    private record Kill(String at, List<String> held) {}

    private static void breakThings(Bench bench, BenchDatabase database, Crew crew)
            throws IOException, InterruptedException, SQLException, TimeoutException {
        int steps = bench.size().of(2, 4, 12);
        Duration step = Duration.ofMillis(bench.size().of(1_500, 3_000, 5_000));
        boolean ours = bench.server().provider() == Provider.EMBEDDED;
        String before = started(database);
        for (int number = 1; number <= steps; number++) {
            Thread.sleep(step.toMillis());
            if (number == steps / 2 && ours) {
                restart(bench, database);
            } else {
                crew.kill();
            }
        }
        bench.results()
                .check("the server has started anew", ours, !started(database).equals(before));
        bench.results().check("processes that were killed", ours ? steps - 1 : steps, crew.kills.size());
        bench.results().add("crashes of the server", Map.of(), "crashes", List.of(ours ? 1.0 : 0.0));
    }

    private static String started(BenchDatabase database) throws SQLException {
        return database.text("SELECT pg_postmaster_start_time()");
    }

    private static void restart(Bench bench, BenchDatabase database) throws InterruptedException, SQLException {
        bench.server().stop(StopMode.IMMEDIATE);
        bench.server().startAgain();
        String up = database.text("SELECT clock_timestamp()");
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        String query =
                "SELECT coalesce(1000 * extract(epoch FROM min(completed_at) - ?::timestamptz), -1)::bigint FROM "
                        + BenchDatabase.JOBS + " WHERE completed_at > ?::timestamptz";
        long millis = -1;
        while (millis < 0 && System.nanoTime() < deadline) {
            Thread.sleep(20);
            millis = database.number(query, up, up);
        }
        bench.results().check("a job has ended after the server's restart", true, millis >= 0);
        bench.results().add("from the server's start to the next job that ends", Map.of(), "s", List.of(millis / 1e3));
    }

    private static void awaitEnd(BenchDatabase database, long submitted) throws SQLException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (database.jobs("Succeeded") < submitted && System.nanoTime() < deadline) {
            Thread.sleep(200);
        }
    }

    private static void find(Bench bench, BenchDatabase database, Crew crew, long submitted) throws SQLException {
        bench.results()
                .check(
                        "jobs that nobody has submitted",
                        0L,
                        database.number(
                                "SELECT count(*) FROM " + BenchDatabase.JOBS + " WHERE operation_id NOT IN"
                                        + " (SELECT 'number-' || n FROM generate_series(0, ?::bigint - 1) AS numbers(n))",
                                submitted));
        bench.results().add("processes killed", Map.of(), "processes", List.of((double) crew.kills.size()));
        bench.results().add("jobs that have run more than once", Map.of(), "jobs", List.of((double)
                database.number("SELECT count(*) FROM (SELECT number FROM " + FaultWorker.RUNS
                        + " GROUP BY number HAVING count(*) > 1) AS again")));
        List<Double> seconds = new ArrayList<>();
        double held = 0;
        for (Kill kill : crew.kills) {
            held += kill.held().size();
            for (String job : kill.held()) {
                seconds.addAll(untilSuccess(database, kill, job));
            }
        }
        bench.results().add("jobs held by killed processes", Map.of(), "jobs", List.of(held));
        bench.results().check("some killed processes held jobs", true, !seconds.isEmpty());
        bench.results().add("from a kill to the success of a job that it hit", Map.of(), "s", seconds);
        double worst = seconds.stream().max(Comparator.naturalOrder()).orElseThrow();
        double lost = submitted
                - database.number(
                        "SELECT count(*) FROM " + BenchDatabase.JOBS + " WHERE status = 'Succeeded' AND operation_id IN"
                                + " (SELECT 'number-' || number FROM " + FaultWorker.RUNS + ")");
        bench.results().add("jobs lost", Map.of(), "jobs", List.of(lost));
        bench.results().target("jobs lost", lost, "<=", 0);
        bench.results()
                .target(
                        "longest time from a kill to success, beyond heartbeat timeout and sweep interval, s",
                        worst - TIMEOUT.toSeconds() - FaultWorker.SWEEP.toSeconds(),
                        "<=",
                        5);
    }

    /** How long it took; nothing for a job that is lost. */
    private static List<Double> untilSuccess(BenchDatabase database, Kill kill, String job) throws SQLException {
        long millis = database.number(
                "SELECT coalesce((SELECT (1000 * extract(epoch FROM completed_at - ?::timestamptz))::bigint FROM "
                        + BenchDatabase.JOBS + " WHERE operation_id = ? AND status = 'Succeeded'), -1)",
                kill.at(),
                job);
        return millis < 0 ? List.of() : List.of(millis / 1e3);
    }

    @Override
    public Rendering render(FamilyResults results) {
        Markdown table = new Markdown("", "measured");
        Predicate<Measurement> several = one -> one.values().size() > 1;
        results.measurements()
                .forEach(one -> table.row(one.name() + (several.test(one) ? ", median" : "") + ", " + one.unit(), one));
        return Rendering.of(table + "\n" + Markdown.targets(results.targets()));
    }
}
