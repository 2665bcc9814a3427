package dev.millrace.benchmarks.floor;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.Millrace;
import dev.millrace.benchmarks.Bench;
import dev.millrace.benchmarks.BenchDatabase;
import dev.millrace.benchmarks.Claimer;
import dev.millrace.benchmarks.Family;
import dev.millrace.benchmarks.FamilyResults;
import dev.millrace.benchmarks.JobTable;
import dev.millrace.benchmarks.Measurement;
import dev.millrace.benchmarks.Payloads;
import dev.millrace.benchmarks.Rendering;
import dev.millrace.benchmarks.ThreadCosts;
import dev.millrace.benchmarks.Turns;
import dev.millrace.benchmarks.report.Markdown;
import dev.millrace.job.JobType;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.postgres.PostgresStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the library costs beyond the same statements by hand. */
public final class FloorFamily implements Family {
    private static final JobType<Submitted> TYPE = JobType.of("kind-0", Submitted.class);
    private static final int BEATS = 50;

    /** A payload. */
    record Submitted(String input) {}

    @Override
    public String name() {
        return "floor";
    }

    @Override
    public String measures() {
        return "A claim of one, a beat of 50 and a submission by the library, and the same SQL by hand over JDBC (of a"
                + " submission, a plain insert of the same row), in alternation on one connection: each call a transaction"
                + " of its own, and many in one transaction, where there is no commit to hide what a call costs.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(4);
    }

    /** What the library works with: a pool, or one transaction. */
    private record Way(PostgresStore store, Submitter submitter) {}

    @FunctionalInterface
    private interface Submitter {
        void submit();
    }

    @FunctionalInterface
    private interface Typed {
        void call(Way way);
    }

    @FunctionalInterface
    private interface Hand {
        void call(Connection connection) throws SQLException;
    }

    /**
     * The same thing in two ways.
     *
     * @param warmUps rounds before those that count; most of a short call is then spent in compiled code, as in a process
     *     that has run for minutes
     */
    private record Pair(String name, int calls, int warmUps, Typed typed, Hand hand) {}

    /** What a call took. */
    private record Cost(double micros, double cpuMicros, double bytes) {}

    @Override
    public void run(Bench bench) throws SQLException {
        BenchDatabase database = bench.database("floor").migrate();
        int queued = bench.size().of(1_000, 4_000, 11_400);
        JobTable.load(database, new JobTable.Filling(bench.size().of(1_000, 20_000, 188_200), 400, queued), 100);
        HikariDataSource pool = database.pool(1);
        Millrace millrace = Millrace.on(pool);
        Submitted payload = new Submitted(Payloads.noise(80));
        Way own = new Way(PostgresStore.on(pool, BenchDatabase.SCHEMA), () -> millrace.submit(TYPE, payload));
        for (Pair pair : pairs(bench, database, own.store(), millrace, payload)) {
            inOwnTransactions(bench, database, pool, own, pair);
            inOneTransaction(bench, database, own.store(), millrace, payload, pair);
        }
        targets(bench);
    }

    private static List<Pair> pairs(
            Bench bench, BenchDatabase database, PostgresStore store, Millrace millrace, Submitted payload)
            throws SQLException {
        try (Connection connection = database.unpooled().getConnection()) {
            String template = millrace.submit(TYPE, payload).id();
            RowInsert insert = new RowInsert(connection, template);
            database.execute("DELETE FROM " + BenchDatabase.JOBS + " WHERE operation_id = '" + template + "'");
            connection.setAutoCommit(false);
            ByHand claim =
                    ByHand.like(connection, same -> new Claimer(store.in(same).work(), JobTable.KINDS).claim(1));
            List<Attempt> running = new Claimer(store.work(), JobTable.KINDS)
                    .claim(BEATS).stream().map(Claim::attempt).toList();
            running.forEach(store.work()::start);
            database.execute("UPDATE " + BenchDatabase.JOBS + " SET claimed_by = 'beating' WHERE status = 'Running'");
            ByHand beat = ByHand.like(connection, same -> store.in(same).work().beat(running));
            int calls = bench.size().of(5, 100, 100);
            return List.of(
                    new Pair(
                            "claim of 1",
                            calls,
                            bench.size().of(0, 8, 20),
                            way -> new Claimer(way.store().work(), JobTable.KINDS).claim(1),
                            by -> claim.executeWithTokens(by, 1)),
                    new Pair(
                            "beat of 50",
                            calls,
                            bench.size().of(0, 8, 20),
                            way -> way.store().work().beat(running),
                            by -> beat.execute(by, BEATS)),
                    new Pair(
                            "submission",
                            calls,
                            bench.size().of(0, 8, 100),
                            way -> way.submitter().submit(),
                            insert::insert));
        }
    }

    private static void inOwnTransactions(
            Bench bench, BenchDatabase database, HikariDataSource pool, Way own, Pair pair) throws SQLException {
        List<Cost> typed = new ArrayList<>();
        List<Cost> hand = new ArrayList<>();
        int rounds = rounds(bench);
        long submitted = submitted(database);
        for (int round = -pair.warmUps(); round < rounds; round++) {
            for (boolean library : round % 2 == 0 ? new boolean[] {true, false} : new boolean[] {false, true}) {
                Cost cost = library
                        ? cost(pair, () -> pair.typed().call(own))
                        : cost(pair, () -> {
                            try (Connection connection = pool.getConnection()) {
                                pair.hand().call(connection);
                            }
                        });
                if (round >= 0) {
                    (library ? typed : hand).add(cost);
                }
            }
            JobTable.unclaim(database);
        }
        if (pair.name().equals("submission")) {
            long expected = 2L * pair.calls() * (rounds + pair.warmUps());
            bench.results().check("rows that were submitted and inserted", expected, submitted(database) - submitted);
        }
        keep(bench, pair, "own", typed, hand);
    }

    private static void inOneTransaction(
            Bench bench, BenchDatabase database, PostgresStore store, Millrace millrace, Submitted payload, Pair pair)
            throws SQLException {
        List<Cost> typed = new ArrayList<>();
        List<Cost> hand = new ArrayList<>();
        try (Connection connection = database.unpooled().getConnection()) {
            connection.setAutoCommit(false);
            Way way =
                    new Way(store.in(connection), () -> millrace.in(connection).submit(TYPE, payload));
            for (int round = -pair.warmUps(); round < rounds(bench); round++) {
                for (boolean library : round % 2 == 0 ? new boolean[] {true, false} : new boolean[] {false, true}) {
                    Cost cost = library
                            ? cost(pair, () -> pair.typed().call(way))
                            : cost(pair, () -> pair.hand().call(connection));
                    connection.rollback();
                    if (round >= 0) {
                        (library ? typed : hand).add(cost);
                    }
                }
                database.execute("VACUUM (INDEX_CLEANUP ON) " + BenchDatabase.JOBS);
            }
        }
        keep(bench, pair, "one", typed, hand);
    }

    private static int rounds(Bench bench) {
        return bench.size().of(2, 6, 25);
    }

    private static long submitted(BenchDatabase database) throws SQLException {
        return database.number("SELECT count(*) FROM " + BenchDatabase.JOBS + " WHERE operation_id NOT LIKE 'job-%'");
    }

    @FunctionalInterface
    private interface Call {
        void call() throws SQLException;
    }

    private static Cost cost(Pair pair, Call call) throws SQLException {
        long bytes = ThreadCosts.allocatedBytes();
        long cpu = ThreadCosts.cpuNanos();
        long began = System.nanoTime();
        for (int number = 0; number < pair.calls(); number++) {
            call.call();
        }
        long nanos = System.nanoTime() - began;
        return new Cost(
                nanos / 1e3 / pair.calls(),
                (ThreadCosts.cpuNanos() - cpu) / 1e3 / pair.calls(),
                (double) (ThreadCosts.allocatedBytes() - bytes) / pair.calls());
    }

    private static void keep(Bench bench, Pair pair, String transaction, List<Cost> typed, List<Cost> hand) {
        add(bench, pair, transaction, "library", typed);
        add(bench, pair, transaction, "by hand", hand);
        List<Double> ratios = Turns.ratios(micros(typed), micros(hand));
        bench.results().add("ratio", of(pair, transaction), "times", ratios);
        bench.results()
                .check(
                        pair.name() + ", transactions: " + transaction + ": calls that returned what they should",
                        true,
                        true);
    }

    private static void add(Bench bench, Pair pair, String transaction, String by, List<Cost> costs) {
        Map<String, String> of = of(pair, transaction);
        of.put("by", by);
        bench.results().add("time", of, "us", micros(costs));
        bench.results()
                .add("on a core", of, "us", costs.stream().map(Cost::cpuMicros).toList());
        bench.results()
                .add("allocated", of, "bytes", costs.stream().map(Cost::bytes).toList());
    }

    private static List<Double> micros(List<Cost> costs) {
        return costs.stream().map(Cost::micros).toList();
    }

    private static Map<String, String> of(Pair pair, String transaction) {
        Map<String, String> of = new LinkedHashMap<>();
        of.put("call", pair.name());
        of.put("transactions", transaction);
        return of;
    }

    private static void targets(Bench bench) {
        for (String call : List.of("claim of 1", "beat of 50")) {
            bench.results()
                    .target(call + ", time by the library in relation to by hand", ratio(bench, call), "<=", 1.25);
        }
        bench.results()
                .target(
                        "submissions a second in relation to inserts by hand",
                        1 / ratio(bench, "submission"),
                        ">=",
                        0.8);
    }

    private static double ratio(Bench bench, String call) {
        return bench.results()
                .measurement("ratio", Map.of("call", call, "transactions", "own"))
                .median();
    }

    @Override
    public Rendering render(FamilyResults results) {
        Markdown table = new Markdown(
                "call",
                "transactions",
                "library, us",
                "by hand, us",
                "ratio",
                "library on a core, us",
                "by hand on a core, us",
                "library allocates, bytes",
                "by hand, bytes");
        for (Measurement ratio : results.measurements("ratio")) {
            Map<String, String> library = new LinkedHashMap<>(ratio.of());
            library.put("by", "library");
            Map<String, String> hand = new LinkedHashMap<>(ratio.of());
            hand.put("by", "by hand");
            table.row(
                    ratio.label("call"),
                    ratio.label("transactions").equals("own") ? "one for each call" : "one for all",
                    results.measurement("time", library).median(),
                    results.measurement("time", hand).median(),
                    ratio,
                    results.measurement("on a core", library).median(),
                    results.measurement("on a core", hand).median(),
                    results.measurement("allocated", library).median(),
                    results.measurement("allocated", hand).median());
        }
        return Rendering.of(table + "\n" + Markdown.targets(results.targets()));
    }
}
