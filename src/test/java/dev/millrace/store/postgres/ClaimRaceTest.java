package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;

/** Invariant 1: one attempt, one worker. */
@MillraceDatabase
class ClaimRaceTest {
    private static final int WORKERS = 8;
    private static final int ROUNDS = 50;
    private static final int CONTESTED = 40;

    private static final ExecutorService THREADS = Executors.newFixedThreadPool(WORKERS);

    private final StoreFixture db;

    ClaimRaceTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.clear();
    }

    @AfterAll
    static void stop() {
        THREADS.shutdownNow();
    }

    @RepeatedTest(ROUNDS)
    void claim_ofOneJobByEightAtOnce_isWonByOne() throws Exception {
        Job job = db.submit("k");
        List<Claim> won = race(number -> claim(number, 1, number % 2 == 0 ? List.of("k") : List.of("k", "other")));
        assertThat(won).hasSize(1);
        Job claimed = db.get(job.id());
        assertThat(claimed.state().attemptCount()).isEqualTo(1);
        assertThat(db.column(job.id(), EXECUTION_JOBS.CLAIM_TOKEN))
                .isEqualTo(won.get(0).token());
    }

    @RepeatedTest(ROUNDS)
    void claim_ofContestedQueueByEightUntilEmpty_takesEachJobOnce() throws Exception {
        for (int i = 0; i < CONTESTED; i++) {
            db.submit("k" + i % 2);
        }
        List<Claim> all = race(number -> {
            List<Claim> mine = new ArrayList<>();
            List<Claim> some;
            do {
                some = claim(number, 1 + number % 3, List.of("k0", "k1"));
                mine.addAll(some);
            } while (!some.isEmpty());
            return mine;
        });
        assertThat(all).hasSize(CONTESTED);
        assertThat(all).extracting(claim -> claim.job().id()).doesNotHaveDuplicates();
        assertThat(all).extracting(Claim::token).doesNotHaveDuplicates();
        assertThat(db.dsl.fetchCount(EXECUTION_JOBS, EXECUTION_JOBS.ATTEMPT_COUNT.ne(1)))
                .isZero();
    }

    private List<Claim> claim(int number, int limit, List<String> kinds) {
        return db.work.claim(ClaimRequest.of("worker-" + number, StoreFixture.DEFAULT_SOURCE, kinds, limit));
    }

    private interface Racer {
        List<Claim> run(int number) throws Exception;
    }

    private static List<Claim> race(Racer racer) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(WORKERS);
        List<Callable<List<Claim>>> racers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            int number = i;
            racers.add(() -> {
                barrier.await(30, TimeUnit.SECONDS);
                return racer.run(number);
            });
        }
        List<Claim> all = new ArrayList<>();
        for (Future<List<Claim>> result : THREADS.invokeAll(racers)) {
            all.addAll(result.get());
        }
        return all;
    }
}
