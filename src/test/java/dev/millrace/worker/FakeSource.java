package dev.millrace.worker;

import dev.millrace.job.AttemptState;
import dev.millrace.job.Cancellation;
import dev.millrace.job.Job;
import dev.millrace.job.JobPolicies;
import dev.millrace.job.JobSpec;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Completion;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.store.WorkSource;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Jobs in memory that behave as those of the database do towards a worker, and a place to put failures: before a call,
 * after it (its reply is lost), or a gate in its way. Scripted interleavings are what it is for; that the SQL does what it
 * does is tested against a real server.
 */
final class FakeSource implements WorkSource {
    enum Op {
        CLAIM,
        RECOVER,
        BEAT,
        START,
        PROGRESS,
        FINISH,
        FINISH_ALL
    }

    /** What becomes of a call. */
    interface Fault {
        <T> T around(Supplier<T> call);

        /** The call never gets there. */
        static Fault down() {
            return before(() -> {
                throw new StoreUnavailableException("out of reach", null);
            });
        }

        /** The call is made, and its answer is lost. */
        static Fault lostReply() {
            return new Fault() {
                @Override
                public <T> T around(Supplier<T> call) {
                    T lost = call.get();
                    throw new StoreUnavailableException(
                            "answer lost: a " + lost.getClass().getSimpleName(), null);
                }
            };
        }

        /** The call fails with this. */
        static Fault failing(Supplier<? extends Throwable> failure) {
            return before(() -> sneak(failure.get()));
        }

        /** The call waits for the latch. */
        static Fault gate(CountDownLatch latch) {
            return before(() -> await(latch));
        }

        static Fault before(Runnable action) {
            return new Fault() {
                @Override
                public <T> T around(Supplier<T> call) {
                    action.run();
                    return call.get();
                }
            };
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new StoreUnavailableException("interrupted", e);
            }
        }

        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        private static <E extends Throwable> void sneak(Throwable failure) throws E {
            throw (E) failure;
        }
    }

    /** A job's row. Guarded by the source's monitor. */
    private static final class Row {
        private Job job;
        private JobStatus status = JobStatus.QUEUED;
        private UUID token;
        private UUID lastToken;
        private Finish lastFinish;
        private int attempts;
        private int forgiven;
        private long dueAt = System.nanoTime();
        private boolean cancellationRequested;
        private boolean locked;
        private boolean passedOver;

        private boolean owned(UUID candidate) {
            return candidate.equals(token) && status.isClaimed();
        }
    }

    /** An ending that was written. */
    record Ended(String jobId, int attempt, Finish finish) {}

    private final Map<String, Row> rows = new LinkedHashMap<>();
    private final Map<Op, Deque<Fault>> next = new ConcurrentHashMap<>();
    private final Map<Op, Fault> always = new ConcurrentHashMap<>();
    private final Map<Op, AtomicInteger> calls = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();
    private final AtomicInteger claimsInFlight = new AtomicInteger();

    final AtomicInteger mostClaimsInFlight = new AtomicInteger();
    /** How many starts each call has brought that brings several. */
    final List<Integer> startsTogether = new CopyOnWriteArrayList<>();

    /** How many endings each call has brought that brings several. */
    final List<Integer> finishedTogether = new CopyOnWriteArrayList<>();

    final List<ClaimRequest> claimRequests = new CopyOnWriteArrayList<>();
    final List<List<UUID>> recoverRequests = new CopyOnWriteArrayList<>();
    final List<List<Attempt>> beats = new CopyOnWriteArrayList<>();
    final List<Ended> ended = new CopyOnWriteArrayList<>();
    final List<String> progress = new CopyOnWriteArrayList<>();

    // Setting up.

    synchronized String submit(String kind, String parameters, JobPolicies policies) {
        String id = kind + "-" + numbers.incrementAndGet();
        Row row = new Row();
        row.job = Job.of(id, JobSpec.of(kind, JsonText.of(parameters)), Instant.EPOCH)
                .withPolicies(policies);
        rows.put(id, row);
        return id;
    }

    String submit(String kind, JobPolicies policies) {
        return submit(kind, "{}", policies);
    }

    String submit(String kind) {
        return submit(kind, JobPolicies.DEFAULT);
    }

    /** The next call of this kind meets this; several are met one after the other. */
    void next(Op op, Fault... faults) {
        next.computeIfAbsent(op, key -> new ConcurrentLinkedDeque<>()).addAll(List.of(faults));
    }

    /** All calls of this kind meet this, until {@link #heal}. */
    void always(Op op, Fault fault) {
        always.put(op, fault);
    }

    void heal(Op op) {
        always.remove(op);
    }

    void down() {
        for (Op op : Op.values()) {
            always(op, Fault.down());
        }
    }

    void up() {
        always.clear();
    }

    synchronized void cancel(String id) {
        rows.get(id).cancellationRequested = true;
    }

    /** Someone else's transaction holds the row, or no longer does. */
    /** Its transaction took long: quick claims have passed its place. */
    synchronized void passOver(String id) {
        rows.get(id).passedOver = true;
    }

    synchronized void lock(String id, boolean locked) {
        rows.get(id).locked = locked;
    }

    /** A sweep takes the job from its worker: queued again. */
    synchronized void expire(String id) {
        Row row = rows.get(id);
        row.token = null;
        row.status = JobStatus.QUEUED;
        row.dueAt = System.nanoTime();
    }

    /** A sweep ends the job, or an operator deletes it. */
    synchronized void failElsewhere(String id) {
        rows.get(id).status = JobStatus.FAILED;
    }

    synchronized void forgive(String id, int attempts, int forgiven) {
        rows.get(id).attempts = attempts;
        rows.get(id).forgiven = forgiven;
    }

    /** A claim as the server would make it for a request of which the client has given up hope. */
    synchronized List<Claim> commitLate(ClaimRequest request) {
        return claimNow(request);
    }

    List<String> submit(int number, String kind) {
        return Stream.generate(() -> submit(kind)).limit(number).toList();
    }

    // Looking.

    synchronized String firstId() {
        return rows.keySet().iterator().next();
    }

    synchronized JobStatus status(String id) {
        return rows.get(id).status;
    }

    synchronized int attempts(String id) {
        return rows.get(id).attempts;
    }

    synchronized int forgiven(String id) {
        return rows.get(id).forgiven;
    }

    synchronized boolean allSucceeded() {
        return rows.values().stream().allMatch(row -> row.status == JobStatus.SUCCEEDED);
    }

    int calls(Op op) {
        return calls.computeIfAbsent(op, key -> new AtomicInteger()).get();
    }

    int beatsFor(String id) {
        return (int) beats.stream()
                .flatMap(List::stream)
                .filter(attempt -> attempt.jobId().equals(id))
                .count();
    }

    List<Finish> endings(String id) {
        return ended.stream()
                .filter(ending -> ending.jobId().equals(id))
                .map(Ended::finish)
                .toList();
    }

    // The work source.

    @Override
    public List<Claim> claim(ClaimRequest request) {
        claimRequests.add(request);
        mostClaimsInFlight.accumulateAndGet(claimsInFlight.incrementAndGet(), Math::max);
        try {
            return call(Op.CLAIM, () -> claimNow(request));
        } finally {
            claimsInFlight.decrementAndGet();
        }
    }

    private synchronized List<Claim> claimNow(ClaimRequest request) {
        List<Claim> claims = new ArrayList<>();
        for (Row row : rows.values()) {
            boolean claimable = row.status == JobStatus.QUEUED
                    && row.dueAt <= System.nanoTime()
                    && (request.thorough() || !row.passedOver)
                    && request.kinds().contains(row.job.kind())
                    && request.sources()
                            .contains(new ClaimRequest.Source(
                                    row.job.spec().runtimeProfile(),
                                    row.job.spec().queue()));
            if (claimable && claims.size() < request.limit()) {
                row.status = JobStatus.PROVISIONING;
                row.attempts++;
                row.token = request.tokens().get(claims.size());
                claims.add(claimOf(row));
            }
        }
        return claims;
    }

    private static Claim claimOf(Row row) {
        AttemptState state = new AttemptState(
                1, row.status, row.attempts, "worker", null, null, null, null, null, null, Instant.EPOCH);
        Job job = row.job.withState(state);
        if (row.cancellationRequested) {
            job = job.withAudit(job.audit().withCancellation(new Cancellation(Instant.EPOCH, null, null)));
        }
        return new Claim(job, row.token, row.forgiven);
    }

    @Override
    public List<Claim> recover(Collection<UUID> tokens) {
        recoverRequests.add(List.copyOf(tokens));
        return call(Op.RECOVER, () -> {
            synchronized (this) {
                return rows.values().stream()
                        .filter(row -> row.status == JobStatus.PROVISIONING && tokens.contains(row.token))
                        .map(FakeSource::claimOf)
                        .toList();
            }
        });
    }

    @Override
    public Map<Attempt, Pulse> beat(Collection<Attempt> attempts) {
        beats.add(List.copyOf(attempts));
        return call(Op.BEAT, () -> {
            synchronized (this) {
                Map<Attempt, Pulse> answers = new LinkedHashMap<>();
                for (Attempt attempt : attempts) {
                    boolean locked = rows.get(attempt.jobId()).locked;
                    answers.put(attempt, locked ? Pulse.BUSY : pulse(attempt));
                }
                return answers;
            }
        });
    }

    @Override
    public Pulse start(Attempt attempt) {
        return call(Op.START, () -> {
            synchronized (this) {
                Pulse pulse = pulse(attempt);
                if (pulse != Pulse.LOST) {
                    rows.get(attempt.jobId()).status = JobStatus.RUNNING;
                }
                return pulse;
            }
        });
    }

    /** Waits for no row; those that aren't locked are started one by one. */
    @Override
    public Map<Attempt, Pulse> startAll(Collection<Attempt> attempts) {
        startsTogether.add(attempts.size());
        Map<Attempt, Pulse> answers = new LinkedHashMap<>();
        attempts.forEach(attempt -> answers.put(attempt, isLocked(attempt.jobId()) ? Pulse.BUSY : start(attempt)));
        return answers;
    }

    @Override
    public Pulse progress(Attempt attempt, Double percent, String phase) {
        return call(Op.PROGRESS, () -> {
            synchronized (this) {
                Pulse pulse = pulse(attempt);
                if (pulse != Pulse.LOST) {
                    progress.add(percent + " " + phase);
                    rows.get(attempt.jobId()).status = JobStatus.RUNNING;
                }
                return pulse;
            }
        });
    }

    private Pulse pulse(Attempt attempt) {
        Row row = rows.get(attempt.jobId());
        if (!row.owned(attempt.token())) {
            return Pulse.LOST;
        }
        return row.cancellationRequested ? Pulse.CANCELLATION_REQUESTED : Pulse.HELD;
    }

    @Override
    public boolean finish(Completion completion) {
        return call(Op.FINISH, () -> finishNow(completion.claim(), completion.finish()));
    }

    @Override
    public Set<Attempt> finishAll(Collection<Completion> completions) {
        return call(Op.FINISH_ALL, () -> {
            finishedTogether.add(completions.size());
            Set<Attempt> done = new LinkedHashSet<>();
            for (Completion completion : completions) {
                if (finishNow(completion.claim(), completion.finish())) {
                    done.add(completion.claim().attempt());
                }
            }
            return done;
        });
    }

    @Override
    public Set<Attempt> finishUnlocked(Collection<Completion> completions) {
        return finishAll(completions.stream()
                .filter(completion -> !isLocked(completion.claim().job().id()))
                .toList());
    }

    private synchronized boolean isLocked(String id) {
        return rows.get(id).locked;
    }

    private synchronized boolean finishNow(Claim claim, Finish finish) {
        Row row = rows.get(claim.job().id());
        if (!row.owned(claim.token())) {
            return claim.token().equals(row.lastToken) && finish.equals(row.lastFinish);
        }
        row.lastToken = claim.token();
        row.lastFinish = finish;
        ended.add(new Ended(claim.job().id(), row.attempts, finish));
        if (finish instanceof Finish.Succeed) {
            row.status = JobStatus.SUCCEEDED;
        } else if (finish instanceof Finish.Fail) {
            row.status = JobStatus.FAILED;
        } else if (finish instanceof Finish.Cancel || row.cancellationRequested) {
            row.status = JobStatus.CANCELLED;
        } else {
            row.status = JobStatus.QUEUED;
            row.token = null;
            if (finish instanceof Finish.Retry retry) {
                row.dueAt = System.nanoTime() + retry.delay().toNanos();
            } else if (finish instanceof Finish.HandBack back) {
                row.forgiven++;
                row.dueAt = System.nanoTime() + back.delay().toNanos();
            }
        }
        return true;
    }

    private <T> T call(Op op, Supplier<T> real) {
        calls.computeIfAbsent(op, key -> new AtomicInteger()).incrementAndGet();
        Deque<Fault> scripted = next.get(op);
        Fault once = scripted == null ? null : scripted.poll();
        Fault fault = once != null ? once : always.get(op);
        return fault == null ? real.get() : fault.around(real);
    }
}
