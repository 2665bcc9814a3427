package dev.millrace.benchmarks.load;

import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.Payloads;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.ServerStatistics;
import dev.millrace.benchmarks.report.Markdown;
import dev.millrace.job.JobSpec;
import dev.millrace.job.NewJob;
import dev.millrace.store.Claim;
import dev.millrace.store.Completion;
import dev.millrace.store.Creation;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.store.WorkSource;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JsonText;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

/** Where the WAL of a job comes from: in which step, and whether of its row or of which indexes. */
public final class WalFamily implements Family {
    private static final String KIND = "work";
    private static final int TOGETHER = 200;

    /** All that is written for a job of those that go through each step together. */
    private static final List<String> STEPS_TOGETHER =
            List.of("submitted 200 at once", "claimed 200 at once", "finished 200 at once");

    /** What may be there or not, as it isn't needed to run jobs; what each thing is for. */
    private static final Map<String, List<String>> WITHOUT = without();

    private static Map<String, List<String>> without() {
        Map<String, List<String>> without = new LinkedHashMap<>();
        without.put("as it is", List.of());
        without.put(
                "without the five indexes of lists",
                List.of(
                        "idx_execution_jobs_created",
                        "idx_execution_jobs_status_created",
                        "idx_execution_jobs_kind_created",
                        "idx_execution_jobs_tenant_created",
                        "idx_execution_jobs_lookup_keys"));
        without.put(
                "and without those of recovery and retention",
                List.of(
                        "idx_execution_jobs_undispatched",
                        "idx_execution_jobs_reconcilable",
                        "idx_execution_jobs_expired"));
        without.put("and without that of claims by kind", List.of("idx_execution_jobs_claimable_kind"));
        return without;
    }

    @Override
    public String name() {
        return "wal";
    }

    @Override
    public String measures() {
        return "WAL of a job with a payload of 100 bytes from its submission to its success, without full-page images,"
                + " by what is written: versions of its row, entries in indexes (clearing away of old ones included), and commits.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(1);
    }

    @FunctionalInterface
    private interface Step {
        /** {@return how many jobs it was done to} */
        long run() throws SQLException;
    }

    @Override
    public void run(Bench bench) throws SQLException {
        BenchDatabase database = bench.database("wal").migrate();
        database.execute("ALTER TABLE " + BenchDatabase.JOBS + " SET (autovacuum_enabled = off)");
        int jobs = bench.size().of(10, 400, 4_000);
        for (Map.Entry<String, List<String>> tables : WITHOUT.entrySet()) {
            for (String index : tables.getValue()) {
                database.execute("DROP INDEX " + BenchDatabase.SCHEMA + "." + index);
            }
            database.execute("TRUNCATE " + BenchDatabase.JOBS);
            PostgresStore store = PostgresStore.on(database.pool(1), BenchDatabase.SCHEMA);
            together(bench, database, store, tables.getKey(), jobs);
            oneByOne(bench, database, store, tables.getKey(), jobs / 4 + 1);
            bench.results()
                    .check(
                            "table of jobs " + tables.getKey() + ": jobs that have succeeded in the end",
                            (long) jobs + jobs / 4 + 1,
                            database.jobs("Succeeded"));
        }
    }

    /** As a worker with prefetch and an outcome buffer does it. */
    private static void together(Bench bench, BenchDatabase database, PostgresStore store, String tables, int jobs)
            throws SQLException {
        WorkSource work = store.work();
        Claimer claimer = new Claimer(work, List.of(KIND));
        List<Claim> claims = new ArrayList<>();
        step(
                bench,
                database,
                tables,
                STEPS_TOGETHER.get(0),
                jobs,
                () -> store.jobs().submitAll(newJobs(jobs)).stream()
                        .filter(Creation::created)
                        .count());
        step(bench, database, tables, STEPS_TOGETHER.get(1), jobs, () -> {
            while (claims.size() < jobs) {
                claims.addAll(claimer.claim(Math.min(TOGETHER, jobs - claims.size())));
            }
            return claims.size();
        });
        step(bench, database, tables, STEPS_TOGETHER.get(2), jobs, () -> {
            long finished = 0;
            for (int from = 0; from < jobs; from += TOGETHER) {
                finished += work.finishAll(claims.subList(from, Math.min(from + TOGETHER, jobs)).stream()
                                .map(WalFamily::succeeded)
                                .toList())
                        .size();
            }
            return finished;
        });
    }

    private static void oneByOne(Bench bench, BenchDatabase database, PostgresStore store, String tables, int jobs)
            throws SQLException {
        WorkSource work = store.work();
        Claimer claimer = new Claimer(work, List.of(KIND));
        List<Claim> claims = new ArrayList<>();
        step(
                bench,
                database,
                tables,
                "submitted one by one",
                jobs,
                () -> newJobs(jobs).stream()
                        .map(store.jobs()::submit)
                        .filter(Creation::created)
                        .count());
        step(bench, database, tables, "claimed one by one", jobs, () -> {
            while (claims.size() < jobs) {
                claims.addAll(claimer.claim(1));
            }
            return claims.size();
        });
        step(
                bench,
                database,
                tables,
                "started",
                jobs,
                () -> claims.stream()
                        .filter(claim -> work.start(claim.attempt()) == Pulse.HELD)
                        .count());
        step(
                bench,
                database,
                tables,
                "finished one by one",
                jobs,
                () -> claims.stream()
                        .map(WalFamily::succeeded)
                        .filter(work::finish)
                        .count());
    }

    private static Completion succeeded(Claim claim) {
        return new Completion(claim, new Finish.Succeed());
    }

    private static List<NewJob> newJobs(int jobs) {
        JsonText payload = JsonText.of("{\"input\":\"" + Payloads.noise(88) + "\"}");
        return IntStream.range(0, jobs)
                .mapToObj(number -> NewJob.of(id(number, jobs), JobSpec.of(KIND, payload)))
                .toList();
    }

    /** As long as those that the library draws. */
    private static String id(int number, int jobs) {
        return String.format(Locale.ROOT, "%08d-%04d-7000-8000-%012d", number, jobs % 10_000, number);
    }

    private static void step(Bench bench, BenchDatabase database, String tables, String name, int jobs, Step step)
            throws SQLException {
        ServerStatistics statistics = database.statistics();
        String begin = statistics.walPosition();
        long done = step.run();
        ServerStatistics.WalByKind wal = statistics.walByKindSince(begin);
        bench.results().check("table of jobs " + tables + ": jobs " + name, (long) jobs, done);
        Map<String, Long> kinds = new LinkedHashMap<>();
        kinds.put("rows", wal.rows());
        kinds.put("indexes", wal.indexes());
        kinds.put("all else", wal.other());
        kinds.put("sum", wal.rows() + wal.indexes() + wal.other());
        kinds.forEach((kind, bytes) -> {
            Map<String, String> of = new LinkedHashMap<>();
            of.put("tables", tables);
            of.put("step", name);
            of.put("kind", kind);
            bench.results().add("WAL", of, "B/job", List.of(bytes / (double) jobs));
        });
    }

    @Override
    public Rendering render(FamilyResults results) {
        StringBuilder text = new StringBuilder();
        for (String tables : WITHOUT.keySet()) {
            Markdown table = new Markdown("table of jobs " + tables, "rows, B", "indexes, B", "all else, B", "sum, B");
            List<String> steps = results.measurements("WAL").stream()
                    .filter(one -> one.label("tables").equals(tables))
                    .map(one -> one.label("step"))
                    .distinct()
                    .toList();
            for (String step : steps) {
                table.row(
                        step,
                        bytes(results, tables, step, "rows"),
                        bytes(results, tables, step, "indexes"),
                        bytes(results, tables, step, "all else"),
                        bytes(results, tables, step, "sum"));
            }
            text.append(table).append('\n');
        }
        return Rendering.of(text
                + "All steps of 200 at once together, and what of that are versions of rows, without index entries and commits:\n\n"
                + sums(results));
    }

    private static Markdown sums(FamilyResults results) {
        Markdown table = new Markdown("table of jobs", "rows alone, B", "sum, B");
        for (String tables : WITHOUT.keySet()) {
            table.row(tables, together(results, tables, "rows"), together(results, tables, "sum"));
        }
        return table;
    }

    private static double together(FamilyResults results, String tables, String kind) {
        return STEPS_TOGETHER.stream()
                .mapToDouble(step -> bytes(results, tables, step, kind))
                .sum();
    }

    private static double bytes(FamilyResults results, String tables, String step, String kind) {
        return results.measurement("WAL", Map.of("tables", tables, "step", step, "kind", kind))
                .median();
    }
}
