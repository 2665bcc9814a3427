package dev.millrace.recovery;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.store.Lease;
import dev.millrace.store.LeaseStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who says that a backend is there, and who believes that nobody has it; time passes by a clock that is set. */
class BackendRegistryTest {
    private final ManualClock clock = new ManualClock();
    private final OneLease lease = new OneLease();
    private final BackendRegistry registry = registry(BackendSettings.DEFAULT);

    private BackendRegistry registry(BackendSettings settings) {
        return new BackendRegistry(List.of(new FakeBackend("farm")), lease, "node", settings, clock);
    }

    private void sweeps(int number) {
        for (int sweep = 0; sweep < number; sweep++) {
            registry.sayPresent();
            clock.advance(ofSeconds(5));
        }
    }

    @Test
    void presence_isSaidAgainWhenHalfOfTheLeaseIsOver_notInEachSweep() {
        sweeps(7);
        assertThat(lease.asked).as("at 0, 15 and 30 s").isEqualTo(3);
    }

    @Test
    void presenceThatAnotherOneSays_isAskedForWhenHalfOfTheLeaseIsOver() {
        lease.holder = "another";
        sweeps(7);
        assertThat(lease.asked).as("at 0, 15 and 30 s").isEqualTo(3);
        lease.holder = null;
        sweeps(3);
        assertThat(lease.holder).isNotNull();
    }

    private void look(int seconds) {
        registry.lookFor(Set.of("barn"));
        clock.advance(ofSeconds(seconds));
    }

    @Test
    void backendThatNobodyHas_isMissingAfterTheGrace() {
        for (int sweep = 0; sweep < 12; sweep++) {
            look(5);
        }
        assertThat(registry.missing()).isEmpty();
        look(5);
        assertThat(registry.missing()).containsExactly("barn");
        lease.holder = "another";
        look(5);
        assertThat(registry.missing()).isEmpty();
    }

    @Test
    void timeInWhichTheStoreDidNotAnswer_isNotCounted() {
        for (int sweep = 0; sweep < 12; sweep++) {
            look(5);
        }
        registry.couldNotLook();
        clock.advance(ofMinutes(10));
        for (int sweep = 0; sweep < 12; sweep++) {
            look(5);
            assertThat(registry.isMissing("barn")).isFalse();
        }
        look(5);
        assertThat(registry.isMissing("barn")).isTrue();
    }

    @Test
    void timeInWhichNobodyLooked_countsForNoMoreThanALease() {
        look(3600);
        look(3600);
        assertThat(registry.isMissing("barn")).isFalse();
        look(3600);
        assertThat(registry.isMissing("barn")).isTrue();
    }

    /** One lease, of one name. */
    private static final class OneLease implements LeaseStore {
        @Nullable
        String holder;

        int asked;

        @Override
        public Optional<Lease> acquire(String key, String owner, Duration duration) {
            asked++;
            if (holder != null) {
                return Optional.empty();
            }
            holder = owner;
            return holder(key);
        }

        @Override
        public Optional<Lease> renew(Lease lease, Duration duration) {
            asked++;
            return lease.owner().equals(holder) ? Optional.of(lease) : Optional.empty();
        }

        @Override
        public boolean release(Lease lease) {
            holder = null;
            return true;
        }

        @Override
        public Optional<Lease> holder(String key) {
            String owner = holder;
            return owner == null ? Optional.empty() : Optional.of(new Lease(key, owner, Instant.EPOCH));
        }
    }
}
