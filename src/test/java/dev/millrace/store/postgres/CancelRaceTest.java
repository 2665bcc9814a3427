package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.jooq.tables.records.ExecutionJobsRecord;
import dev.millrace.store.Attempt;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Field case A3: a job that is cancelled while it begins or ends, and invariant 4: an accepted cancellation is seen. */
@Tag("size")
@MillraceDatabase
class CancelRaceTest {
    private static final int ROUNDS = 1_000;
    private static final int LONGEST_HEAD_START_NANOS = 400_000;

    private final StoreFixture db;

    CancelRaceTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    @BeforeEach
    void empty() {
        db.clear();
    }

    @Test
    void cancelAgainstClaim_isEitherCancelledAndUnclaimed_orClaimedAndRequested() throws Exception {
        List<String> ids = submitted(i -> "kind-" + i);
        Results results = race(round -> cancel(ids.get(round)), round -> db.claim(1, "kind-" + round));
        Map<String, ExecutionJobsRecord> rows = rows();
        for (int round = 0; round < ROUNDS; round++) {
            ExecutionJobsRecord row = rows.get(ids.get(round));
            if (results.get(round, 0) == CancelResult.CANCELLED) {
                assertThat(results.get(round, 1)).isEqualTo(List.of());
                assertThat(row.getStatus()).isEqualTo(JobStatus.CANCELLED);
                assertThat(row.getAttemptCount()).isZero();
            } else {
                assertThat(results.get(round, 0)).isEqualTo(CancelResult.REQUESTED);
                Claim claim = (Claim) ((List<?>) results.get(round, 1)).get(0);
                assertThat(row.getClaimToken()).isEqualTo(claim.token());
                assertThat(row.getStatus()).isEqualTo(JobStatus.PROVISIONING);
                assertThat(db.work.start(claim.attempt())).isEqualTo(Pulse.CANCELLATION_REQUESTED);
                assertThat(db.work.finish(claim, new Finish.Cancel())).isTrue();
            }
        }
        results.hadBoth(CancelResult.CANCELLED, CancelResult.REQUESTED);
        staysEnded(ids);
    }

    static List<Finish> finalEndings() {
        return List.of(new Finish.Succeed(), new Finish.Fail("broken", Finish.Fail.Reason.HANDLER));
    }

    @ParameterizedTest
    @MethodSource("finalEndings")
    void cancelAgainstTheEnd_isTooLateOrARequest_andTheJobEndsAsItsWorkerWasTold(Finish finish) throws Exception {
        List<Claim> claims = claimed();
        Results results =
                race(round -> cancel(claims.get(round).job().id()), round -> db.work.finish(claims.get(round), finish));
        Map<String, ExecutionJobsRecord> rows = rows();
        JobStatus expected = finish instanceof Finish.Succeed ? JobStatus.SUCCEEDED : JobStatus.FAILED;
        for (int round = 0; round < ROUNDS; round++) {
            ExecutionJobsRecord row = rows.get(claims.get(round).job().id());
            assertThat(results.get(round, 1)).isEqualTo(true);
            assertThat(row.getStatus()).isEqualTo(expected);
            assertThat(row.getCancellationRequested()).isEqualTo(results.get(round, 0) == CancelResult.REQUESTED);
        }
        results.hadBoth(CancelResult.REQUESTED, CancelResult.ALREADY_ENDED);
        staysEnded(claims.stream().map(claim -> claim.job().id()).toList());
    }

    /** Whoever comes first, the job is cancelled: a retry finds the request, or the cancellation finds a queued job. */
    @Test
    void cancelAgainstRetry_cancelsEitherWay() throws Exception {
        List<Claim> claims = claimed();
        Finish retry = new Finish.Retry(Duration.ZERO, "boom");
        Results results =
                race(round -> cancel(claims.get(round).job().id()), round -> db.work.finish(claims.get(round), retry));
        Map<String, ExecutionJobsRecord> rows = rows();
        for (int round = 0; round < ROUNDS; round++) {
            assertThat(results.get(round, 1)).isEqualTo(true);
            assertThat(rows.get(claims.get(round).job().id()).getStatus()).isEqualTo(JobStatus.CANCELLED);
        }
        results.hadBoth(CancelResult.REQUESTED, CancelResult.CANCELLED);
        staysEnded(claims.stream().map(claim -> claim.job().id()).toList());
    }

    /** Nobody is meant to, but somebody may. */
    @Test
    void rowThatIsDeletedMidRun_endsThatJobsHeartbeat_andTheRestCarriesOn() throws Exception {
        List<Claim> claims = claimed();
        List<Attempt> rest =
                List.of(db.running("rest").attempt(), db.running("rest").attempt());
        Results results = race(
                round -> cancel(claims.get(round).job().id()),
                round -> db.work.finish(claims.get(round), new Finish.Succeed()),
                round -> db.work.beat(List.of(rest.get(0), claims.get(round).attempt(), rest.get(1))),
                round -> delete(claims.get(round).job().id()));
        for (int round = 0; round < ROUNDS; round++) {
            assertThat(results.get(round, 0))
                    .isIn(CancelResult.REQUESTED, CancelResult.ALREADY_ENDED, CancelResult.NOT_FOUND);
            Map<?, ?> pulses = (Map<?, ?>) results.get(round, 2);
            rest.forEach(other -> assertThat(pulses.get(other)).isEqualTo(Pulse.HELD));
            assertThat(results.get(round, 3)).isEqualTo(1);
        }
        results.hadBoth(CancelResult.REQUESTED, CancelResult.NOT_FOUND);
        assertThat(rows()).containsOnlyKeys(rest.stream().map(Attempt::jobId).toList());
        List<Attempt> gone = claims.stream().map(Claim::attempt).toList();
        assertThat(db.work.beat(gone).values()).containsOnly(Pulse.LOST);
        claims.forEach(claim -> assertThat(cancel(claim.job().id())).isEqualTo(CancelResult.NOT_FOUND));
        assertThat(db.work.beat(rest).values()).containsOnly(Pulse.HELD);
    }

    /** A claim is a short transaction of its own; even if it were not, it holds no row that it has not taken. */
    @Test
    void cancel_whileAClaimIsHeldOpen_waitsForNoJobThatWasNotTaken() throws Exception {
        List<String> ids = submitted(i -> "kind-" + i % 3).subList(0, 100);
        for (String[] kinds : new String[][] {{}, {"kind-1"}, {"kind-0", "kind-1"}}) {
            db.undone(tx -> {
                List<Claim> taken = db.store.in(tx).work().claim(StoreFixture.request(7, kinds));
                assertThat(taken).hasSize(7);
                List<String> others = new ArrayList<>(ids);
                taken.forEach(claim -> others.remove(claim.job().id()));
                String other = others.get(ThreadLocalRandom.current().nextInt(others.size()));
                assertThat(StoreFixture.withoutWaiting(() -> cancel(other)))
                        .isIn(CancelResult.CANCELLED, CancelResult.ALREADY_ENDED);
            });
        }
    }

    @Test
    void claim_whileACancellationIsHeldOpen_takesTheOthers_andThatJobIfItIsRolledBack() {
        Job first = db.submit("open");
        Job second = db.submit("open");
        db.undone(tx -> {
            assertThat(db.store.in(tx).jobs().cancel(first.id(), "ann", null)).isEqualTo(CancelResult.CANCELLED);
            assertThat(StoreFixture.withoutWaiting(() -> db.claim(9, "open")))
                    .extracting(claim -> claim.job().id())
                    .containsExactly(second.id());
        });
        assertThat(db.claim(9, "open")).extracting(claim -> claim.job()).allSatisfy(job -> {
            assertThat(job.id()).isEqualTo(first.id());
            assertThat(job.cancellationRequested()).isFalse();
        });
    }

    @Test
    void cancel_betweenTwoAttempts_endsTheJob_whichIsNeverDueAgain() {
        Claim claim = db.running("back-off");
        String id = claim.job().id();
        db.work.finish(claim, new Finish.Retry(Duration.ofHours(1), "boom"));
        assertThat(cancel(id)).isEqualTo(CancelResult.CANCELLED);
        Job ended = db.get(id);
        assertThat(ended.status()).isEqualTo(JobStatus.CANCELLED);
        assertThat(ended.outcome().errorMessage()).as("why it was retried").isEqualTo("boom");
        staysEnded(List.of(id));
    }

    private CancelResult cancel(String id) {
        return db.jobs.cancel(id, "ann", "enough");
    }

    private int delete(String id) {
        return db.dsl
                .deleteFrom(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
    }

    /** A queued job for each round, of these kinds. */
    private List<String> submitted(IntFunction<String> kind) {
        return db.dsl.transactionResult(tx -> IntStream.range(0, ROUNDS)
                .mapToObj(round -> db.store
                        .in(tx)
                        .jobs()
                        .submit(StoreFixture.newJob(kind.apply(round)))
                        .job()
                        .id())
                .toList());
    }

    /** A claimed job for each round. */
    private List<Claim> claimed() {
        submitted(round -> "k");
        List<Claim> claims = db.claim(ROUNDS, "k");
        assertThat(claims).hasSize(ROUNDS);
        return claims;
    }

    private Map<String, ExecutionJobsRecord> rows() {
        return db.dsl.selectFrom(EXECUTION_JOBS).fetchMap(EXECUTION_JOBS.OPERATION_ID);
    }

    /** Nothing that comes late revives an ended job: no sweep, no repair, no claim, no second look at it. */
    private void staysEnded(List<String> ids) {
        Map<String, ExecutionJobsRecord> before = rows();
        assertThat(before).containsOnlyKeys(ids);
        assertThat(before.values()).allSatisfy(row -> {
            assertThat(row.getStatus().isFinal()).isTrue();
            assertThat(row.getQueueVisibleAt()).isNull();
        });
        ids.stream().limit(20).forEach(id -> {
            assertThat(db.queue.enqueue(id)).isFalse();
            assertThat(db.queue.requeue(id, Duration.ZERO)).isFalse();
            assertThat(cancel(id)).isEqualTo(CancelResult.ALREADY_ENDED);
        });
        assertThat(db.queue.repair(Duration.ZERO, ROUNDS)).isZero();
        assertThat(db.claim(9)).isEmpty();
        assertThat(rows()).isEqualTo(before);
    }

    /** What each of the racers was told in each round. */
    private record Results(List<List<Object>> ofRacers) {
        Object get(int round, int racer) {
            return ofRacers.get(racer).get(round);
        }

        /** A race that always has the same winner shows nothing. */
        void hadBoth(CancelResult one, CancelResult other) {
            assertThat(EnumSet.copyOf(ofRacers.get(0).stream()
                            .map(CancelResult.class::cast)
                            .toList()))
                    .contains(one, other);
        }
    }

    @SafeVarargs
    private static Results race(IntFunction<Object>... racers) throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("Seed " + seed);
        CyclicBarrier barrier = new CyclicBarrier(racers.length);
        ExecutorService threads = Executors.newFixedThreadPool(racers.length);
        try {
            List<Future<List<Object>>> running = new ArrayList<>();
            for (int i = 0; i < racers.length; i++) {
                IntFunction<Object> racer = racers[i];
                Random random = new Random(seed + i);
                running.add(threads.submit(() -> {
                    List<Object> told = new ArrayList<>();
                    for (int round = 0; round < ROUNDS; round++) {
                        barrier.await(60, TimeUnit.SECONDS);
                        LockSupport.parkNanos(random.nextInt(LONGEST_HEAD_START_NANOS));
                        told.add(racer.apply(round));
                    }
                    return told;
                }));
            }
            List<List<Object>> results = new ArrayList<>();
            for (Future<List<Object>> racer : running) {
                results.add(racer.get(300, TimeUnit.SECONDS));
            }
            return new Results(results);
        } finally {
            threads.shutdownNow();
        }
    }
}
