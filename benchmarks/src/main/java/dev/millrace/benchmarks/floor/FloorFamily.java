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
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Pulse;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JobStatus;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** What the library costs beyond the same statements by hand. */
public final class FloorFamily implements Family {
    private static final JobType<Submitted> TYPE = JobType.of("kind-0", Submitted.class);
    private static final int BEATS = 50;

    /** How many calls share a transaction: with many more, each would have to find its way through the versions of all before. */
    private static final int IN_ONE = 10;

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
                + " of its own, and ten in one that is rolled back, where there is no commit to hide what a call costs. Each"
                + " begins where dead rows were cleared away; a ratio is that of two rounds, in which another comes first.";
    }

    @Override
    public Duration planned() {
        return Duration.ofMinutes(2);
    }

    /** What the library works with: a pool, or one transaction. */
    private record Way(PostgresStore store, Submitter submitter) {}

    @FunctionalInterface
    private interface Submitter {
        Job submit();
    }

    /** Returns for how many jobs it has done it, by what the library answers. */
    @FunctionalInterface
    private interface Typed {
        long call(Way way);
    }

    /** Fails unless as many rows came back or were written as there are jobs. */
    @FunctionalInterface
    private interface Hand {
        void call(Connection connection) throws SQLException;
    }

    /**
     * The same thing in two ways.
     *
     * @param jobs for how many jobs a call does it
     * @param trace SQL that counts the rows in which this was done since a time
     * @param each whether it was done in other rows by each call
     * @param warmUps rounds before those that count; most of a short call is then spent in compiled code, as in a process
     *     that has run for minutes
     */
    private record Pair(
            String name, int jobs, String trace, boolean each, int calls, int warmUps, Typed typed, Hand hand) {
        /** {@return how many rows that many calls leave behind} */
        long rows(int made) {
            return each ? (long) made * jobs : jobs;
        }
    }

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
                            1,
                            "status = 'Provisioning' AND claimed_by = '" + Claimer.NAME + "' AND claimed_at >= ?",
                            true,
                            calls,
                            bench.size().of(0, 8, 60),
                            way -> new Claimer(way.store().work(), JobTable.KINDS)
                                    .claim(1)
                                    .size(),
                            by -> claim.executeWithTokens(by, 1)),
                    new Pair(
                            "beat of 50",
                            BEATS,
                            "status = 'Running' AND claimed_by = 'beating' AND last_heartbeat_at >= ?",
                            false,
                            calls,
                            bench.size().of(0, 8, 20),
                            way -> way.store().work().beat(running).values().stream()
                                    .filter(pulse -> pulse == Pulse.HELD)
                                    .count(),
                            by -> beat.execute(by, BEATS)),
                    new Pair(
                            "submission",
                            1,
                            "operation_id < 'job-' AND created_at >= ?", // the library draws UUIDs
                            true,
                            calls,
                            bench.size().of(0, 8, 100),
                            way -> way.submitter().submit().status() == JobStatus.QUEUED ? 1 : 0,
                            insert::insert));
        }
    }

    private static void inOwnTransactions(
            Bench bench, BenchDatabase database, HikariDataSource pool, Way own, Pair pair) throws SQLException {
        Measured measured = new Measured(pair, "own");
        for (int round = -pair.warmUps(); round < rounds(bench); round++) {
            for (boolean library : order(round)) {
                Call call = library
                        ? () -> pair.typed().call(own)
                        : () -> {
                            try (Connection connection = pool.getConnection()) {
                                pair.hand().call(connection);
                            }
                            return pair.jobs();
                        };
                try (Connection connection = pool.getConnection()) {
                    measured.begin(connection);
                }
                Cost cost = measured.take(call, pair.calls());
                try (Connection connection = pool.getConnection()) {
                    measured.look(connection);
                }
                if (round >= 0) {
                    measured.addRound(library, List.of(cost));
                }
                if (isToBeCleared(round, library)) {
                    JobTable.unclaim(database);
                }
            }
        }
        measured.keep(bench);
    }

    private static void inOneTransaction(
            Bench bench, BenchDatabase database, PostgresStore store, Millrace millrace, Submitted payload, Pair pair)
            throws SQLException {
        Measured measured = new Measured(pair, "one");
        try (Connection connection = database.unpooled().getConnection()) {
            connection.setAutoCommit(false);
            Way way =
                    new Way(store.in(connection), () -> millrace.in(connection).submit(TYPE, payload));
            for (int round = -pair.warmUps(); round < rounds(bench); round++) {
                for (boolean library : order(round)) {
                    Call call = library
                            ? () -> pair.typed().call(way)
                            : () -> {
                                pair.hand().call(connection);
                                return pair.jobs();
                            };
                    List<Cost> costs = new ArrayList<>();
                    for (int made = 0; made < pair.calls(); made += IN_ONE) {
                        measured.begin(connection);
                        costs.add(measured.take(call, Math.min(IN_ONE, pair.calls())));
                        measured.look(connection);
                        connection.rollback();
                    }
                    if (round >= 0) {
                        measured.addRound(library, costs);
                    }
                    if (isToBeCleared(round, library)) {
                        database.execute("VACUUM (INDEX_CLEANUP ON) " + BenchDatabase.JOBS);
                    }
                }
            }
        }
        measured.keep(bench);
    }

    /** {@return whose turn it is: the library's, and by hand} */
    private static boolean[] order(int round) {
        return round % 2 == 0 ? new boolean[] {true, false} : new boolean[] {false, true};
    }

    /**
     * Whether what this turn has left behind is cleared away: after each that counts, as whoever comes second would find its way
     * through it; of the rounds before that, after both.
     */
    private static boolean isToBeCleared(int round, boolean library) {
        return round >= 0 || library != order(round)[0];
    }

    /** An even number, as each two go opposite ways. */
    private static int rounds(Bench bench) {
        return bench.size().of(2, 6, 24);
    }

    /** Returns for how many jobs it was done. */
    @FunctionalInterface
    private interface Call {
        long call() throws SQLException;
    }

    /** What both ways of a pair have cost so far, and whether they have done it. */
    private static final class Measured {
        private final Pair pair;
        private final String transaction;
        private final List<Cost> typed = new ArrayList<>();
        private final List<Cost> hand = new ArrayList<>();
        private OffsetDateTime began = OffsetDateTime.MIN;
        private long askedJobs;
        private long askedRows;
        private long answered;
        private long rows;

        Measured(Pair pair, String transaction) {
            this.pair = pair;
            this.transaction = transaction;
        }

        /** Asks for the server's time, from which on rows are counted. */
        void begin(Connection connection) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement("SELECT clock_timestamp()");
                    ResultSet result = statement.executeQuery()) {
                result.next();
                began = result.getObject(1, OffsetDateTime.class);
            }
        }

        Cost take(Call call, int calls) throws SQLException {
            long bytes = ThreadCosts.allocatedBytes();
            long cpu = ThreadCosts.cpuNanos();
            long start = System.nanoTime();
            for (int number = 0; number < calls; number++) {
                answered += call.call();
            }
            long nanos = System.nanoTime() - start;
            askedJobs += (long) calls * pair.jobs();
            askedRows += pair.rows(calls);
            return new Cost(
                    nanos / 1e3 / calls,
                    (ThreadCosts.cpuNanos() - cpu) / 1e3 / calls,
                    (double) (ThreadCosts.allocatedBytes() - bytes) / calls);
        }

        /** Keeps the mean of what one way has cost in a round. */
        void addRound(boolean library, List<Cost> costs) {
            (library ? typed : hand)
                    .add(new Cost(mean(costs, Cost::micros), mean(costs, Cost::cpuMicros), mean(costs, Cost::bytes)));
        }

        private static double mean(List<Cost> costs, ToDoubleFunction<Cost> value) {
            return costs.stream().mapToDouble(value).average().orElseThrow();
        }

        /** Counts the rows that these calls have left. */
        void look(Connection connection) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(
                    "SELECT count(*) FROM " + BenchDatabase.JOBS + " WHERE " + pair.trace())) {
                statement.setObject(1, began);
                try (ResultSet result = statement.executeQuery()) {
                    result.next();
                    rows += result.getLong(1);
                }
            }
        }

        void keep(Bench bench) {
            add(bench, pair, transaction, "library", typed);
            add(bench, pair, transaction, "by hand", hand);
            bench.results()
                    .add("ratio", of(pair, transaction), "times", Turns.ratiosOfTwo(micros(typed), micros(hand)));
            String what = pair.name() + ", transactions: " + transaction + ": ";
            bench.results().check(what + "jobs it was done for", askedJobs, answered);
            bench.results().check(what + "rows that were found so", askedRows, rows);
        }
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
        for (String transactions : List.of("own", "one")) {
            for (String call : List.of("claim of 1", "beat of 50")) {
                bench.results()
                        .target(
                                call + ", " + (transactions.equals("own") ? "one transaction each" : "one for ten")
                                        + ": time by the library in relation to by hand",
                                ratio(bench, call, transactions),
                                "<=",
                                1.25);
            }
        }
        bench.results()
                .target(
                        "submissions a second in relation to inserts by hand, one transaction each",
                        1 / ratio(bench, "submission", "own"),
                        ">=",
                        0.8);
    }

    private static double ratio(Bench bench, String call, String transactions) {
        return bench.results()
                .measurement("ratio", Map.of("call", call, "transactions", transactions))
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
                    ratio.label("transactions").equals("own") ? "one for each call" : "one for ten",
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
