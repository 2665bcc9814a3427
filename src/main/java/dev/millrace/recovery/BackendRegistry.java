package dev.millrace.recovery;

import dev.millrace.backend.Backend;
import dev.millrace.job.Checks;
import dev.millrace.job.JobSpec;
import dev.millrace.store.Lease;
import dev.millrace.store.LeaseStore;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which backends this process has, and which ones nobody has.
 *
 * <p>That some process has a backend is said by a lease of the backend's name, which any one of those that have it
 * holds. Who lacks it looks at that lease, and takes the backend for missing once there has been no holder for the
 * whole grace, as long as it has been looking itself. So processes may have different backends, and one that has just
 * started, or sees a database that has just come back, fails nobody's jobs.
 */
final class BackendRegistry {
    private static final String PRESENCE = "millrace/backend/";

    private final Map<String, Backend> backends;
    private final LeaseStore leases;
    private final String owner;
    private final Duration presence;
    private final Duration grace;
    private final LongSupplier clock;

    /** Of the sweeping thread. */
    private final Map<String, Lease> present = new HashMap<>();

    private final Map<String, Long> askedAt = new HashMap<>();
    private final Map<String, Long> absentFor = new HashMap<>();
    private @Nullable Long lookedAt;
    private volatile Set<String> missing = Set.of();

    BackendRegistry(
            Collection<? extends Backend> backends,
            LeaseStore leases,
            String node,
            BackendSettings settings,
            LongSupplier clock) {
        this.backends = named(backends);
        this.leases = leases;
        this.owner = node + ":" + UUID.randomUUID();
        Duration sweeps = settings.backendSweepInterval().multipliedBy(3);
        this.presence = sweeps.compareTo(settings.lease().duration()) > 0
                ? sweeps
                : settings.lease().duration();
        this.grace = settings.missingBackendGrace();
        this.clock = clock;
    }

    private static Map<String, Backend> named(Collection<? extends Backend> backends) {
        Map<String, Backend> named = new LinkedHashMap<>();
        for (Backend given : backends) {
            Backend backend = RegisteredBackend.of(given);
            String name = Checks.name("backend.name", backend.name());
            if (name.equals(JobSpec.LOCAL_BACKEND)) {
                throw new IllegalArgumentException("A backend is named \"" + name
                        + "\", which means that workers run the job. Give it another name.");
            }
            if (named.putIfAbsent(name, backend) != null) {
                throw new IllegalArgumentException(
                        "Two backends are named \"" + name + "\". Give each a name of its own.");
            }
        }
        return named;
    }

    @Nullable
    Backend find(String name) {
        return backends.get(name);
    }

    Map<String, Backend> all() {
        return backends;
    }

    Set<String> names() {
        return new TreeSet<>(backends.keySet());
    }

    /**
     * Says that this process has its backends, unless another one says so of the same. The lease is asked for again when
     * half of its time is over, whoever has it: so it has a holder again soon after one that has died.
     */
    void sayPresent() {
        for (String name : backends.keySet()) {
            long now = clock.getAsLong();
            Long last = askedAt.get(name);
            if (last == null || now - last >= presence.toNanos() / 2) {
                sayPresent(name);
                askedAt.put(name, now);
            }
        }
    }

    private void sayPresent(String name) {
        Lease held = present.remove(name);
        Optional<Lease> holds = held == null ? Optional.empty() : leases.renew(held, presence);
        holds.or(() -> leases.acquire(PRESENCE + name, owner, presence)).ifPresent(lease -> present.put(name, lease));
    }

    /** Looks which of these, that jobs are for and this process lacks, nobody has. */
    void lookFor(Set<String> wanted) {
        long now = clock.getAsLong();
        // After a pause it proves no more than that nobody has said so for as long as such a lease lasts.
        long since = lookedAt == null ? 0 : Math.min(now - lookedAt, presence.toNanos());
        absentFor.keySet().retainAll(wanted);
        Set<String> nobodys = new TreeSet<>();
        for (String name : wanted) {
            if (leases.holder(PRESENCE + name).isPresent()) {
                absentFor.remove(name);
                continue;
            }
            Long before = absentFor.get(name);
            long absent = before == null ? 0 : before + since;
            absentFor.put(name, absent);
            if (absent >= grace.toNanos()) {
                nobodys.add(name);
            }
        }
        lookedAt = now;
        missing = nobodys;
    }

    /**
     * The store did not answer, so others can't have said that they have a backend: all of them have the whole grace again
     * from the next look on.
     */
    void couldNotLook() {
        absentFor.clear();
        lookedAt = null;
        missing = Set.of();
    }

    /** Whether nobody has it, as of the last look. */
    boolean isMissing(String name) {
        return missing.contains(name);
    }

    Set<String> missing() {
        return missing;
    }

    /** Lets go of what says that this process has its backends. */
    void leave() {
        for (Lease lease : present.values()) {
            leases.release(lease);
        }
        present.clear();
    }
}
