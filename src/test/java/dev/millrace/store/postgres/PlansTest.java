package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.store.postgres.PlanRecorder.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * How each operation is carried out among 200,000 jobs, with plans made for the values and with plans made once for all:
 * nothing reads the whole table, nothing sorts more than it returns but what was found by a lookup key, and nothing reads
 * more buffers than its mark.
 *
 * <p>What is seen on PostgreSQL 18 is kept in {@code plans.txt} beside this test, and compared: nodes and indexes exactly,
 * buffers to within a quarter and three more. Other versions choose other nodes here and there, so there only the rules and the
 * marks are checked. After a change that is meant, {@code -Dmillrace.plans=accept} writes the file anew.
 */
@Tag("plans")
@MillraceDatabase
class PlansTest {
    private static final Path GOLDEN = Path.of("test/resources/dev/millrace/store/postgres/plans.txt");
    private static final Path DETAILS = Path.of("target/plans");
    private static final int JOBS = 200_000;
    private static final int GOLDEN_VERSION = 18;

    private final TestDatabase database;
    private final PostgresStore store;

    PlansTest(TestDatabase database) {
        this.database = database;
        this.store = PostgresStore.on(database.dataSource(), database.schema());
    }

    /** What was seen of a case in one mode: all its statements. */
    private record Seen(List<Plan> plans) {
        long buffers() {
            return plans.stream().mapToLong(Plan::buffers).sum();
        }

        long wal() {
            return plans.stream().mapToLong(Plan::wal).sum();
        }

        long rows() {
            return plans.get(plans.size() - 1).rows();
        }

        List<String> nodes() {
            List<String> nodes = new ArrayList<>();
            for (Plan plan : plans) {
                plan.nodes().forEach(node -> nodes.add("  " + node));
            }
            return nodes;
        }
    }

    @Test
    void everyOperation_isACase() {
        Set<Operation> missing = EnumSet.allOf(Operation.class);
        PlanCases.all().forEach(planCase -> missing.remove(planCase.operation()));
        assertThat(missing).as("operations without a case in PlanCases").isEmpty();
    }

    @Test
    void plans_stayAsTheyAre_andWithinTheirMarks() throws SQLException, IOException {
        LoadedTable.load(database, JOBS, LoadedTable.Mix.USUAL);
        LoadedTable.loadLogsAndResults(database);
        LoadedTable.vacuumAndAnalyze(database);
        Map<PlanCase, Map<Mode, Seen>> seen = new LinkedHashMap<>();
        store.clock().now(); // passes the gate, whose questions are no part of any operation
        for (Mode mode : List.of(Mode.CUSTOM, Mode.GENERIC)) {
            for (PlanCase planCase : PlanCases.all()) {
                Seen plans = look(planCase, mode);
                seen.computeIfAbsent(planCase(seen, planCase), key -> new EnumMap<>(Mode.class))
                        .put(mode, plans);
            }
        }
        List<String> summary = summary(seen);
        if (System.getProperty("millrace.plans", "").equals("accept")) {
            Files.createDirectories(GOLDEN.getParent());
            Files.write(GOLDEN, summary);
        }
        table(seen);
        assertThat(offences(seen, serverVersion())).isEmpty();
        if (serverVersion() == GOLDEN_VERSION) {
            compare(Files.readAllLines(GOLDEN), summary);
        }
    }

    /** Most of what the other sweep reads is where PostgreSQL keeps records that are too large for their rows. */
    @Test
    void sweep_ofRecordsInTheirRows_staysWithinItsMark() throws SQLException {
        LoadedTable.load(database, JOBS, LoadedTable.Mix.USUAL, LoadedTable.FEW_PARAMETER_BYTES);
        LoadedTable.vacuumAndAnalyze(database);
        store.clock().now();
        PlanCase sweep = PlanCases.sweepOfRecordsInRows();
        Map<Mode, Seen> modes = new EnumMap<>(Mode.class);
        for (Mode mode : List.of(Mode.CUSTOM, Mode.GENERIC)) {
            modes.put(mode, look(sweep, mode));
        }
        assertThat(offences(Map.of(sweep, modes), serverVersion())).isEmpty();
    }

    private int serverVersion() throws SQLException {
        try (Connection connection = database.adminDataSource().getConnection()) {
            return connection.getMetaData().getDatabaseMajorVersion();
        }
    }

    private static PlanCase planCase(Map<PlanCase, Map<Mode, Seen>> seen, PlanCase wanted) {
        return seen.keySet().stream()
                .filter(known -> known.toString().equals(wanted.toString()))
                .findFirst()
                .orElse(wanted);
    }

    /** Once to warm up, since a new session first reads what the catalog says of each table and index; and once to look. */
    private Seen look(PlanCase planCase, Mode mode) throws SQLException {
        List<Plan> plans = List.of();
        try (PlanRecorder recorder = new PlanRecorder(database, mode)) {
            for (int round = 0; round < 2; round++) {
                Runnable call = planCase.preparation().apply(store.in(recorder.connection()));
                recorder.take();
                call.run();
                plans = recorder.take();
                recorder.rollback();
            }
        }
        assertThat(plans).as("statements of %s", planCase).isNotEmpty();
        Seen seen = new Seen(plans);
        if (seen.wal() > 0) {
            LoadedTable.vacuum(database); // what was rolled back lies in the way of the next one
        }
        return seen;
    }

    private static List<String> offences(Map<PlanCase, Map<Mode, Seen>> seen, int serverVersion) {
        List<String> offences = new ArrayList<>();
        seen.forEach((planCase, modes) -> modes.forEach((mode, plans) -> {
            String what = planCase + " (" + mode.name().toLowerCase(Locale.ROOT) + ") ";
            long mark = planCase.mark(serverVersion);
            if (plans.buffers() > mark) {
                offences.add(what + "reads " + plans.buffers() + " buffers; its mark is " + mark);
            }
            for (Plan plan : plans.plans()) {
                if (!planCase.readsAll()) {
                    plan.offences(planCase.limit())
                            .forEach(offence -> offences.add(what + offence + ": " + plan.text()));
                }
            }
        }));
        return offences;
    }

    private static List<String> summary(Map<PlanCase, Map<Mode, Seen>> seen) {
        List<String> lines = new ArrayList<>();
        seen.forEach((planCase, modes) -> {
            Seen custom = modes.get(Mode.CUSTOM);
            Seen generic = modes.get(Mode.GENERIC);
            boolean same = custom.nodes().equals(generic.nodes()) && near(custom.buffers(), generic.buffers());
            lines.addAll(described(planCase, same ? "" : ", custom", custom));
            if (!same) {
                lines.addAll(described(planCase, ", generic", generic));
            }
        });
        return lines;
    }

    private static List<String> described(PlanCase planCase, String mode, Seen seen) {
        List<String> lines = new ArrayList<>();
        lines.add("%s%s: %d rows, %d buffers".formatted(planCase, mode, seen.rows(), seen.buffers()));
        lines.addAll(seen.nodes());
        return lines;
    }

    private static boolean near(long one, long other) {
        return Math.abs(one - other) <= 3 + Math.min(one, other) / 4;
    }

    private static void compare(List<String> expected, List<String> found) {
        Set<String> differences = new TreeSet<>();
        Map<String, List<String>> before = blocks(expected);
        Map<String, List<String>> now = blocks(found);
        Set<String> names = new TreeSet<>(before.keySet());
        names.addAll(now.keySet());
        for (String name : names) {
            List<String> was = before.getOrDefault(name, List.of());
            List<String> is = now.getOrDefault(name, List.of());
            if (!sameBlock(was, is)) {
                differences.add(String.join("\n", was) + "\n-->\n" + String.join("\n", is) + "\n");
            }
        }
        assertThat(differences)
                .as(
                        "plans have changed; if that is meant: ./mvnw test -pl src -am -Dtest=PlansTest -Dmillrace.plans=accept"
                                + " -Dsurefire.failIfNoSpecifiedTests=false, and commit src/%s",
                        GOLDEN)
                .isEmpty();
    }

    /** By what stands before the numbers. */
    private static Map<String, List<String>> blocks(List<String> lines) {
        Map<String, List<String>> blocks = new LinkedHashMap<>();
        List<String> block = new ArrayList<>();
        for (String line : lines) {
            if (!line.startsWith(" ")) {
                block = new ArrayList<>();
                blocks.put(line.substring(0, line.lastIndexOf(':')), block);
            }
            block.add(line);
        }
        return blocks;
    }

    private static boolean sameBlock(List<String> was, List<String> is) {
        if (was.isEmpty() || is.isEmpty() || !was.subList(1, was.size()).equals(is.subList(1, is.size()))) {
            return false;
        }
        long[] before = numbers(was.get(0));
        long[] now = numbers(is.get(0));
        return before[0] == now[0] && near(before[1], now[1]);
    }

    private static long[] numbers(String line) {
        return Arrays.stream(line.substring(line.lastIndexOf(':') + 1).split("\\D+"))
                .filter(number -> !number.isEmpty())
                .mapToLong(Long::parseLong)
                .toArray();
    }

    /** What it all costs, as a Markdown table, and the plans in full, for people: in {@code target/plans}. */
    private static void table(Map<PlanCase, Map<Mode, Seen>> seen) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add("| operation | case | statements | rows | buffers | WAL bytes |");
        lines.add("| --- | --- | --- | --- | --- | --- |");
        seen.forEach((planCase, modes) -> {
            Seen plans = modes.get(Mode.GENERIC);
            lines.add(String.format(
                    Locale.ROOT,
                    "| %s | %s | %d | %,d | %,d | %,d |",
                    planCase.operation().name().toLowerCase(Locale.ROOT).replace('_', ' '),
                    planCase.name(),
                    plans.plans().size(),
                    plans.rows(),
                    plans.buffers(),
                    plans.wal()));
        });
        Files.createDirectories(DETAILS);
        Files.write(DETAILS.resolve("plans.md"), lines);
        List<String> json = new ArrayList<>();
        seen.forEach((planCase, modes) -> modes.forEach((mode, plans) -> plans.plans()
                .forEach(plan ->
                        json.add(planCase + ", " + mode + "\n" + plan.json().toPrettyString()))));
        Files.write(DETAILS.resolve("plans.json"), json);
    }
}
