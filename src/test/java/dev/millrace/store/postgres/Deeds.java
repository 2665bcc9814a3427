package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;

import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.NewJob;
import dev.millrace.job.RetryPolicy;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Assignment;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Completion;
import dev.millrace.store.Controls.Scope;
import dev.millrace.store.Finish;
import dev.millrace.store.JobConflictException;
import dev.millrace.store.JobQuery;
import dev.millrace.store.Lease;
import dev.millrace.store.LogEntry;
import dev.millrace.store.Notes;
import dev.millrace.store.ReconcilableJobs.Expiry;
import dev.millrace.store.ReconcilableJobs.Suspect;
import dev.millrace.store.RemoteJobs;
import dev.millrace.store.Retention;
import dev.millrace.store.StoreException;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jooq.DSLContext;
import org.jooq.impl.DSL;

/**
 * One thread of many that do all that the library does to the same jobs, in random order; what it is told goes into the
 * {@link Ledger}. Whoever adds an {@link Operation} adds a deed of it to {@link #OF}.
 */
final class Deeds {
    /** One deed for each operation. */
    static final Map<Operation, Consumer<Deeds>> OF = new EnumMap<>(Operation.class);

    static {
        OF.put(Operation.SUBMIT, deeds -> deeds.submit(deeds.store, deeds.id()));
        OF.put(Operation.CREATE, Deeds::create);
        OF.put(Operation.GET, deeds -> deeds.store.jobs().get(deeds.id()));
        OF.put(Operation.COMPARE_AND_SET, deeds -> deeds.compareAndSet(deeds.store, deeds.id()));
        OF.put(Operation.CANCEL, deeds -> deeds.store.jobs().cancel(deeds.id(), deeds.worker, null));
        OF.put(Operation.RETRY, Deeds::retry);
        OF.put(Operation.SEED, Deeds::seed);
        OF.put(Operation.SUBMIT_ALL, Deeds::submitAll);
        OF.put(Operation.CANCEL_ALL, deeds -> deeds.store.jobs().cancelAll(deeds.ids(20), deeds.worker, null));
        OF.put(Operation.QUERY, Deeds::readAllPages);
        OF.put(Operation.COUNT, deeds -> deeds.store.counts().exact(JobQuery.ALL));
        OF.put(Operation.COUNT_BY_STATUS, deeds -> deeds.store.counts().byStatus(100));
        OF.put(Operation.COUNT_BY_KIND, deeds -> deeds.store.counts().byKind(100));
        OF.put(Operation.COUNT_WAITING, deeds -> deeds.store.counts().waiting(StoreFixture.DEFAULT_SOURCE.get(0), 100));
        OF.put(Operation.OLDEST_WAITING, deeds -> deeds.store.counts().oldestWaiting());

        OF.put(Operation.ENQUEUE, deeds -> deeds.store.queue().enqueue(deeds.id()));
        OF.put(Operation.REQUEUE, deeds -> deeds.store.queue().requeue(deeds.id(), deeds.delay()));
        OF.put(Operation.REMOVE, deeds -> deeds.store.queue().remove(deeds.id()));
        OF.put(Operation.DEPTH, deeds -> deeds.store.queue().depth("managed", "default"));
        OF.put(Operation.REPAIR, deeds -> deeds.store.queue().repair(Duration.ZERO, 20));

        OF.put(Operation.CLAIM, Deeds::claim);
        OF.put(Operation.CLAIM_ASSIGNED, Deeds::claimAssigned);
        OF.put(Operation.RECOVER, deeds -> deeds.store.work().recover(deeds.tokens()));
        OF.put(Operation.BEAT, deeds -> deeds.store.work().beat(deeds.attempts()));
        OF.put(
                Operation.START,
                deeds -> deeds.withClaim((id, claim) -> deeds.store.work().start(claim.attempt())));
        OF.put(Operation.START_ALL, deeds -> deeds.store.work().startAll(deeds.attempts()));
        OF.put(
                Operation.PROGRESS,
                deeds ->
                        deeds.withClaim((id, claim) -> deeds.store.work().progress(claim.attempt(), 50.0, "half-way")));
        OF.put(Operation.FINISH, deeds -> deeds.withClaim((id, claim) -> deeds.finish(claim)));
        OF.put(Operation.FINISH_ALL, Deeds::finishAll);

        OF.put(Operation.PROBE, deeds -> deeds.store.reconcilable().probe());
        OF.put(Operation.SUSPECTS, deeds -> deeds.store.reconcilable().suspects(deeds.id(), 10));
        OF.put(Operation.CANDIDATES, deeds -> deeds.store.reconcilable().candidates(null, 20));
        OF.put(Operation.EXPIRE, Deeds::expire);
        OF.put(Operation.IS_LOCKED, Deeds::isLocked);
        OF.put(Operation.SHORTEST_TIMEOUT, deeds -> deeds.store.reconcilable().shortestHeartbeatTimeout());

        OF.put(Operation.GET_REMOTE, deeds -> deeds.store.remote().get(deeds.remoteId()));
        OF.put(Operation.BEGIN_REMOTE, Deeds::begin);
        OF.put(
                Operation.RUNNING_REMOTE,
                deeds -> deeds.withRemoteClaim(
                        (lease, claim) -> deeds.store.remote().running(claim.attempt(), deeds.worker, lease)));
        OF.put(
                Operation.PROGRESS_REMOTE,
                deeds -> deeds.withRemoteClaim(
                        (lease, claim) -> deeds.store.remote().progress(claim.attempt(), 70.0, null, lease)));
        OF.put(Operation.FINISH_REMOTE, deeds -> deeds.withRemoteClaim(deeds::finishRemote));
        OF.put(Operation.CLEAR_PROGRESS, Deeds::clearProgress);

        OF.put(Operation.APPEND, deeds -> deeds.append(line -> line.withEventId("event-" + deeds.random.nextInt(50))));
        OF.put(Operation.APPEND_WITHOUT_EVENT_ID, deeds -> deeds.append(line -> line));
        OF.put(Operation.READ_LOG, deeds -> deeds.store.logs().tail(deeds.id(), 20));
        OF.put(Operation.KEEP_LOG, deeds -> deeds.store.logs().setRetention(deeds.id(), deeds.delay()));

        OF.put(Operation.PUT_RESULT, deeds -> deeds.store.results().put(deeds.id(), JsonText.of("{}"), deeds.delay()));
        OF.put(
                Operation.PUT_RESULT_OF_ATTEMPT,
                deeds -> deeds.withClaim(
                        (id, claim) -> deeds.store.results().put(claim.attempt(), JsonText.of("[]"), deeds.delay())));
        OF.put(Operation.GET_RESULT, deeds -> deeds.store.results().get(deeds.id()));

        OF.put(Operation.SWEEP, Deeds::sweep);
        OF.put(Operation.ACQUIRE, Deeds::changeUnderALease);
        OF.put(Operation.RENEW, deeds -> deeds.withLease(deeds::renew));
        OF.put(Operation.RELEASE_LEASE, deeds -> deeds.withLease(deeds.store.leases()::release));
        OF.put(Operation.LEASE_HOLDER, deeds -> deeds.withLease(lease -> {}));

        OF.put(Operation.HOLD, Deeds::holdForAMoment);
        OF.put(Operation.RELEASE_HOLD, deeds -> deeds.store.controls().release(deeds.worker));
        OF.put(Operation.HELD, deeds -> deeds.store.controls().held());
        OF.put(Operation.PAUSE, Deeds::pauseForAMoment);
        OF.put(Operation.RESUME, deeds -> deeds.store.controls().resume(deeds.scope(), deeds.worker));
        OF.put(Operation.PAUSES, deeds -> deeds.store.controls().pauses());
        OF.put(Operation.PROBE_SIGNALS, deeds -> deeds.store.signals().probe(deeds.worker));

        OF.put(Operation.CLOCK, deeds -> deeds.store.clock().now());
    }

    private static final Duration LEASE = Duration.ofMillis(20);
    private static final int CONTESTED = 8;
    private static final List<String> KINDS = List.of("a", "b", "c");

    private final PostgresStore store;
    /** On the connections of applications that use the library in transactions of theirs. */
    private final DSLContext caller;

    private final Ledger ledger;
    private final Random random;
    private final String worker;
    private final List<Consumer<Deeds>> all = new ArrayList<>(OF.values());

    Deeds(PostgresStore store, DSLContext caller, Ledger ledger, int number, long seed) {
        this.store = store;
        this.caller = caller;
        this.ledger = ledger;
        this.random = new Random(seed + number);
        this.worker = "worker-" + number;
        // Jobs end faster than they begin: some more of those that begin and go on with them.
        all.addAll(Collections.nCopies(6, OF.get(Operation.SUBMIT)));
        all.addAll(Collections.nCopies(3, OF.get(Operation.CLAIM)));
        all.addAll(Collections.nCopies(2, OF.get(Operation.BEAT)));
        all.addAll(Collections.nCopies(6, Deeds::delete));
        all.addAll(Collections.nCopies(3, deeds -> deeds.transaction(true)));
    }

    /** Some deed, whichever comes. */
    void any() {
        all.get(random.nextInt(all.size())).accept(this);
    }

    /** A caller who does several things to several jobs in one transaction, in the order of their ids or not. */
    void transaction(boolean inOrder) {
        List<String> some = new ArrayList<>(ids(2 + random.nextInt(4)));
        if (inOrder) {
            Collections.sort(some);
        }
        boolean commit = random.nextInt(4) > 0;
        List<Runnable> onCommit = new ArrayList<>();
        try {
            caller.transaction(tx -> {
                PostgresStore inside = store.in(tx);
                some.forEach(id -> step(inside, id, onCommit));
                if (!commit) {
                    throw new RolledBackException();
                }
            });
        } catch (RolledBackException e) {
            return;
        } catch (StoreException e) {
            throw new CallerException(e);
        }
        onCommit.forEach(Runnable::run);
    }

    /** What became of a caller's transaction; whatever else is thrown is the library's own failure. */
    static final class CallerException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        CallerException(StoreException cause) {
            super("A caller's transaction failed: " + cause.getMessage(), cause);
        }
    }

    private static final class RolledBackException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** What a caller's transaction does to one job. */
    private void step(PostgresStore inside, String id, List<Runnable> onCommit) {
        switch (random.nextInt(6)) {
            case 0 -> submit(inside, id);
            case 1 -> compareAndSet(inside, id);
            case 2 -> inside.queue().enqueue(id);
            case 3 -> inside.queue().requeue(id, delay());
            case 4 -> {
                Claim claim = ledger.claim(id, random);
                Finish finish = finish();
                if (claim != null && inside.work().finish(claim, finish)) {
                    onCommit.add(() -> ledger.finished(claim, finish));
                }
            }
            default -> inside.jobs().cancel(id, worker, "in a transaction");
        }
    }

    private NewJob job(String id) {
        NewJob job = NewJob.of(id, KINDS.get(ledger.ids.indexOf(id) % KINDS.size()), JsonText.of("{}"));
        NewJob retried = job.withPolicies(job.policies().withRetry(RetryPolicy.fixed(1_000, Duration.ZERO)));
        return ledger.isRemote(id) ? retried.withSpec(retried.spec().withBackend("farm")) : retried.withDelay(delay());
    }

    private void submit(PostgresStore where, String id) {
        try {
            where.jobs().submit(job(id));
        } catch (JobConflictException e) {
            // Somebody has changed it since its creation.
        }
    }

    private void submitAll() {
        try {
            store.jobs().submitAll(ids(10).stream().map(this::job).toList());
        } catch (JobConflictException e) {
            // As above.
        }
    }

    private void seed() {
        String id = ledger.seededId(random);
        store.jobs().seed(Job.of(id, JobSpec.of("b", JsonText.of("{}")), ledger.creation()));
    }

    private void retry() {
        store.jobs()
                .get(id())
                .filter(job -> job.status().isFinal())
                .ifPresent(job -> ledger.reviving(job, () -> {
                    store.jobs().retry(job.id(), worker, "again");
                    return store.jobs().get(job.id());
                }));
    }

    private void create() {
        try {
            store.jobs().create(Job.of(id(), JobSpec.of("a", JsonText.of("{}")), ledger.creation()));
        } catch (JobConflictException e) {
            // It was submitted, with a kind and policies of its own.
        }
    }

    private void compareAndSet(PostgresStore where, String id) {
        where.jobs().get(id).ifPresent(job -> where.jobs().compareAndSet(job, changed(job), delay()));
    }

    /** One of two leases for all jobs, so that it is waited for. */
    private void changeUnderALease() {
        store.leases()
                .acquire(lease(), worker, LEASE)
                .ifPresent(lease -> store.jobs()
                        .get(id())
                        .ifPresent(job -> store.jobs().compareAndSet(job, changed(job), delay(), lease)));
    }

    /** Whoever holds it. */
    private void withLease(Consumer<Lease> deed) {
        store.leases().holder(lease()).ifPresent(deed);
    }

    private void renew(Lease lease) {
        store.leases().renew(lease, LEASE);
    }

    private String lease() {
        return "lease-" + random.nextInt(2);
    }

    private void holdForAMoment() {
        store.controls().hold(worker, null);
        store.controls().release(worker);
    }

    private void pauseForAMoment() {
        Scope scope = scope();
        store.controls().pause(scope, worker, null);
        store.controls().resume(scope, worker);
    }

    private Scope scope() {
        return random.nextBoolean() ? Scope.queue("default") : Scope.kind(KINDS.get(random.nextInt(KINDS.size())));
    }

    private Job changed(Job job) {
        Job correlated = job.withAudit(job.audit().withCorrelationId(worker));
        return switch (random.nextInt(4)) {
            case 0 -> job.withPriority(random.nextBoolean() ? Priority.CRITICAL : Priority.LOW);
            case 1 -> job.status().isFinal() ? correlated : correlated.withStatus(JobStatus.CANCELLED);
            case 2 -> job.status().isClaimed() ? job.withStatus(JobStatus.QUEUED) : correlated;
            default -> correlated;
        };
    }

    private void readAllPages() {
        Optional<String> next = Optional.empty();
        do {
            JobQuery query = JobQuery.ALL.active().withLimit(50);
            next = store.jobs().query(next.map(query::after).orElse(query)).next();
        } while (next.isPresent());
    }

    private void claim() {
        List<String> kinds = new ArrayList<>(KINDS);
        Collections.shuffle(kinds, random);
        store.work()
                .claim(ClaimRequest.of(
                        worker,
                        StoreFixture.DEFAULT_SOURCE,
                        kinds.subList(0, random.nextInt(3)),
                        1 + random.nextInt(10)))
                .forEach(ledger::claimed);
    }

    private void claimAssigned() {
        String id = id();
        AssignedClaim claim = AssignedClaim.of(worker, id);
        if (random.nextBoolean()) {
            age(id);
            claim = claim.withTakeover(AssignedClaim.Takeover.OUTAGE_GRACE_IS_OVER);
        }
        if (store.queue().claim(claim) instanceof Assignment.Taken taken) {
            ledger.claimed(taken.claim());
        }
    }

    private void finishAll() {
        Map<Attempt, Completion> completions = new HashMap<>();
        for (String id : ids(10)) {
            Claim claim = ledger.claim(id, random);
            if (claim != null) {
                completions.put(claim.attempt(), new Completion(claim, finish()));
            }
        }
        for (Attempt ended : store.work().finishAll(completions.values())) {
            Completion completion = completions.get(ended);
            ledger.finished(completion.claim(), completion.finish());
        }
    }

    private void finish(Claim claim) {
        Finish finish = finish();
        if (store.work().finish(claim, finish)) {
            ledger.finished(claim, finish);
        }
    }

    private Finish finish() {
        return switch (random.nextInt(5)) {
            case 0 -> new Finish.Succeed();
            case 1 -> new Finish.Fail("broken", Finish.Fail.Reason.HANDLER);
            case 2 -> new Finish.Cancel();
            case 3 -> new Finish.Retry(delay(), "again");
            default -> new Finish.HandBack(delay(), null);
        };
    }

    private void expire() {
        withClaim((id, claim) -> {
            age(id);
            for (Suspect suspect : store.reconcilable().suspects("", 10)) {
                Finish finish = random.nextBoolean()
                        ? new Finish.Retry(Duration.ZERO, "expired")
                        : new Finish.Fail("expired", Finish.Fail.Reason.EXPIRED);
                if (store.reconcilable().expire(suspect, finish) == Expiry.ENDED) {
                    ledger.expired(suspect.attempt().token());
                }
            }
        });
    }

    /** Lets a day pass for one job, if it is claimed. */
    private void age(String id) {
        caller.update(EXECUTION_JOBS)
                .set(
                        EXECUTION_JOBS.LAST_HEARTBEAT_AT,
                        EXECUTION_JOBS.LAST_HEARTBEAT_AT.sub(DSL.val(Duration.ofDays(1), DbTime.DURATION)))
                .where(EXECUTION_JOBS.OPERATION_ID.eq(id))
                .execute();
    }

    private String remoteId() {
        return ledger.remoteId(random);
    }

    private void begin() {
        store.leases()
                .acquire(lease(), worker, LEASE)
                .ifPresent(lease -> store.jobs()
                        .get(remoteId())
                        .filter(job -> job.status() == JobStatus.QUEUED)
                        .flatMap(job -> store.remote().begin(job.id(), job.version(), worker, UUID.randomUUID(), lease))
                        .ifPresent(ledger::claimed));
    }

    private void withRemoteClaim(BiConsumer<Lease, Claim> deed) {
        Claim claim = ledger.claim(remoteId(), random);
        if (claim != null) {
            store.leases().acquire(lease(), worker, LEASE).ifPresent(lease -> deed.accept(lease, claim));
        }
    }

    private void finishRemote(Lease lease, Claim claim) {
        Finish finish = finish();
        if (store.remote().finish(claim.attempt(), finish, new Notes(List.of(), List.of(worker)), lease)
                == RemoteJobs.Answer.DONE) {
            ledger.finished(claim, finish);
        }
    }

    private void clearProgress() {
        store.leases()
                .acquire(lease(), worker, LEASE)
                .ifPresent(lease -> store.jobs()
                        .get(id())
                        .ifPresent(job -> store.remote().clearProgress(job.id(), job.version(), lease)));
    }

    private void isLocked() {
        store.reconcilable().suspects("", 1).forEach(store.reconcilable()::isLocked);
    }

    private void append(UnaryOperator<LogEntry> how) {
        LogEntry line = LogEntry.of(1, LogEntry.Level.INFO, "said by " + worker);
        store.logs().append(id(), List.of(how.apply(line), how.apply(line)));
    }

    /** One ended job outlives its retention, and all is swept that has. */
    private void sweep() {
        store.jobs().get(id()).filter(job -> job.status().isFinal()).ifPresent(job -> {
            ledger.mayBeDeleted(job);
            caller.update(EXECUTION_JOBS)
                    .set(EXECUTION_JOBS.EXPIRES_AT, DbTime.STATEMENT)
                    .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                    .and(EXECUTION_JOBS.CREATED_AT.eq(job.createdAt()))
                    .execute();
        });
        for (Retention.Subject subject : Retention.Subject.values()) {
            store.retention().sweep(subject, 10);
        }
    }

    /** Applications delete no jobs; this makes room for the next one of the id, mostly where one has ended. */
    private void delete() {
        store.jobs()
                .get(id())
                .filter(job -> job.status().isFinal() || random.nextInt(20) == 0)
                .ifPresent(job -> {
                    ledger.mayBeDeleted(job);
                    caller.deleteFrom(EXECUTION_JOBS)
                            .where(EXECUTION_JOBS.OPERATION_ID.eq(job.id()))
                            .and(EXECUTION_JOBS.CREATED_AT.eq(job.createdAt()))
                            .execute();
                });
    }

    private void withClaim(BiConsumer<String, Claim> deed) {
        String id = id();
        Claim claim = ledger.claim(id, random);
        if (claim != null) {
            deed.accept(id, claim);
        }
    }

    private List<Attempt> attempts() {
        return ids(60).stream()
                .map(id -> ledger.claim(id, random))
                .filter(Objects::nonNull)
                .map(Claim::attempt)
                .toList();
    }

    private List<UUID> tokens() {
        return attempts().stream().map(Attempt::token).toList();
    }

    /** Any job, and in one of three cases one of a few that are more contested than the rest. */
    private String id() {
        return ledger.ids.get(random.nextInt(random.nextInt(3) == 0 ? CONTESTED : ledger.ids.size()));
    }

    /** Different ones, in random order. */
    private Set<String> ids(int count) {
        Set<String> some = new LinkedHashSet<>();
        IntStream.range(0, count).forEach(i -> some.add(id()));
        return some;
    }

    private Duration delay() {
        return Duration.ofMillis(random.nextInt(3) * 5L);
    }
}
