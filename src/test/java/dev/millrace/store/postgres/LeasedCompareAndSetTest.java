package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static dev.millrace.jooq.Tables.LEASES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.OwnThread;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.store.Lease;
import dev.millrace.types.JobStatus;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jooq.Configuration;
import org.junit.jupiter.api.Test;

/** A change of a job under a lease is made only while that lease is held, whatever the statement waits for. */
@MillraceDatabase
class LeasedCompareAndSetTest {
    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration SHORT = Duration.ofMillis(300);

    private final StoreFixture db;
    private final String key = "lease-" + UUID.randomUUID();

    LeasedCompareAndSetTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    private Lease held(String owner) {
        return db.leases.acquire(key, owner, LONG).orElseThrow();
    }

    private void expireIn(Duration left) {
        db.dsl
                .update(LEASES)
                .set(LEASES.EXPIRES_AT, DbTime.plus(DbTime.CLOCK, left))
                .where(LEASES.LEASE_KEY.eq(key))
                .execute();
    }

    private boolean change(PostgresStore store, Job job, Lease lease) {
        return store.jobs().compareAndSet(job, job.withPriority(Priority.LOW), Duration.ZERO, lease);
    }

    private boolean change(Job job, Lease lease) {
        return change(db.store, job, lease);
    }

    private CompletableFuture<Boolean> changing(Job job, Lease lease) {
        CompletableFuture<Boolean> result = OwnThread.supply(() -> change(job, lease));
        db.awaitLockWaiter();
        return result;
    }

    private static <T> T get(CompletableFuture<T> result) throws Exception {
        return result.get(30, TimeUnit.SECONDS);
    }

    private void lockLease(Configuration tx) {
        tx.dsl()
                .select(LEASES.LEASE_KEY)
                .from(LEASES)
                .where(LEASES.LEASE_KEY.eq(key))
                .forNoKeyUpdate()
                .fetchSingle();
    }

    private static void lockJob(Configuration tx, Job job) {
        tx.dsl()
                .select(EXECUTION_JOBS.OPERATION_ID)
                .from(EXECUTION_JOBS)
                .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                .forNoKeyUpdate()
                .fetchSingle();
    }

    @Test
    void change_underAHeldLease_isMade() {
        Job job = db.submit("k");
        Lease lease = held("a");
        assertThat(change(job, lease)).isTrue();
        assertThat(db.get(job.id()).priority()).isEqualTo(Priority.LOW);
        assertThat(db.get(job.id()).version()).isEqualTo(2);
        assertThat(db.leases.holder(key)).contains(lease);
    }

    @Test
    void change_ofJobThatHasChangedSince_isNotMade() {
        Job job = db.submit("k");
        Lease lease = held("a");
        assertThat(change(job, lease)).isTrue();
        assertThat(change(job, lease)).isFalse();
    }

    @Test
    void change_underALeaseThatIsNotHeld_isNotMade() {
        Job job = db.submit("k");
        Lease lease = held("a");
        assertThat(change(job, new Lease(key, "b", lease.expiresAt()))).isFalse();
        assertThat(change(job, new Lease(key + "-other", "a", lease.expiresAt())))
                .isFalse();
        expireIn(Duration.ZERO);
        assertThat(change(job, lease)).isFalse();
        held("b");
        assertThat(change(job, lease)).isFalse();
        assertThat(db.get(job.id())).isEqualTo(job);
    }

    @Test
    void change_ofWhatIsNotTheWriters_isRefused() {
        Job job = db.submit("k");
        Job changed = job.withStatus(JobStatus.RUNNING);
        assertThatThrownBy(() -> db.jobs.compareAndSet(job, changed, Duration.ZERO, held("a")))
                .isInstanceOf(InvalidJobException.class);
    }

    @Test
    void leaseThatExpiresWhileItsRowIsWaitedFor_makesNoChange() throws Exception {
        Job job = db.submit("k");
        Lease lease = held("a");
        CompletableFuture<Boolean> result = db.dsl.transactionResult(tx -> {
            expireIn(SHORT);
            Instant expired = db.now().plus(SHORT);
            lockLease(tx);
            CompletableFuture<Boolean> waiting = changing(job, lease);
            db.awaitTime(expired);
            return waiting;
        });
        assertThat(get(result)).isFalse();
        assertThat(db.get(job.id())).isEqualTo(job);
    }

    /** Nobody could have taken it over meanwhile; but its owner has been told that it is lost. */
    @Test
    void leaseThatExpiresWhileTheJobsRowIsWaitedFor_makesNoChange_andIsNotTakenOverMeanwhile() throws Exception {
        Job job = db.submit("k");
        Lease lease = held("a");
        List<CompletableFuture<Optional<Lease>>> takeovers = new ArrayList<>();
        CompletableFuture<Boolean> result = db.dsl.transactionResult(tx -> {
            expireIn(SHORT);
            Instant expired = db.now().plus(SHORT);
            lockJob(tx, job);
            CompletableFuture<Boolean> waiting = changing(job, lease);
            db.awaitTime(expired);
            takeovers.add(OwnThread.supply(() -> db.leases.acquire(key, "b", LONG)));
            db.awaitTime(db.now().plusMillis(100));
            assertThat(takeovers.get(0)).isNotDone();
            assertThat(waiting).isNotDone();
            return waiting;
        });
        assertThat(get(result)).isFalse();
        assertThat(get(takeovers.get(0))).map(Lease::owner).contains("b");
        assertThat(db.get(job.id())).isEqualTo(job);
    }

    @Test
    void leaseThatIsStillHeldAfterBothWaits_makesTheChange() throws Exception {
        Job job = db.submit("k");
        Lease lease = held("a");
        CompletableFuture<Boolean> result = db.dsl.transactionResult(tx -> {
            lockJob(tx, job);
            return changing(job, lease);
        });
        assertThat(get(result)).isTrue();
        assertThat(db.get(job.id()).priority()).isEqualTo(Priority.LOW);
    }

    @Test
    void leaseThatIsRenewedWhileItsRowIsWaitedFor_makesTheChange() throws Exception {
        Job job = db.submit("k");
        Lease lease = held("a");
        CompletableFuture<Boolean> result = db.dsl.transactionResult(tx -> {
            expireIn(SHORT);
            Instant expired = db.now().plus(SHORT);
            assertThat(db.store.in(tx).leases().renew(lease, LONG)).isPresent();
            CompletableFuture<Boolean> waiting = changing(job, lease);
            db.awaitTime(expired);
            return waiting;
        });
        assertThat(get(result)).isTrue();
    }

    @Test
    void takeoverBeforeTheChange_makesItWaitAndRefusesIt() throws Exception {
        Job job = db.submit("k");
        Lease lease = held("a");
        expireIn(Duration.ZERO);
        CompletableFuture<Boolean> result = db.dsl.transactionResult(tx -> {
            assertThat(db.store.in(tx).leases().acquire(key, "b", LONG)).isPresent();
            return changing(job, lease);
        });
        assertThat(get(result)).isFalse();
        assertThat(db.get(job.id())).isEqualTo(job);
    }

    @Test
    void changeBeforeTheTakeover_keepsTheLeaseUntilItIsCommitted() throws Exception {
        Job job = db.submit("k");
        Lease lease = held("a");
        CompletableFuture<Optional<Lease>> takeover = db.dsl.transactionResult(tx -> {
            expireIn(SHORT);
            Instant expired = db.now().plus(SHORT);
            assertThat(change(db.store.in(tx), job, lease)).isTrue();
            db.awaitTime(expired);
            CompletableFuture<Optional<Lease>> waiting = OwnThread.supply(() -> db.leases.acquire(key, "b", LONG));
            db.awaitLockWaiter();
            assertThat(waiting).isNotDone();
            return waiting;
        });
        assertThat(get(takeover)).map(Lease::owner).contains("b");
        assertThat(db.get(job.id()).priority()).isEqualTo(Priority.LOW);
        assertThat(change(db.get(job.id()), lease)).isFalse();
    }

    /** Two owners, one job, a lease that changes hands all the time: no version is written by who had lost it. */
    @Test
    void changesAndTakeovers_inAnyOrder_leaveNoChangeByWhoHadLostTheLease() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            for (int round = 0; round < 100; round++) {
                Job job = db.submit("k");
                String contested = key + "-" + round;
                Lease lease = db.leases.acquire(contested, "a", LONG).orElseThrow();
                db.dsl
                        .update(LEASES)
                        .set(LEASES.EXPIRES_AT, DbTime.plus(DbTime.CLOCK, Duration.ofMillis(2)))
                        .where(LEASES.LEASE_KEY.eq(contested))
                        .execute();
                CyclicBarrier barrier = new CyclicBarrier(2);
                Future<Boolean> change = threads.submit(() -> {
                    barrier.await(30, TimeUnit.SECONDS);
                    return change(job, lease);
                });
                Future<Optional<Job>> takeover = threads.submit(() -> {
                    barrier.await(30, TimeUnit.SECONDS);
                    return db.leases.acquire(contested, "b", LONG).map(taken -> db.get(job.id()));
                });
                boolean changed = change.get();
                // Who takes it over sees what was changed under it, and nothing is changed under it afterwards.
                takeover.get().ifPresent(seen -> assertThat(seen.version()).isEqualTo(changed ? 2 : 1));
                assertThat(db.get(job.id()).version()).isEqualTo(changed ? 2 : 1);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** Whatever else locks leases or jobs: no deadlock, and the owner's renewals get their turn. */
    @Test
    void changesUnderOneLease_renewalsClaimsAndCancellations_getOnWithEachOther() throws Exception {
        Lease lease = held("a");
        ExecutorService threads = Executors.newFixedThreadPool(5);
        try {
            CyclicBarrier barrier = new CyclicBarrier(5);
            List<Callable<Integer>> racers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                racers.add(() -> {
                    barrier.await(30, TimeUnit.SECONDS);
                    int made = 0;
                    for (int n = 0; n < 60; n++) {
                        made += change(db.submit("race"), lease) ? 1 : 0;
                    }
                    return made;
                });
            }
            racers.add(() -> {
                barrier.await(30, TimeUnit.SECONDS);
                int renewed = 0;
                for (int n = 0; n < 60; n++) {
                    renewed += db.leases.renew(lease, LONG).isPresent() ? 1 : 0;
                }
                return renewed;
            });
            racers.add(() -> {
                barrier.await(30, TimeUnit.SECONDS);
                for (int n = 0; n < 60; n++) {
                    db.claim(3, "race");
                }
                return 60;
            });
            racers.add(() -> {
                barrier.await(30, TimeUnit.SECONDS);
                for (int n = 0; n < 60; n++) {
                    db.jobs.listActive("race", 5).jobs().forEach(job -> db.jobs.cancel(job.id(), null, null));
                }
                return 60;
            });
            List<Integer> results = new ArrayList<>();
            for (Future<Integer> result : threads.invokeAll(racers, 60, TimeUnit.SECONDS)) {
                results.add(result.get());
            }
            assertThat(results.get(0) + results.get(1)).isPositive();
            assertThat(results.subList(2, 5)).containsOnly(60);
        } finally {
            threads.shutdownNow();
        }
    }
}
