package dev.millrace.benchmarks.load;

import dev.millrace.Millrace;
import dev.millrace.SubmitOption;
import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
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
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/** Workers that are killed again and again, and a server that crashes, while jobs come in. */
public final class FaultsFamily implements Family {
    private static final Duration TIMEOUT = Duration.ofSeconds(4);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
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
                + " is killed (kill -9) and another one started, and after half of the time the server crashes and starts"
                + " again. Heartbeat timeout 4 s rather than the default of 90 s, sweeps of the recovery every second.";
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
        int workers = bench.size().of(2, 3, 3);
        try (Crew crew = new Crew(database, workers)) {
            Producer producer = new Producer(Millrace.on(database.pool(4)).withWakeUps());
            Thread producing = new Thread(producer, "producer");
            producing.start();
            try {
                breakThings(bench, database, crew);
            } finally {
                producer.over.set(true);
                producing.join();
            }
            awaitEnd(database, producer.submitted.get());
            find(bench, database, crew, producer.submitted.get());
        }
    }

    /** Submits a job each 10 ms, under an id of its own, and repeats that until it is told that it is there. */
    private static final class Producer implements Runnable {
        private final Millrace millrace;
        private final AtomicBoolean over = new AtomicBoolean();
        private final AtomicLong submitted = new AtomicLong();

        Producer(Millrace millrace) {
            this.millrace = millrace;
        }

        @Override
        public void run() {
            long next = System.nanoTime();
            while (!over.get()) {
                submit(submitted.get());
                submitted.incrementAndGet();
                next = Math.max(
                        next + TimeUnit.MILLISECONDS.toNanos(10), System.nanoTime() - TimeUnit.SECONDS.toNanos(1));
                sleep(next - System.nanoTime());
            }
        }

        private void submit(long number) {
            while (true) {
                try {
                    millrace.submit(
                            FaultWorker.TYPE,
                            new FaultWorker.Numbered(number),
                            SubmitOption.id("number-" + number),
                            BEATS,
                            RETRIES);
                    return;
                } catch (StoreException e) {
                    sleep(TimeUnit.MILLISECONDS.toNanos(100)); // the server is being started again
                }
            }
        }

        private static void sleep(long nanos) {
            try {
                TimeUnit.NANOSECONDS.sleep(nanos);
            } catch (InterruptedException e) {
                throw new IllegalStateException("Nobody interrupts the producer", e);
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

        Crew(BenchDatabase database, int size) throws IOException, InterruptedException, TimeoutException {
            this.database = database;
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
                    List.of(database.jdbcUrl(), database.user(), database.password(), name)));
        }

        /** Kills the oldest one, and returns when another one is there in its place. */
        void kill() throws IOException, InterruptedException, SQLException, TimeoutException {
            String name = names.remove(0);
            awaitClaims(name);
            workers.remove(0).kill();
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
        for (int number = 1; number <= steps; number++) {
            Thread.sleep(step.toMillis());
            if (number == steps / 2 && bench.server().provider() == Provider.EMBEDDED) {
                restart(bench, database);
            } else {
                crew.kill();
            }
        }
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
                .check("jobs that are there", submitted, database.number("SELECT count(*) FROM " + BenchDatabase.JOBS));
        bench.results().check("jobs that succeeded", submitted, database.jobs("Succeeded"));
        bench.results()
                .check(
                        "jobs that have run",
                        submitted,
                        database.number("SELECT count(DISTINCT number) FROM " + FaultWorker.RUNS));
        bench.results().add("submitted", Map.of(), "jobs", List.of((double) submitted));
        bench.results().add("processes killed", Map.of(), "processes", List.of((double) crew.kills.size()));
        bench.results().add("jobs that have run more than once", Map.of(), "jobs", List.of((double)
                database.number("SELECT count(*) FROM (SELECT number FROM " + FaultWorker.RUNS
                        + " GROUP BY number HAVING count(*) > 1) AS again")));
        List<Double> seconds = new ArrayList<>();
        double held = 0;
        for (Kill kill : crew.kills) {
            held += kill.held().size();
            for (String job : kill.held()) {
                seconds.add(database.number(
                                "SELECT (1000 * extract(epoch FROM completed_at - ?::timestamptz))::bigint FROM "
                                        + BenchDatabase.JOBS + " WHERE operation_id = ?",
                                kill.at(),
                                job)
                        / 1e3);
            }
        }
        bench.results().add("jobs held by killed processes", Map.of(), "jobs", List.of(held));
        bench.results().check("some killed processes held jobs", true, !seconds.isEmpty());
        bench.results().add("from a kill to the success of a job that it hit", Map.of(), "s", seconds);
        double worst = seconds.stream().max(Comparator.naturalOrder()).orElseThrow();
        bench.results().target("jobs lost", 0, "<=", 0);
        bench.results()
                .target(
                        "longest time from a kill to success, beyond heartbeat timeout and sweep interval, s",
                        worst - TIMEOUT.toSeconds() - FaultWorker.SWEEP.toSeconds(),
                        "<=",
                        5);
    }

    @Override
    public Rendering render(FamilyResults results) {
        Markdown table = new Markdown("", "measured");
        Predicate<Measurement> several = one -> one.values().size() > 1;
        results.measurements()
                .forEach(one -> table.row(one.name() + (several.test(one) ? ", median" : "") + ", " + one.unit(), one));
        table.row("jobs lost", "0");
        return Rendering.of(table + "\n" + Markdown.targets(results.targets()));
    }
}
