package dev.millrace.recovery;

import dev.millrace.job.AttemptState;
import dev.millrace.job.Cancellation;
import dev.millrace.job.HeartbeatPolicy;
import dev.millrace.job.Job;
import dev.millrace.job.JobPolicies;
import dev.millrace.job.JobSpec;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Assignment;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Finish;
import dev.millrace.store.JobQueue;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The recovery's side of a store in memory, with claimed jobs that age as its clock goes. Tells the logic of the
 * reconciler from that of the statements; what the statements do is tested against PostgreSQL.
 */
final class FakeStore implements ReconcilableJobs, JobQueue {
    static final HeartbeatPolicy HEARTBEAT = new HeartbeatPolicy(Duration.ofSeconds(30), Duration.ofSeconds(90));

    /** A claimed job. */
    static final class Row {
        private Job job;
        private final UUID token = UUID.randomUUID();
        private int forgiven;
        boolean locked;
        boolean unreadable;
        Runnable beforeExpiry = () -> {};

        private Row(Job job) {
            this.job = job;
        }

        Row forgiven(int attempts) {
            forgiven = attempts;
            return this;
        }

        Row attempts(int count) {
            AttemptState s = job.state();
            job = job.withState(new AttemptState(
                    s.version(),
                    s.status(),
                    count,
                    s.claimedBy(),
                    s.claimedAt(),
                    s.lastHeartbeatAt(),
                    null,
                    null,
                    null,
                    null,
                    s.updatedAt()));
            return this;
        }

        Row retry(RetryPolicy policy) {
            job = job.withPolicies(job.policies().withRetry(policy));
            return this;
        }

        Row maxDuration(Duration duration) {
            job = job.withPolicies(job.policies().withMaxDuration(duration));
            return this;
        }

        Row cancellationRequested() {
            job = job.withAudit(job.audit().withCancellation(new Cancellation(job.createdAt(), null, null)));
            return this;
        }

        Row locked() {
            locked = true;
            return this;
        }

        Row unreadable() {
            unreadable = true;
            return this;
        }

        Row beforeExpiry(Runnable action) {
            beforeExpiry = action;
            return this;
        }
    }

    private final LongSupplier clock;
    private final long epoch;
    private final Map<String, Row> rows = new TreeMap<>();

    /** What became of jobs, in the order in which it did. */
    final Map<String, Finish> finished = Collections.synchronizedMap(new LinkedHashMap<>());

    /** The queries for overdue jobs: behind which id each looked. */
    final List<String> lookedBehind = new ArrayList<>();

    int undispatched;
    int repairs;

    /** Called by each operation: by throwing, or by taking its time, it is the weather. */
    volatile Runnable onProbe = () -> {};

    volatile Runnable onSuspects = () -> {};
    volatile Runnable onRepair = () -> {};

    FakeStore(LongSupplier clock) {
        this.clock = clock;
        this.epoch = clock.getAsLong();
    }

    Instant now() {
        return Instant.parse("2026-03-01T00:00:00Z").plusNanos(clock.getAsLong() - epoch);
    }

    synchronized Row claimed(String id) {
        return claimed(id, HEARTBEAT);
    }

    /** A job that is claimed now, in its first attempt. */
    synchronized Row claimed(String id, HeartbeatPolicy heartbeat) {
        Instant now = now();
        Job job = Job.of(id, JobSpec.of("kind", JsonText.of("{}")), now)
                .withPolicies(JobPolicies.DEFAULT
                        .withHeartbeat(heartbeat)
                        .withRetry(RetryPolicy.fixed(3, Duration.ofSeconds(7)))
                        .withMaxDuration(Duration.ofDays(365)))
                .withState(
                        new AttemptState(2, JobStatus.RUNNING, 1, "worker-1", now, now, null, null, null, null, now));
        Row row = new Row(job);
        rows.put(id, row);
        return row;
    }

    synchronized void beat(String id) {
        Row row = rows.get(id);
        AttemptState s = row.job.state();
        row.job = row.job.withState(new AttemptState(
                s.version(),
                s.status(),
                s.attemptCount(),
                s.claimedBy(),
                s.claimedAt(),
                now(),
                null,
                null,
                null,
                null,
                s.updatedAt()));
    }

    synchronized boolean has(String id) {
        return rows.containsKey(id);
    }

    synchronized int size() {
        return rows.size();
    }

    /** Fails everything as a server does that is down. */
    void down() {
        onProbe = () -> {
            throw new StoreUnavailableException("the server is down", null);
        };
        onSuspects = onProbe;
        onRepair = onProbe;
    }

    void up() {
        onProbe = () -> {};
        onSuspects = onProbe;
        onRepair = onProbe;
    }

    @Override
    public Instant probe() {
        onProbe.run();
        return now();
    }

    @Override
    public List<Suspect> suspects(String after, int limit) {
        onSuspects.run();
        synchronized (this) {
            lookedBehind.add(after);
            return rows.values().stream()
                    .filter(row -> row.job.id().compareTo(after) > 0)
                    .filter(row -> silent(row) || tooLong(row))
                    .limit(limit)
                    .map(FakeStore.this::suspect)
                    .toList();
        }
    }

    @Override
    public Expiry expire(Suspect suspect, Finish finish) {
        String id = suspect.attempt().jobId();
        Runnable before;
        synchronized (this) {
            Row row = rows.get(id);
            before = row == null ? () -> {} : row.beforeExpiry;
        }
        before.run();
        synchronized (this) {
            Row row = rows.get(id);
            boolean overdue = row != null && (suspect.cause() == Cause.DURATION ? tooLong(row) : silent(row));
            if (!overdue) {
                return Expiry.SPARED;
            }
            if (row.locked) {
                return Expiry.LOCKED;
            }
            rows.remove(id);
            finished.put(id, finish);
            return Expiry.ENDED;
        }
    }

    @Override
    public List<Candidate> candidates(@Nullable Candidate after, int limit) {
        return List.of();
    }

    @Override
    public synchronized boolean isLocked(Suspect suspect) {
        Row row = rows.get(suspect.attempt().jobId());
        return row != null && row.locked;
    }

    @Override
    public synchronized Optional<Duration> shortestHeartbeatTimeout() {
        return rows.values().stream()
                .map(row -> row.job.policies().heartbeat().timeout())
                .min(Duration::compareTo);
    }

    @Override
    public int repair(Duration untouchedFor, int limit) {
        onRepair.run();
        int now = Math.min(limit, undispatched);
        undispatched -= now;
        repairs++;
        return now;
    }

    private Suspect suspect(Row row) {
        Cause cause = tooLong(row) ? Cause.DURATION : Cause.HEARTBEAT;
        return row.unreadable
                ? new Suspect(new Attempt(row.job.id(), row.token), cause, null)
                : Suspect.of(new Claim(row.job, row.token, row.forgiven), cause);
    }

    private boolean silent(Row row) {
        return Duration.between(row.job.state().lastHeartbeatAt(), now())
                        .compareTo(row.job.policies().heartbeat().timeout())
                > 0;
    }

    private boolean tooLong(Row row) {
        return Duration.between(row.job.state().claimedAt(), now())
                        .compareTo(row.job.policies().maxDuration())
                > 0;
    }

    @Override
    public boolean enqueue(String id) {
        throw notRecovery();
    }

    @Override
    public Assignment claim(AssignedClaim request) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        throw notRecovery();
    }

    @Override
    public boolean requeue(String id, Duration delay) {
        throw notRecovery();
    }

    @Override
    public boolean requeue(Attempt attempt, Duration delay) {
        throw notRecovery();
    }

    @Override
    public boolean remove(String id) {
        throw notRecovery();
    }

    @Override
    public long depth(String runtimeProfile, String queue) {
        throw notRecovery();
    }

    private static StoreException notRecovery() {
        return new StoreException("recovery does not do this", null);
    }
}
