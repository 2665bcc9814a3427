package dev.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.InvalidJobException;
import dev.millrace.job.Job;
import dev.millrace.job.NewJob;
import dev.millrace.store.LeaseLostException.Reason;
import dev.millrace.store.postgres.PostgresStore;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A lease that is held in the background: how it is kept, how it is lost, and who is told. */
@MillraceDatabase
@Timeout(120)
class HeldLeaseTest {
    /** So long that a slow machine loses none, renewed so often that a test needn't wait. */
    private static final LeaseSettings BRISK = new LeaseSettings(Duration.ofSeconds(60), Duration.ofMillis(20));

    private final PostgresStore store;
    private final Leases leases;
    private final String key = "lease-" + UUID.randomUUID();
    private final BlockingQueue<LeaseLostException> losses = new LinkedBlockingQueue<>();

    /** A monotonic clock that a test can push on, as it looks to a process that stood still meanwhile. */
    private final AtomicLong skipped = new AtomicLong();

    HeldLeaseTest(TestDatabase database) {
        this.store = PostgresStore.on(database.dataSource(), database.schema());
        this.leases = new Leases(store.leases());
    }

    /** The real thing, with what a test lets happen to renewals. */
    private static final class Leases implements LeaseStore {
        private final LeaseStore real;
        private final AtomicInteger renewals = new AtomicInteger();
        private volatile Runnable beforeRenewal = () -> {};
        private volatile Runnable afterRenewal = () -> {};

        Leases(LeaseStore real) {
            this.real = real;
        }

        @Override
        public Optional<Lease> acquire(String key, String owner, Duration duration) {
            return real.acquire(key, owner, duration);
        }

        @Override
        public Optional<Lease> renew(Lease lease, Duration duration) {
            renewals.incrementAndGet();
            beforeRenewal.run();
            Optional<Lease> renewed = real.renew(lease, duration);
            afterRenewal.run();
            return renewed;
        }

        @Override
        public boolean release(Lease lease) {
            return real.release(lease);
        }

        @Override
        public Optional<Lease> holder(String key) {
            return real.holder(key);
        }

        void awaitRenewals(int more) {
            int from = renewals.get();
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> renewals.get() >= from + more);
        }
    }

    private Optional<HeldLease> acquire(LeaseSettings settings, Consumer<LeaseLostException> onLoss) {
        return HeldLease.acquire(leases, key, "node", settings, onLoss, () -> System.nanoTime() + skipped.get());
    }

    private HeldLease held(LeaseSettings settings) {
        return acquire(settings, losses::add).orElseThrow();
    }

    private HeldLease held() {
        return held(BRISK);
    }

    private void skip(Duration time) {
        skipped.addAndGet(time.toNanos());
    }

    private LeaseLostException loss() throws InterruptedException {
        LeaseLostException loss = losses.poll(30, TimeUnit.SECONDS);
        assertThat(loss).as("told of the loss").isNotNull();
        return loss;
    }

    private static void await(CountDownLatch begun, CountDownLatch goOn) {
        begun.countDown();
        try {
            goOn.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static StoreUnavailableException away() {
        return new StoreUnavailableException("away", null);
    }

    @Test
    void heldLease_isRenewed_andReleasedWhenClosed() {
        HeldLease held = held();
        assertThat(held.isHeld()).isTrue();
        assertThatCode(held::checkHeld).doesNotThrowAnyException();
        assertThat(held.lease().owner()).startsWith("node:");
        Instant first = held.lease().expiresAt();
        Awaitility.await()
                .until(() -> leases.holder(key).orElseThrow().expiresAt().isAfter(first));
        assertThat(acquire(BRISK, losses::add)).as("for its own holder").isEmpty();

        held.close();
        assertThat(held.isHeld()).isFalse();
        assertThat(catchThrowableOfType(LeaseLostException.class, held::checkHeld)
                        .reason())
                .isEqualTo(Reason.RELEASED);
        assertThat(leases.holder(key)).isEmpty();
        held.close();
        held().close();
        assertThat(losses).isEmpty();
    }

    @Test
    void close_endsTheThreads_andCallsNobody() {
        HeldLease held = held();
        leases.awaitRenewals(1);
        held.close();
        Awaitility.await()
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().contains(key)));
        assertThat(losses).isEmpty();
    }

    @Test
    void refusedRenewal_isALoss_andTheNextHolderIsLeftAlone() throws InterruptedException {
        HeldLease held = held();
        leases.release(held.lease());
        Lease next = leases.acquire(key, "another", Duration.ofMinutes(1)).orElseThrow();
        LeaseLostException loss = loss();
        assertThat(loss.reason()).isEqualTo(Reason.REFUSED);
        assertThat(loss).hasMessageContaining(key);
        assertThat(held.isHeld()).isFalse();
        assertThatThrownBy(held::checkHeld).isInstanceOf(LeaseLostException.class);
        int renewals = leases.renewals.get();
        held.close();
        assertThat(leases.holder(key)).contains(next);
        assertThat(losses).as("told once").isEmpty();
        assertThat(leases.renewals).hasValue(renewals);
    }

    /** Work under a lease that can't be renewed stops while it is still its own, not when others have it. */
    @ParameterizedTest
    @MethodSource("failures")
    void firstRenewalThatFails_isALoss_thatNamesItsCause(Throwable failure) throws InterruptedException {
        HeldLease held = held();
        leases.beforeRenewal = () -> sneak(failure);
        LeaseLostException loss = loss();
        assertThat(loss.reason()).isEqualTo(Reason.FAILED);
        assertThat(loss).hasCause(failure).hasMessageContaining(key);
        assertThat(held.isHeld()).isFalse();
        assertThat(catchThrowableOfType(LeaseLostException.class, held::checkHeld))
                .hasCause(failure);
        int renewals = leases.renewals.get();

        assertThat(leases.holder(key)).as("until its work has stopped").isPresent();
        held.close();
        assertThat(leases.holder(key)).isEmpty();
        assertThat(leases.renewals).hasValue(renewals);
        assertThat(losses).as("told once").isEmpty();
    }

    static List<Throwable> failures() {
        return List.of(away(), new StackOverflowError("as a driver may"));
    }

    private static void sneak(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) failure;
    }

    /** SIGSTOP, a long pause of the collector: the first question after it is answered by the clock. */
    @Test
    void processThatStoodStill_isNotTheHolder_alsoIfTheDatabaseWouldRenewIt() throws InterruptedException {
        HeldLease held = held();
        skip(BRISK.duration());
        assertThat(held.isHeld()).isFalse();
        assertThat(loss().reason()).isEqualTo(Reason.RAN_OUT);
        assertThat(leases.renew(held.lease(), BRISK.duration())).isPresent();
        assertThat(held.isHeld()).isFalse();
    }

    /** The answer says that the lease lasts from when the database renewed it, which may be long ago. */
    @Test
    void renewal_countsFromBeforeItWasSent() throws InterruptedException {
        HeldLease held = held(BRISK);
        CountDownLatch answered = new CountDownLatch(1);
        CountDownLatch second = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        leases.afterRenewal = () -> {
            skip(BRISK.duration().minusSeconds(20));
            leases.beforeRenewal = () -> await(second, goOn);
            leases.afterRenewal = () -> {};
            answered.countDown();
        };
        assertThat(answered.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(second.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(held.isHeld()).isTrue();
        skip(Duration.ofSeconds(20));
        assertThat(held.isHeld()).isFalse();
        assertThat(loss().reason()).isEqualTo(Reason.RAN_OUT);
        goOn.countDown();
    }

    @Test
    void answerThatComesTooLate_bringsNothingBack() throws InterruptedException {
        CountDownLatch answered = new CountDownLatch(1);
        HeldLease held = held();
        leases.afterRenewal = () -> {
            skip(BRISK.duration());
            answered.countDown();
        };
        assertThat(answered.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(loss().reason()).isEqualTo(Reason.RAN_OUT);
        assertThat(held.isHeld()).isFalse();
    }

    @Test
    void renewalThatHangs_delaysNoSignal() throws InterruptedException {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        leases.beforeRenewal = () -> await(hanging, goOn);
        HeldLease held = held(new LeaseSettings(Duration.ofMillis(400), Duration.ofMillis(20)));
        assertThat(hanging.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(loss().reason()).isEqualTo(Reason.RAN_OUT);
        goOn.countDown();
        assertThat(held.isHeld()).isFalse();
    }

    /** The database has it as renewed: nobody is to wait for its end. */
    @Test
    void leaseWhoseRenewalIsAnsweredTooLate_isReleasedWhenClosed() throws InterruptedException {
        CountDownLatch renewed = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        HeldLease held = held();
        leases.afterRenewal = () -> await(renewed, goOn);
        assertThat(renewed.await(30, TimeUnit.SECONDS)).isTrue();
        skip(BRISK.duration());
        assertThat(held.isHeld()).isFalse();
        assertThat(loss().reason()).isEqualTo(Reason.RAN_OUT);
        assertThat(leases.holder(key)).isPresent();
        held.close();
        assertThat(leases.holder(key)).isEmpty();
        goOn.countDown();
    }

    @Test
    void errorInTheCallback_isNobodyElses() throws InterruptedException {
        CountDownLatch called = new CountDownLatch(1);
        HeldLease held = acquire(BRISK, loss -> {
                    Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> losses.add(loss));
                    called.countDown();
                    throw new StackOverflowError("as a callback may");
                })
                .orElseThrow();
        skip(BRISK.duration());
        assertThat(called.await(30, TimeUnit.SECONDS)).isTrue();
        loss();
        assertThat(held.isHeld()).isFalse();
        assertThatCode(held::close).doesNotThrowAnyException();
    }

    @Test
    void databaseThatCanNotBeToldOfTheEnd_isNotComplainedAbout() {
        HeldLease held = HeldLease.acquire(
                        new LeaseStore() {
                            @Override
                            public Optional<Lease> acquire(String key, String owner, Duration duration) {
                                return leases.acquire(key, owner, duration);
                            }

                            @Override
                            public Optional<Lease> renew(Lease lease, Duration duration) {
                                return leases.renew(lease, duration);
                            }

                            @Override
                            public boolean release(Lease lease) {
                                throw away();
                            }

                            @Override
                            public Optional<Lease> holder(String key) {
                                return leases.holder(key);
                            }
                        },
                        key,
                        "node",
                        BRISK,
                        losses::add)
                .orElseThrow();
        assertThatCode(held::close).doesNotThrowAnyException();
        assertThat(held.isHeld()).isFalse();
    }

    /** As with attempts: the same process may hold it again, and its old self must not act for it. */
    @Test
    void twoHoldingsOfOneHolder_areToldApart() throws InterruptedException {
        HeldLease old = held();
        skip(BRISK.duration());
        assertThat(loss().reason()).isEqualTo(Reason.RAN_OUT);
        leases.release(old.lease());
        try (HeldLease current = held()) {
            old.close();
            assertThat(leases.holder(key))
                    .map(Lease::owner)
                    .contains(current.lease().owner());
            Job job = store.jobs()
                    .submit(NewJob.of("job-" + UUID.randomUUID(), "k", JsonText.of("{}")))
                    .job();
            Job changed = job.withPriority(Priority.LOW);
            assertThat(store.jobs().compareAndSet(job, changed, Duration.ZERO, old.lease()))
                    .isFalse();
            assertThat(store.jobs().compareAndSet(job, changed, Duration.ZERO, current.lease()))
                    .isTrue();
        }
    }

    @Test
    void badInput_isRefused_andNothingIsTaken() {
        assertThatThrownBy(() -> HeldLease.acquire(leases, key, "x".repeat(401), BRISK, losses::add))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("lease.holder");
        assertThatThrownBy(() -> HeldLease.acquire(leases, "", "node", BRISK, losses::add))
                .isInstanceOf(InvalidJobException.class)
                .hasMessageContaining("lease.key");
        assertThat(leases.holder(key)).isEmpty();
    }

    @Test
    void settings_thatContradictEachOther_areRefusedWithWhatIsAllowed() {
        assertThat(LeaseSettings.DEFAULT).isEqualTo(new LeaseSettings(Duration.ofSeconds(30), Duration.ofSeconds(10)));
        assertThatThrownBy(() -> new LeaseSettings(Duration.ofSeconds(30), Duration.ofSeconds(16)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("renewInterval")
                .hasMessageContaining("PT16S")
                .hasMessageContaining("PT15S");
        assertThatThrownBy(() -> new LeaseSettings(Duration.ofMillis(99), Duration.ofMillis(20)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("duration");
        assertThatThrownBy(() -> new LeaseSettings(Duration.ofDays(2), Duration.ofMillis(20)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new LeaseSettings(Duration.ofSeconds(30), Duration.ofMillis(1)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
