package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.LEASES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.store.Lease;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jooq.TransactionalRunnable;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;

/** Leases: one holder at a time, by the database's clock, whatever is waited for. */
@MillraceDatabase
class LeaseTest {
    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration SHORT = Duration.ofMillis(300);

    private final StoreFixture db;
    private final String key = "lease-" + UUID.randomUUID();

    LeaseTest(TestDatabase database) {
        this.db = new StoreFixture(database);
    }

    private Lease held(String owner) {
        return db.leases.acquire(key, owner, LONG).orElseThrow();
    }

    /** Lets its time pass. */
    private void expire() {
        expireIn(Duration.ZERO);
    }

    private void expireIn(Duration left) {
        db.dsl
                .update(LEASES)
                .set(LEASES.EXPIRES_AT, DbTime.plus(DbTime.CLOCK, left))
                .where(LEASES.LEASE_KEY.eq(key))
                .execute();
    }

    @Test
    void acquire_ofNewLease_lastsFromNowOn() {
        Instant before = db.now();
        Lease lease = held("a");
        assertThat(lease.key()).isEqualTo(key);
        assertThat(lease.owner()).isEqualTo("a");
        assertThat(lease.expiresAt()).isBetween(before.plus(LONG), db.now().plus(LONG));
        assertThat(db.leases.holder(key)).contains(lease);
    }

    @Test
    void acquire_ofHeldLease_isRefused_alsoToItsHolder() {
        Lease lease = held("a");
        assertThat(db.leases.acquire(key, "b", LONG)).isEmpty();
        assertThat(db.leases.acquire(key, "a", LONG)).isEmpty();
        assertThat(db.leases.holder(key)).contains(lease);
    }

    @Test
    void acquire_ofExpiredLease_takesItOver() {
        Lease old = held("a");
        expire();
        assertThat(db.leases.holder(key)).isEmpty();
        Instant before = db.now();
        Lease taken = held("b");
        assertThat(taken.expiresAt()).isBetween(before.plus(LONG), db.now().plus(LONG));
        assertThat(db.leases.renew(old, LONG)).isEmpty();
        assertThat(db.leases.release(old)).isFalse();
        assertThat(db.leases.holder(key)).contains(taken);
    }

    @Test
    void renew_ofOwnLease_lastsFromNowOn() {
        Lease lease = held("a");
        Instant before = db.now();
        Lease renewed = db.leases.renew(lease, SHORT.plus(LONG)).orElseThrow();
        assertThat(renewed.expiresAt())
                .isBetween(before.plus(SHORT).plus(LONG), db.now().plus(SHORT).plus(LONG));
        assertThat(db.leases.holder(key)).contains(renewed);
    }

    @Test
    void renew_ofExpiredLease_isRefused_alsoIfNobodyHasTakenIt() {
        Lease lease = held("a");
        expire();
        assertThat(db.leases.renew(lease, LONG)).isEmpty();
        assertThat(db.leases.holder(key)).isEmpty();
    }

    @Test
    void renew_ofLeaseThatIsNotThere_isRefused() {
        assertThat(db.leases.renew(new Lease(key, "a", Instant.EPOCH), LONG)).isEmpty();
        assertThat(db.leases.holder(key)).isEmpty();
    }

    @Test
    void release_letsOthersTakeItAtOnce_andIsRepeatable() {
        Lease lease = held("a");
        assertThat(db.leases.release(lease)).isTrue();
        assertThat(db.leases.release(lease)).isFalse();
        assertThat(db.leases.holder(key)).isEmpty();
        assertThat(held("b").owner()).isEqualTo("b");
    }

    @Test
    void keys_areComparedBytewise() {
        held("a");
        assertThat(db.leases.acquire(key + " ", "b", LONG)).isPresent();
        assertThat(db.leases.acquire(key.toUpperCase(java.util.Locale.ROOT), "b", LONG))
                .isPresent();
    }

    @Test
    void badInput_isRefusedBeforeAnySql() {
        for (String bad : new String[] {"", "x".repeat(513), "a\0b", "\ud800"}) {
            assertThatThrownBy(() -> db.leases.acquire(bad, "a", LONG))
                    .isInstanceOf(InvalidJobException.class)
                    .hasMessageContaining("lease.key");
            assertThatThrownBy(() -> db.leases.acquire(key, bad, LONG))
                    .isInstanceOf(InvalidJobException.class)
                    .hasMessageContaining("lease.owner");
            assertThatThrownBy(() -> db.leases.holder(bad))
                    .isInstanceOf(InvalidJobException.class)
                    .hasMessageContaining("lease.key");
            assertThatThrownBy(() -> new Lease(key, bad, Instant.EPOCH)).isInstanceOf(InvalidJobException.class);
        }
        Lease lease = new Lease(key, "a", Instant.EPOCH);
        for (Duration bad : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofDays(40_000))) {
            assertThatThrownBy(() -> db.leases.acquire(key, "a", bad))
                    .isInstanceOf(InvalidJobException.class)
                    .hasMessageContaining("lease.duration");
            assertThatThrownBy(() -> db.leases.renew(lease, bad))
                    .isInstanceOf(InvalidJobException.class)
                    .hasMessageContaining("lease.duration");
        }
        assertThat(db.dsl.fetchExists(LEASES, LEASES.LEASE_KEY.eq(key))).isFalse();
    }

    /** Does this while a call that it blocks waits for longer than {@link #SHORT}; returns when it let go. */
    private <T> Instant blocking(
            TransactionalRunnable block, boolean commit, CompletableFuture<T> result, Callable<T> call) {
        AtomicReference<Instant> end = new AtomicReference<>();
        TransactionalRunnable run = tx -> {
            block.run(tx);
            Instant started = db.now();
            Thread caller = new Thread(() -> {
                try {
                    result.complete(call.call());
                } catch (Throwable e) {
                    result.completeExceptionally(e);
                }
            });
            caller.start();
            db.awaitLockWaiter();
            db.awaitTime(started.plus(SHORT.multipliedBy(2)));
            end.set(db.now());
        };
        if (commit) {
            db.dsl.transaction(run);
        } else {
            db.undone(run);
        }
        return Objects.requireNonNull(end.get());
    }

    private void lockRow(org.jooq.Configuration tx) {
        tx.dsl()
                .select(LEASES.LEASE_KEY)
                .from(LEASES)
                .where(LEASES.LEASE_KEY.eq(key))
                .forNoKeyUpdate()
                .fetchSingle();
    }

    private static <T> T get(CompletableFuture<T> result) throws Exception {
        return result.get(30, TimeUnit.SECONDS);
    }

    /** The end of a new row is computed before its key is waited for. */
    @Test
    void acquire_thatWaitedForAnInsertThatWasRolledBack_isNotBornExpired() throws Exception {
        CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
        Instant released = blocking(
                tx -> db.store.in(tx).leases().acquire(key, "a", LONG),
                false,
                result,
                () -> db.leases.acquire(key, "b", SHORT));
        Lease lease = get(result).orElseThrow();
        assertThat(lease.owner()).isEqualTo("b");
        assertThat(lease.expiresAt())
                .isAfterOrEqualTo(released.plus(SHORT.dividedBy(10).multipliedBy(9)));
    }

    @Test
    void acquire_thatWaitedForAnInsertThatWasCommitted_isRefused() throws Exception {
        CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
        blocking(
                tx -> db.store.in(tx).leases().acquire(key, "a", LONG),
                true,
                result,
                () -> db.leases.acquire(key, "b", SHORT));
        assertThat(get(result)).isEmpty();
        assertThat(db.leases.holder(key)).map(Lease::owner).contains("a");
    }

    @Test
    void acquire_thatWaitedForTheRow_computesItsEndAfterThat() throws Exception {
        held("a");
        expire();
        CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
        Instant released = blocking(this::lockRow, true, result, () -> db.leases.acquire(key, "b", SHORT));
        assertThat(get(result).orElseThrow().expiresAt()).isAfterOrEqualTo(released.plus(SHORT));
    }

    @Test
    void acquire_ofLeaseThatExpiresWhileItsRowIsWaitedFor_takesIt() throws Exception {
        held("a");
        CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
        blocking(
                tx -> {
                    expireIn(SHORT);
                    lockRow(tx);
                },
                true,
                result,
                () -> db.leases.acquire(key, "b", LONG));
        assertThat(get(result)).map(Lease::owner).contains("b");
    }

    @Test
    void renew_thatWaitedForTheRow_computesItsEndAfterThat() throws Exception {
        Lease lease = held("a");
        CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
        Instant released = blocking(this::lockRow, true, result, () -> db.leases.renew(lease, SHORT));
        assertThat(get(result).orElseThrow().expiresAt()).isAfterOrEqualTo(released.plus(SHORT));
    }

    @Test
    void renew_ofLeaseThatExpiresWhileItsRowIsWaitedFor_isRefused() throws Exception {
        Lease lease = held("a");
        CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
        blocking(
                tx -> {
                    expireIn(SHORT);
                    lockRow(tx);
                },
                true,
                result,
                () -> db.leases.renew(lease, LONG));
        assertThat(get(result)).isEmpty();
    }

    @Test
    void renew_thatWaitedForATakeover_isRefused() throws Exception {
        Lease lease = held("a");
        expire();
        CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
        blocking(
                tx -> assertThat(db.store.in(tx).leases().acquire(key, "b", LONG))
                        .isPresent(),
                true,
                result,
                () -> db.leases.renew(lease, LONG));
        assertThat(get(result)).isEmpty();
        assertThat(db.leases.holder(key)).map(Lease::owner).contains("b");
    }

    @Test
    void takeover_thatWaitedForARenewal_isRefused() throws Exception {
        Lease lease = held("a");
        CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
        blocking(
                tx -> assertThat(db.store.in(tx).leases().renew(lease, LONG)).isPresent(),
                true,
                result,
                () -> db.leases.acquire(key, "b", LONG));
        assertThat(get(result)).isEmpty();
        assertThat(db.leases.holder(key)).map(Lease::owner).contains("a");
    }

    @Test
    void acquire_bySeveralAtOnce_isGrantedToOne_newOrExpiredOrJustReleased() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 150; round++) {
                String contested = key + "-" + round / 3;
                if (round % 3 == 1) {
                    db.dsl
                            .update(LEASES)
                            .set(LEASES.EXPIRES_AT, DbTime.CLOCK)
                            .where(LEASES.LEASE_KEY.eq(contested))
                            .execute();
                } else if (round % 3 == 2) {
                    assertThat(db.leases.release(db.leases.holder(contested).orElseThrow()))
                            .isTrue();
                }
                CyclicBarrier barrier = new CyclicBarrier(4);
                List<Callable<Optional<Lease>>> racers = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    String owner = "owner-" + i;
                    racers.add(() -> {
                        barrier.await(30, TimeUnit.SECONDS);
                        return db.leases.acquire(contested, owner, LONG);
                    });
                }
                List<Lease> granted = new ArrayList<>();
                for (Future<Optional<Lease>> result : threads.invokeAll(racers)) {
                    result.get().ifPresent(granted::add);
                }
                assertThat(granted).as("round %s", round).hasSize(1);
                assertThat(db.leases.holder(contested)).contains(granted.get(0));
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** In every order of the three, at most one owner comes out of it as the holder, and it knows. */
    @Test
    void renewal_takeoverAndRelease_agreeOnTheHolder() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            for (int round = 0; round < 100; round++) {
                String contested = key + "-" + round;
                Lease lease = db.leases.acquire(contested, "a", LONG).orElseThrow();
                // So short before its end that all orders happen.
                db.dsl
                        .update(LEASES)
                        .set(LEASES.EXPIRES_AT, DbTime.plus(DbTime.CLOCK, Duration.ofMillis(2)))
                        .where(LEASES.LEASE_KEY.eq(contested))
                        .execute();
                CyclicBarrier barrier = new CyclicBarrier(2);
                Future<Optional<Lease>> renewal = threads.submit(() -> {
                    barrier.await(30, TimeUnit.SECONDS);
                    return db.leases.renew(lease, LONG);
                });
                Future<Optional<Lease>> takeover = threads.submit(() -> {
                    barrier.await(30, TimeUnit.SECONDS);
                    return db.leases.acquire(contested, "b", LONG);
                });
                Optional<Lease> renewed = renewal.get();
                Optional<Lease> taken = takeover.get();
                assertThat(renewed.isPresent() && taken.isPresent()).isFalse();
                assertThat(db.leases.holder(contested)).isEqualTo(renewed.or(() -> taken));
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void holder_afterItsTime_isNobody() {
        held("a");
        assertThat(db.leases.holder(key)).isPresent();
        expire();
        assertThat(db.leases.holder(key)).isEmpty();
        assertThat(db.dsl.fetchCount(LEASES, LEASES.LEASE_KEY.eq(key).and(LEASES.OWNER_ID.eq(DSL.val("a")))))
                .isOne();
    }
}
