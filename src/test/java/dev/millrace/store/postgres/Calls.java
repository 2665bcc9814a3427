package dev.millrace.store.postgres;

import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.NewJob;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Completion;
import dev.millrace.store.Controls;
import dev.millrace.store.Controls.Scope;
import dev.millrace.store.Finish;
import dev.millrace.store.JobCounts;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.JobQuery;
import dev.millrace.store.JobQueue;
import dev.millrace.store.JobStore;
import dev.millrace.store.Lease;
import dev.millrace.store.LeaseStore;
import dev.millrace.store.LogEntry;
import dev.millrace.store.ReconcilableJobs;
import dev.millrace.store.ReconcilableJobs.Cause;
import dev.millrace.store.ReconcilableJobs.Suspect;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.store.Retention;
import dev.millrace.store.Retention.Subject;
import dev.millrace.store.StoreClock;
import dev.millrace.store.WorkSource;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Every call that a store takes, each by itself: what it needs to be there is made by another store, which may do
 * everything.
 */
public final class Calls {
    private static final Duration LENGTH = Duration.ofMinutes(1);

    private final PostgresStore owner;
    private final Map<String, Consumer<PostgresStore>> calls = new LinkedHashMap<>();

    private Calls(PostgresStore owner) {
        this.owner = owner;
    }

    /** By name: the interface, the method, and where there are several of it, which one. */
    public static Map<String, Consumer<PostgresStore>> of(PostgresStore owner) {
        Calls calls = new Calls(owner);
        calls.jobs();
        calls.queue();
        calls.work();
        calls.counts();
        calls.recovery();
        calls.logsAndResults();
        calls.retention();
        calls.leases();
        calls.controls();
        calls.requireAll();
        return calls.calls;
    }

    private void jobs() {
        calls.put("JobStore.submit", store -> store.jobs().submit(newJob()));
        calls.put("JobStore.submit of one that is there", store -> {
            NewJob job = newJob();
            owner.jobs().submit(job);
            store.jobs().submit(job);
        });
        calls.put(
                "JobStore.create",
                store -> store.jobs()
                        .create(Job.of("job-" + UUID.randomUUID(), JobSpec.of("k", JsonText.of("{}")), Instant.EPOCH)));
        calls.put("JobStore.get", store -> store.jobs().get(queued().id()));
        calls.put("JobStore.query", store -> store.jobs().query(JobQuery.ALL.withKind(queuedKind())));
        calls.put("JobStore.listActive", store -> store.jobs().listActive(queuedKind(), 10));
        calls.put("JobStore.compareAndSet", store -> {
            Job job = queued();
            store.jobs().compareAndSet(job, job.withAudit(job.audit().withCorrelationId("c")));
        });
        calls.put("JobStore.cancel", store -> store.jobs().cancel(queued().id(), "me", null));
        calls.put(
                "JobStore.cancel of one that runs",
                store -> store.jobs().cancel(claimed().attempt().jobId(), "me", null));
        calls.put("JobStore.retry", store -> store.jobs().retry(ended().id(), "me", "mended"));
        calls.put("JobStore.seed", store -> store.jobs().seed(ended()));
        calls.put(
                "JobStore.seed of one that is not there",
                store -> store.jobs()
                        .seed(Job.of("job-" + UUID.randomUUID(), JobSpec.of("k", JsonText.of("{}")), Instant.EPOCH)));
        calls.put("JobStore.submitAll", store -> store.jobs().submitAll(List.of(newJob(), newJob())));
        calls.put("JobStore.submitAll of one that is there", store -> {
            NewJob job = newJob();
            owner.jobs().submit(job);
            store.jobs().submitAll(List.of(newJob(), job));
        });
        calls.put(
                "JobStore.cancelAll",
                store -> store.jobs()
                        .cancelAll(List.of(queued().id(), claimed().attempt().jobId()), "me", null));
    }

    private void queue() {
        calls.put("JobQueue.enqueue", store -> {
            Job job = queued();
            owner.queue().remove(job.id());
            store.queue().enqueue(job.id());
        });
        calls.put("JobQueue.claim", store -> store.queue().claim(request(List.of(queuedKind()))));
        calls.put("JobQueue.claim of all kinds", store -> {
            queued();
            store.queue().claim(request(List.of()));
        });
        calls.put("JobQueue.claim of two kinds", store -> store.queue().claim(request(List.of(queuedKind(), "none"))));
        calls.put(
                "JobQueue.claim of one by its id", store -> store.queue().claim(AssignedClaim.of("w", queued().id())));
        calls.put(
                "JobQueue.claim of one that is held",
                store -> store.queue()
                        .claim(AssignedClaim.of("w", claimed().attempt().jobId())));
        calls.put("JobQueue.requeue", store -> store.queue().requeue(queued().id(), Duration.ZERO));
        calls.put(
                "JobQueue.requeue of an attempt",
                store -> store.queue().requeue(claimed().attempt(), Duration.ZERO));
        calls.put("JobQueue.remove", store -> store.queue().remove(queued().id()));
        calls.put("JobQueue.depth", store -> store.queue().depth("managed", "default"));
        calls.put("JobQueue.repair", store -> {
            owner.queue().remove(queued().id());
            store.queue().repair(Duration.ZERO, 10);
        });
    }

    private void work() {
        calls.put("WorkSource.claim", store -> store.work().claim(request(List.of(queuedKind()))));
        calls.put(
                "WorkSource.recover",
                store -> store.work().recover(List.of(claimed().token())));
        calls.put(
                "WorkSource.beat", store -> store.work().beat(List.of(claimed().attempt())));
        calls.put("WorkSource.beat of a lost attempt", store -> {
            Claim claim = claimed();
            owner.queue().requeue(claim.attempt(), Duration.ZERO);
            store.work().beat(List.of(claim.attempt()));
        });
        calls.put(
                "WorkSource.startAll",
                store -> store.work().startAll(List.of(claimed().attempt())));
        calls.put("WorkSource.start", store -> store.work().start(claimed().attempt()));
        calls.put(
                "WorkSource.progress", store -> store.work().progress(claimed().attempt(), 50.0, "half"));
        for (Finish finish : List.of(
                new Finish.Succeed(),
                new Finish.Fail("broken", Finish.Fail.Reason.HANDLER),
                new Finish.Cancel(),
                new Finish.Retry(Duration.ZERO, "broken"),
                new Finish.HandBack(Duration.ZERO, null))) {
            String name = "WorkSource.finish: " + finish.getClass().getSimpleName();
            calls.put(name, store -> store.work().finish(claimed(), finish));
            calls.put(
                    "WorkSource.finishAll: " + finish.getClass().getSimpleName(),
                    store -> store.work().finishAll(List.of(new Completion(claimed(), finish))));
            calls.put(
                    "WorkSource.finishUnlocked: " + finish.getClass().getSimpleName(),
                    store -> store.work().finishUnlocked(List.of(new Completion(claimed(), finish))));
        }
    }

    private void counts() {
        calls.put("JobCounts.exact", store -> store.counts().exact(JobQuery.ALL.withKind(queuedKind())));
        calls.put("JobCounts.byStatus", store -> store.counts().byStatus(10));
        calls.put("JobCounts.byKind", store -> store.counts().byKind(10));
        calls.put("JobCounts.waiting", store -> store.counts().waiting(10));
        calls.put("JobCounts.oldestWaiting", store -> store.counts().oldestWaiting());
        calls.put(
                "JobCounts.waiting in one queue",
                store -> store.counts().waiting(StoreFixture.DEFAULT_SOURCE.get(0), 10));
    }

    private void leases() {
        calls.put("LeaseStore.acquire", store -> store.leases().acquire(newKey(), "me", LENGTH));
        calls.put("LeaseStore.renew", store -> store.leases().renew(held(), LENGTH));
        calls.put("LeaseStore.release", store -> store.leases().release(held()));
        calls.put("LeaseStore.holder", store -> store.leases().holder(held().key()));
        calls.put("JobStore.compareAndSet under a lease", store -> {
            Job job = queued();
            store.jobs().compareAndSet(job, job.withPriority(Priority.LOW), Duration.ZERO, held());
        });
    }

    private void controls() {
        calls.put("Controls.hold", store -> {
            store.controls().hold("me", null);
            owner.controls().release("me");
        });
        calls.put("Controls.release", store -> {
            owner.controls().hold("me", null);
            try {
                store.controls().release("me");
            } finally {
                owner.controls().release("me");
            }
        });
        calls.put("Controls.held", store -> store.controls().held());
        Scope scope = Scope.queue("paused-queue");
        calls.put("Controls.pause", store -> {
            store.controls().pause(scope, "me", null);
            owner.controls().resume(scope, "me");
        });
        calls.put("Controls.resume", store -> {
            owner.controls().pause(scope, "me", null);
            try {
                store.controls().resume(scope, "me");
            } finally {
                owner.controls().resume(scope, "me");
            }
        });
        calls.put("Controls.pauses", store -> store.controls().pauses());
    }

    private void recovery() {
        calls.put("ReconcilableJobs.probe", store -> store.reconcilable().probe());
        calls.put("ReconcilableJobs.suspects", store -> store.reconcilable().suspects("", 10));
        calls.put(
                "ReconcilableJobs.expire",
                store -> store.reconcilable()
                        .expire(Suspect.of(claimed(), Cause.HEARTBEAT), new Finish.Retry(Duration.ZERO, "expired")));
        calls.put("ReconcilableJobs.candidates", store -> store.reconcilable().candidates(null, 10));
        calls.put(
                "ReconcilableJobs.isLocked",
                store -> store.reconcilable().isLocked(Suspect.of(claimed(), Cause.HEARTBEAT)));
        calls.put(
                "ReconcilableJobs.shortestHeartbeatTimeout",
                store -> store.reconcilable().shortestHeartbeatTimeout());
        calls.put("StoreClock.now", store -> store.clock().now());
    }

    private void logsAndResults() {
        List<LogEntry> line = List.of(LogEntry.of(1, LogEntry.Level.INFO, "x").withEventId("e"));
        calls.put("JobLogStore.append", store -> store.logs().append("log-" + UUID.randomUUID(), line));
        calls.put("JobLogStore.append to a log that is there", store -> {
            owner.logs().append("log", line);
            store.logs().append("log", line);
        });
        calls.put("JobLogStore.tail", store -> store.logs().tail("log", 10));
        calls.put("JobLogStore.page", store -> store.logs().page("log", null, 10));
        calls.put("JobLogStore.setRetention", store -> store.logs().setRetention("log", Duration.ofDays(1)));
        calls.put("ResultPackageStore.put", store -> store.results().put("a", JsonText.of("1"), Duration.ofDays(1)));
        calls.put(
                "ResultPackageStore.put of an attempt",
                store -> store.results().put(claimed().attempt(), JsonText.of("1"), Duration.ofDays(1)));
        calls.put("ResultPackageStore.get", store -> store.results().get("a"));
    }

    private void retention() {
        for (Subject subject : Subject.values()) {
            calls.put("Retention.sweep: " + subject, store -> store.retention().sweep(subject, 10));
        }
    }

    /** A method that is new to the interfaces must be among the calls. */
    private void requireAll() {
        Set<String> missing = new TreeSet<>();
        Stream.of(
                        JobStore.class,
                        JobQueue.class,
                        WorkSource.class,
                        ReconcilableJobs.class,
                        LeaseStore.class,
                        Controls.class,
                        StoreClock.class,
                        JobCounts.class,
                        JobLogStore.class,
                        ResultPackageStore.class,
                        Retention.class)
                .forEach(type -> {
                    for (Method method : type.getMethods()) {
                        String name = type.getSimpleName() + "." + method.getName();
                        if (calls.keySet().stream().noneMatch(call -> call.matches("\\Q" + name + "\\E( .*|:.*)?"))) {
                            missing.add(name);
                        }
                    }
                });
        if (!missing.isEmpty()) {
            throw new AssertionError("No call of " + missing);
        }
    }

    private Lease held() {
        return owner.leases().acquire(newKey(), "me", LENGTH).orElseThrow();
    }

    private static String newKey() {
        return "lease-" + UUID.randomUUID();
    }

    private static NewJob newJob() {
        return NewJob.of("job-" + UUID.randomUUID(), "kind-" + UUID.randomUUID(), JsonText.of("{}"));
    }

    private Job queued() {
        return owner.jobs().submit(newJob()).job();
    }

    private Job ended() {
        Job job = queued();
        owner.jobs().cancel(job.id(), null, null);
        return owner.jobs().get(job.id()).orElseThrow();
    }

    private String queuedKind() {
        return queued().spec().kind();
    }

    private Claim claimed() {
        return owner.work().claim(request(List.of(queuedKind()))).get(0);
    }

    private static ClaimRequest request(List<String> kinds) {
        return ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, kinds, 1);
    }
}
