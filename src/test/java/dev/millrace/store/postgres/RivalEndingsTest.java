package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.PastAttempt;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Field case A34: two sessions end the same attempt. One wins, and the other decides on what that one has committed. */
@MillraceDatabase
class RivalEndingsTest {
    private static final int ROUNDS = 10;

    private static final Finish SUCCEED = new Finish.Succeed();
    private static final Finish FAIL = new Finish.Fail("broken", Finish.Fail.Reason.HANDLER);
    private static final Finish RETRY = new Finish.Retry(Duration.ofHours(1), "boom");
    private static final Finish BACK = new Finish.HandBack(Duration.ofHours(1), "shutdown");
    private static final Finish CANCEL = new Finish.Cancel();

    private final StoreFixture db;

    RivalEndingsTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    static List<Finish> everyFinish() {
        return List.of(SUCCEED, FAIL, RETRY, BACK, CANCEL);
    }

    /** Who asks for the same ending twice is a worker whose answer was lost: it has ended the attempt, and is told so. */
    @Test
    void twoEndingsAtOnce_areWrittenOnce_andToldToWhoeverAskedForThatOne() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            for (Finish one : everyFinish()) {
                for (Finish other : everyFinish()) {
                    for (int round = 0; round < ROUNDS; round++) {
                        Claim claim = db.running("race");
                        List<Boolean> told = race(threads, claim, one, other);
                        if (one.equals(other)) {
                            assertThat(told).containsOnly(true);
                        } else {
                            assertThat(told).as("%s, %s", one, other).containsOnlyOnce(true);
                        }
                        endedOnce(claim, told.get(0) ? one : other);
                    }
                }
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private List<Boolean> race(ExecutorService threads, Claim claim, Finish... finishes) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(finishes.length);
        List<Future<Boolean>> racers = new ArrayList<>();
        for (Finish finish : finishes) {
            racers.add(threads.submit(() -> {
                barrier.await(30, TimeUnit.SECONDS);
                return db.work.finish(claim, finish);
            }));
        }
        List<Boolean> told = new ArrayList<>();
        for (Future<Boolean> racer : racers) {
            told.add(racer.get(30, TimeUnit.SECONDS));
        }
        return told;
    }

    private void endedOnce(Claim claim, Finish finish) {
        Job job = db.get(claim.job().id());
        assertThat(job.version()).as("submitted, claimed, started, ended").isEqualTo(4);
        assertThat(job.outcome().history())
                .extracting(PastAttempt::ending)
                .isEqualTo(finish == SUCCEED ? List.of() : List.of(ending(finish)));
        assertThat(job.status()).isEqualTo(status(finish));
        db.dsl
                .deleteFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                .execute();
    }

    private static JobStatus status(Finish finish) {
        if (finish == SUCCEED) {
            return JobStatus.SUCCEEDED;
        }
        if (finish == FAIL) {
            return JobStatus.FAILED;
        }
        return finish == CANCEL ? JobStatus.CANCELLED : JobStatus.QUEUED;
    }

    private static PastAttempt.Ending ending(Finish finish) {
        if (finish == FAIL) {
            return PastAttempt.Ending.FAILED;
        }
        if (finish == CANCEL) {
            return PastAttempt.Ending.CANCELLED;
        }
        return finish == RETRY ? PastAttempt.Ending.RETRIED : PastAttempt.Ending.HANDED_BACK;
    }

    /** The rival has looked at the row before the first one's commit, and must not write what it made of that. */
    @ParameterizedTest
    @MethodSource("everyFinish")
    void endingThatWaitedForAnother_isRefusedOnceThatIsCommitted(Finish finish) throws Exception {
        Claim claim = db.running("waits");
        Finish first = finish.equals(FAIL) ? CANCEL : FAIL;
        AtomicReference<CompletableFuture<Boolean>> rival = new AtomicReference<>();
        db.dsl.transaction(tx -> {
            assertThat(db.store.in(tx).work().finish(claim, first)).isTrue();
            rival.set(OwnThread.supply(() -> db.work.finish(claim, finish)));
            db.awaitLockWaiter();
        });
        assertThat(rival.get().get(30, TimeUnit.SECONDS)).isFalse();
        endedOnce(claim, first);
    }

    @ParameterizedTest
    @MethodSource("everyFinish")
    void endingThatWaitedForAnother_isWrittenIfThatIsRolledBack(Finish finish) throws Exception {
        Claim claim = db.running("waits");
        AtomicReference<CompletableFuture<Boolean>> rival = new AtomicReference<>();
        db.undone(tx -> {
            assertThat(db.store.in(tx).work().finish(claim, finish.equals(FAIL) ? CANCEL : FAIL))
                    .isTrue();
            rival.set(OwnThread.supply(() -> db.work.finish(claim, finish)));
            db.awaitLockWaiter();
        });
        assertThat(rival.get().get(30, TimeUnit.SECONDS)).isTrue();
        endedOnce(claim, finish);
    }
}
