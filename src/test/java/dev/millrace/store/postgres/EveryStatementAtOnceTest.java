package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.store.CancelResult;
import dev.millrace.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Invariant 12 and field case A23: all that the library does, done by many threads to the same jobs in random order for
 * a minute; {@code -Dmillrace.soak=10m} makes it ten. By itself, since nobody else gets much of the machine meanwhile.
 */
@MillraceDatabase
@Isolated
class EveryStatementAtOnceTest {
    private static final int THREADS = 16;
    private static final int JOBS = 200;
    private static final Duration TIME =
            Duration.parse("PT" + System.getProperty("millrace.soak", "1m").toUpperCase(Locale.ROOT));

    private final StoreFixture db;
    private HikariDataSource pool;
    private VictimCount own;
    private VictimCount callers;
    private PostgresStore store;
    private DSLContext caller;

    EveryStatementAtOnceTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void start() {
        db.clear();
        pool = new HikariDataSource();
        pool.setDataSource(db.database.unpooledDataSource());
        pool.setMaximumPoolSize(THREADS + 2);
        // Stricter isolation has failures of its own, which a caller's transaction has to bear: not what is tested
        // here.
        pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        own = new VictimCount(pool);
        callers = new VictimCount(pool);
        store = PostgresStore.on(own.dataSource(), db.database.schema());
        caller = DSL.using(callers.dataSource(), SQLDialect.POSTGRES, StoreFixture.mapped(db.database.schema()));
    }

    @AfterEach
    void stop() {
        pool.close();
    }

    @Test
    void everyOperation_isAmongTheDeeds() {
        assertThat(Deeds.OF).containsOnlyKeys(Operation.values());
    }

    /** Not even a deadlock that is repeated inside, and so costs time only. */
    @Test
    void statements_alsoOfCallersWhoGoInTheOrderOfIds_neverDeadlock() throws Exception {
        run(TIME.multipliedBy(3).dividedBy(4), Deeds::any);
        assertThat(own.victims()).isZero();
        assertThat(callers.victims()).isZero();
    }

    @Test
    void callersWhoGoInAnyOrder_deadlockWithoutHarmToOthers() throws Exception {
        run(TIME.dividedBy(4), deeds -> {
            try {
                deeds.any();
                if (ThreadLocalRandom.current().nextInt(4) == 0) {
                    deeds.transaction(false);
                }
            } catch (Deeds.CallerException e) {
                // Who is in the right order, and waits for one who isn't, may be the victim as well.
                assertThat(e).hasCauseInstanceOf(StoreException.class).hasStackTraceContaining("deadlock detected");
            }
        });
    }

    @Test
    void deadlockOfTwoCallers_reachesOneOfThem_andTheOtherGoesOn() throws Exception {
        String first = db.submit("deadlock").id();
        String second = db.submit("deadlock").id();
        CyclicBarrier bothHoldOne = new CyclicBarrier(2);
        CompletableFuture<CancelResult> one = OwnThread.supply(() -> both(bothHoldOne, first, second));
        CompletableFuture<CancelResult> other = OwnThread.supply(() -> both(bothHoldOne, second, first));
        CompletableFuture.allOf(one, other).exceptionally(e -> null).get(60, TimeUnit.SECONDS);
        assertThat(List.of(one, other))
                .filteredOn(CompletableFuture::isCompletedExceptionally)
                .hasSize(1)
                .allSatisfy(loser -> assertThatThrownBy(loser::join)
                        .hasCauseInstanceOf(StoreException.class)
                        .hasMessageContaining("Repeat the whole transaction."));
        assertThat(callers.victims()).as("deadlocks").isOne();
        assertThat(db.get(first).status()).isEqualTo(db.get(second).status());
    }

    private CancelResult both(CyclicBarrier bothHoldOne, String first, String second) {
        return caller.transactionResult(tx -> {
            store.in(tx).jobs().cancel(first, null, null);
            bothHoldOne.await(30, TimeUnit.SECONDS);
            return store.in(tx).jobs().cancel(second, null, null);
        });
    }

    private interface Turn {
        void take(Deeds deeds) throws Exception;
    }

    private void run(Duration time, Turn turn) throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("Seed " + seed);
        Ledger ledger = new Ledger(JOBS);
        SnapshotCheck check = new SnapshotCheck(caller, ledger);
        AtomicBoolean ended = new AtomicBoolean();
        long end = System.nanoTime() + time.toNanos();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);
        try {
            List<Future<Integer>> results = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Deeds deeds = new Deeds(store, caller, ledger, i, seed);
                results.add(threads.submit(until(ended, end, () -> turn.take(deeds))));
            }
            results.add(threads.submit(until(ended, end, check::look)));
            int deeds = 0;
            for (Future<Integer> result : results) {
                deeds += result.get(time.toSeconds() + 120, TimeUnit.SECONDS);
            }
            Map<String, SnapshotCheck.Seen> last = check.look();
            assertThat(last).isNotEmpty();
            last.values().forEach(ledger::check);
            ledger.checkEndings();
            System.out.printf(
                    "%d turns, %d claims, %d endings, %d snapshots; victims of deadlocks: %d of ours, %d of callers%n",
                    deeds,
                    ledger.claimCount(),
                    ledger.endingCount(),
                    check.snapshots(),
                    own.victims(),
                    callers.victims());
        } finally {
            ended.set(true);
            threads.shutdownNow();
        }
    }

    private interface Step {
        void run() throws Exception;
    }

    /** Steps until the time is over, or one of all threads has failed. */
    private static Callable<Integer> until(AtomicBoolean ended, long end, Step step) {
        return () -> {
            int steps = 0;
            try {
                for (; !ended.get() && System.nanoTime() - end < 0; steps++) {
                    step.run();
                }
                return steps;
            } catch (Throwable e) {
                ended.set(true);
                throw e;
            }
        };
    }
}
