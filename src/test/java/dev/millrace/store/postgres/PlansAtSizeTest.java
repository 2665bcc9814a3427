package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Dimension;
import dev.millrace.store.JobQuery;
import dev.millrace.store.postgres.LoadedTable.Mix;
import dev.millrace.store.postgres.PlanRecorder.Mode;
import dev.millrace.types.JobStatus;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Field case A8: what is called all the time stays cheap when nearly all jobs have ended and when nearly all are ready, with
 * statistics that are fresh and with ones of another table, and when the server has come to plan once for all values.
 * With {@code -Dmillrace.plans.jobs=3000000} among as many jobs.
 */
@Tag("size")
@MillraceDatabase
class PlansAtSizeTest {
    private static final int JOBS = Integer.getInteger("millrace.plans.jobs", 200_000);

    /** After five executions the server may plan once for all values. */
    private static final int EXECUTIONS = 8;

    private static final int PAGE = 50;

    /**
     * Without any statistics PostgreSQL takes one row in two hundred for one that has a key. Up to this many jobs it still looks
     * for the key; among more it would rather walk through the newest rows until it has found a page of them, and for a rare key
     * that is all rows. It lasts from a restore of millions of jobs until the first ANALYZE: docs/stores.md says so.
     */
    private static final int GUESSED_RIGHT_UP_TO = 1_000_000;

    private final TestDatabase database;
    private final PostgresStore store;

    PlansAtSizeTest(TestDatabase database) {
        this.database = database;
        this.store = PostgresStore.on(database.dataSource(), database.schema());
    }

    @Test
    void whatIsCalledAllTheTime_neverReadsOrSortsTheWholeTable() throws SQLException {
        store.clock().now(); // passes the gate, whose questions are no part of any operation
        LoadedTable.load(database, JOBS, Mix.ENDED);
        requireCheap("95 % ended, never analyzed", JOBS <= GUESSED_RIGHT_UP_TO ? calls() : withoutKeys());
        LoadedTable.vacuumAndAnalyze(database);
        requireCheap("95 % ended, fresh");
        LoadedTable.load(database, JOBS, Mix.READY);
        requireCheap("95 % ready, statistics of 95 % ended");
        LoadedTable.vacuumAndAnalyze(database);
        requireCheap("95 % ready, fresh");
        LoadedTable.load(database, JOBS, Mix.ENDED);
        requireCheap("95 % ended, statistics of 95 % ready");
    }

    /** How many buffers it may read. */
    private record Call(Consumer<PostgresStore> call, long mark) {}

    private static Map<String, Call> calls() {
        Map<String, Call> calls = new LinkedHashMap<>();
        list(calls, "all", JobQuery.ALL);
        list(calls, "active", JobQuery.ALL.active());
        list(calls, "queued", JobQuery.ALL.withStatuses(JobStatus.QUEUED));
        list(calls, "succeeded", JobQuery.ALL.withStatuses(JobStatus.SUCCEEDED));
        list(calls, "ended", JobQuery.ALL.withStatuses(JobStatus.SUCCEEDED, JobStatus.FAILED));
        list(calls, "a kind", JobQuery.ALL.withKind("kind-3"));
        list(calls, "a tenant", JobQuery.ALL.withTenant("tenant-7"));
        list(calls, "a rare tenant", JobQuery.ALL.withTenant("tenant-rare"));
        list(calls, "no tenant", JobQuery.ALL.withoutTenant());
        list(calls, "a rare queue", JobQuery.ALL.withQueue("rare"));
        list(calls, "a correlation", JobQuery.ALL.with(Dimension.CORRELATION, "c-17"));
        calls.put("suspects", new Call(store -> store.reconcilable().suspects("", 100), PAGE));
        calls.put("waiting", new Call(store -> store.counts().waiting(500), 5_000));
        calls.put("by kind", new Call(store -> store.counts().byKind(500), 8_000));
        calls.put("by status", new Call(store -> store.counts().byStatus(500), 5_000));
        // Last: what they leave behind when they are rolled back would lie in the way of the others.
        for (int limit : new int[] {1, 10, 50}) {
            claim(calls, limit, "all kinds", List.of());
            claim(calls, limit, "one kind", List.of("kind-3"));
            claim(calls, limit, "five kinds", kinds(5));
        }
        return calls;
    }

    private static void claim(Map<String, Call> calls, int limit, String name, List<String> kinds) {
        // Finding and changing one job takes 35 buffers; 150 more for the rows of other kinds that are read in vain.
        calls.put(
                "claim " + limit + " of " + name,
                new Call(
                        store -> store.work().claim(ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, kinds, limit)),
                        150 + 60L * limit));
    }

    private static void list(Map<String, Call> calls, String name, JobQuery query) {
        // A page of rows that are far from each other; and a list of what was inserted into the index of keys of late.
        calls.put(
                "list " + name,
                new Call(store -> store.jobs().query(query), query.keys().isEmpty() ? 4L * PAGE : 1_000));
    }

    private static List<String> kinds(int number) {
        return IntStream.range(0, number).mapToObj(n -> "kind-" + n).toList();
    }

    private static Map<String, Call> withoutKeys() {
        Map<String, Call> calls = calls();
        calls.remove("list a rare queue");
        calls.remove("list a correlation");
        return calls;
    }

    private void requireCheap(String state) throws SQLException {
        requireCheap(state, calls());
    }

    private void requireCheap(String state, Map<String, Call> calls) throws SQLException {
        List<String> offences = new ArrayList<>();
        for (Map.Entry<String, Call> entry : calls.entrySet()) {
            try (PlanRecorder recorder = new PlanRecorder(database, Mode.AUTO)) {
                PostgresStore inTransaction = store.in(recorder.connection());
                for (int execution = 1; execution <= EXECUTIONS; execution++) {
                    entry.getValue().call().accept(inTransaction);
                    List<Plan> plans = recorder.take();
                    long buffers = plans.stream().mapToLong(Plan::buffers).sum();
                    String what = state + ": " + entry.getKey() + ", execution " + execution + ", ";
                    if (buffers > entry.getValue().mark()) {
                        offences.add(what + "reads " + buffers + " buffers, more than "
                                + entry.getValue().mark() + "\n" + nodes(plans));
                    }
                    for (Plan plan : plans) {
                        plan.offences(2 * PAGE).forEach(offence -> offences.add(what + offence + "\n" + nodes(plans)));
                    }
                }
            }
        }
        assertThat(offences).isEmpty();
    }

    private static String nodes(List<Plan> plans) {
        List<String> nodes = new ArrayList<>();
        plans.forEach(plan -> nodes.addAll(plan.nodes()));
        return String.join("\n", nodes);
    }
}
