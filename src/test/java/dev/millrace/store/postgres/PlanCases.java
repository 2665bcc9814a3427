package dev.millrace.store.postgres;

import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.NewJob;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Completion;
import dev.millrace.store.Controls.Scope;
import dev.millrace.store.Dimension;
import dev.millrace.store.Finish;
import dev.millrace.store.JobQuery;
import dev.millrace.store.Lease;
import dev.millrace.store.LogEntry;
import dev.millrace.store.Notes;
import dev.millrace.store.ReconcilableJobs.Cause;
import dev.millrace.store.ReconcilableJobs.Suspect;
import dev.millrace.store.Retention.Subject;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What the plans test calls on a {@link LoadedTable}: each operation at least once. What a case writes is a job of 5 kB of
 * its own.
 */
final class PlanCases {
    private static final List<ClaimRequest.Source> SOURCE = StoreFixture.DEFAULT_SOURCE;
    private static final JsonText PARAMETERS = parameters();
    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** A job of the table that has a log of 100 lines. */
    private static final String LOG = "job-000090000";

    /** The limit of lists, and so what a page may sort. */
    static final int PAGE = JobQuery.DEFAULT_LIMIT;

    private final List<PlanCase> cases = new ArrayList<>();

    private PlanCases() {}

    static List<PlanCase> all() {
        PlanCases all = new PlanCases();
        all.jobs();
        all.lists();
        all.counts();
        all.queue();
        all.claims();
        all.attempts();
        all.recovery();
        all.remote();
        all.leases();
        all.controls();
        all.deeds();
        all.logs();
        all.resultsAndRetention();
        return all.cases;
    }

    private PlanCase add(PlanCase added) {
        cases.add(added);
        return added;
    }

    /** A case that needs nothing but the table. */
    private void plain(Operation operation, String name, long mark, Consumer<PostgresStore> call) {
        add(PlanCase.of(operation, name, store -> () -> call.accept(store)).atMost(mark));
    }

    private void with(Operation operation, String name, long mark, Function<PostgresStore, Runnable> preparation) {
        add(PlanCase.of(operation, name, preparation).atMost(mark));
    }

    private void jobs() {
        with(Operation.SUBMIT, "new", 60, store -> {
            NewJob job = newJob();
            return () -> store.jobs().submit(job);
        });
        with(Operation.SUBMIT, "again", 20, store -> {
            NewJob job = newJob();
            store.jobs().submit(job);
            return () -> store.jobs().submit(job);
        });
        plain(
                Operation.CREATE,
                "new",
                60,
                store -> store.jobs()
                        .create(Job.of(StoreFixture.newId(), JobSpec.of("kind-1", PARAMETERS), Instant.now())));
        plain(Operation.GET, "one", 4, store -> store.jobs().get("job-000100000"));
        with(Operation.COMPARE_AND_SET, "another correlation", 100, store -> {
            Job job = store.jobs().submit(newJob()).job();
            return () ->
                    store.jobs().compareAndSet(job, job.withAudit(job.audit().withCorrelationId("c")));
        });
        with(Operation.CANCEL, "queued", 100, store -> {
            Job job = store.jobs().submit(newJob()).job();
            return () -> store.jobs().cancel(job.id(), "me", "no need");
        });
    }

    private void lists() {
        list("first page", 7, JobQuery.ALL);
        // 7 at best, as the first one: 3 levels of the index and 4 pages of the table. But 51 rows, 15 on a page, lie
        // on 5 pages where they begin in the middle of one, and here they do: the table's last page has 10 rows, so
        // this page of the list ends with the first row of a fifth page. The ninth buffer is the second leaf of the
        // index, where the entries pass from one to the next. Neither is up to the statement: to look for the 51st
        // row, which only tells that there is more, in the index alone takes another descent of 3.
        add(PlanCase.of(Operation.QUERY, "second page", store -> {
                    String first = store.jobs().query(JobQuery.ALL).next().orElseThrow();
                    return () -> store.jobs().query(JobQuery.ALL.after(first));
                })
                .sorting(PAGE)
                .atMost(9));
        list("status Failed", 71, JobQuery.ALL.withStatuses(JobStatus.FAILED));
        list("status Succeeded, behind the backlog", 71, JobQuery.ALL.withStatuses(JobStatus.SUCCEEDED));
        list(
                "all that has ended",
                80,
                JobQuery.ALL.withStatuses(JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED));
        list("active", 1_000, JobQuery.ALL.active());
        list("active, 200 of them", 1_000, JobQuery.ALL.active().withLimit(200));
        list("active of one kind", 1_000, JobQuery.ALL.active().withKind("kind-3"));
        list("by kind", 12, JobQuery.ALL.withKind("kind-3"));
        list("Failed of one kind", 405, JobQuery.ALL.withKind("kind-3").withStatuses(JobStatus.FAILED));
        list("by tenant", 80, JobQuery.ALL.withTenant("tenant-7"));
        list("by rare tenant", 20, JobQuery.ALL.withTenant("tenant-rare"));
        list(
                "Succeeded of rare tenant",
                20,
                JobQuery.ALL.withTenant("tenant-rare").withStatuses(JobStatus.SUCCEEDED));
        list("without tenant", 80, JobQuery.ALL.withoutTenant());
        list("by requester", 405, JobQuery.ALL.with(Dimension.REQUESTED_BY, "user-7"));
        list("by correlation", 6, JobQuery.ALL.with(Dimension.CORRELATION, "c-4711"));
        list("by run", 55, JobQuery.ALL.with(Dimension.RUN, "run-7"));
        list("by rare queue", 30, JobQuery.ALL.withQueue("rare"));
        list(
                "by requester and server",
                405,
                JobQuery.ALL.with(Dimension.REQUESTED_BY, "user-7").with(Dimension.SERVER, "srv-107"));
    }

    private void list(String name, long mark, JobQuery query) {
        add(PlanCase.of(Operation.QUERY, name, store -> () -> store.jobs().query(query))
                .sorting(PAGE)
                .atMost(mark));
    }

    private void counts() {
        // Asked about everything, it reads everything.
        add(PlanCase.of(
                        Operation.COUNT,
                        "everything",
                        store -> () -> store.counts().exact(JobQuery.ALL))
                .sorting(10_000)
                .readingAll());
        plain(Operation.COUNT, "active", 3_000, store -> store.counts().exact(JobQuery.ALL.active()));
        plain(
                Operation.COUNT_BY_STATUS,
                "up to 500",
                100,
                store -> store.counts().byStatus(500));
        plain(
                Operation.COUNT_BY_KIND,
                "up to 500, 10 kinds",
                200,
                store -> store.counts().byKind(500));
        plain(
                Operation.COUNT_WAITING,
                "up to 500, all queues",
                100,
                store -> store.counts().waiting(500));
        plain(
                Operation.COUNT_WAITING,
                "up to 500, one queue",
                15,
                store -> store.counts().waiting(SOURCE.get(0), 500));
        plain(
                Operation.OLDEST_WAITING,
                "all queues",
                200,
                store -> store.counts().oldestWaiting());
    }

    private void queue() {
        plain(Operation.DEPTH, "10,000 due", 6_504, store -> store.queue().depth("managed", "default"));
        with(Operation.ENQUEUE, "without a place", 60, store -> {
            Job job = store.jobs().submit(newJob()).job();
            store.queue().remove(job.id());
            return () -> store.queue().enqueue(job.id());
        });
        with(Operation.REQUEUE, "queued", 60, store -> {
            Job job = store.jobs().submit(newJob()).job();
            return () -> store.queue().requeue(job.id(), Duration.ofMinutes(1));
        });
        with(Operation.REMOVE, "queued", 60, store -> {
            Job job = store.jobs().submit(newJob()).job();
            return () -> store.queue().remove(job.id());
        });
        plain(Operation.REPAIR, "11 jobs", 600, store -> store.queue().repair(Duration.ofSeconds(60), 1_000));
    }

    private void claims() {
        claim("one of all kinds", 53, 1, List.of());
        claim("one of one kind", 53, 1, List.of("kind-4"));
        claim("one of ten kinds", 53, 1, kinds());
        claim("50 of one kind", 50 * 53, 50, List.of("kind-4"));
        claim("50 of ten kinds", 50 * 53, 50, kinds());
        claim("none, of kinds that are not there", 200, 10, List.of("none", "nothing"));
        with(Operation.RECOVER, "two tokens", 225, store -> {
            List<UUID> tokens = store.work().claim(ClaimRequest.of("w", SOURCE, List.of(), 2)).stream()
                    .map(Claim::token)
                    .toList();
            return () -> store.work().recover(tokens);
        });
        cases.set(cases.size() - 1, cases.get(cases.size() - 1).sorting(2));
    }

    private void claim(String name, long mark, int limit, List<String> kinds) {
        plain(
                Operation.CLAIM,
                name,
                mark,
                store -> store.work().claim(ClaimRequest.of("worker", SOURCE, kinds, limit)));
    }

    private static List<String> kinds() {
        return IntStream.range(0, 10).mapToObj(n -> "kind-" + n).toList();
    }

    private void attempts() {
        // Of jobs that run already: beside their own claim, in the same transaction, there would be no room on their
        // pages.
        add(PlanCase.of(Operation.BEAT, "50 jobs", store -> {
                    List<Attempt> attempts = store.reconcilable().suspects("", 50).stream()
                            .map(Suspect::attempt)
                            .toList();
                    return () -> store.work().beat(attempts);
                })
                .sorting(50)
                .atMost(1_000));
        with(Operation.START, "one", 60, store -> {
            Claim claim = claimed(store);
            return () -> store.work().start(claim.attempt());
        });
        add(PlanCase.of(Operation.START_ALL, "up to 50 jobs", store -> {
                    List<Attempt> attempts = store.reconcilable().suspects("", 1_000).stream()
                            .map(Suspect::attempt)
                            .filter(attempt -> store.jobs()
                                            .get(attempt.jobId())
                                            .orElseThrow()
                                            .status()
                                    == JobStatus.PROVISIONING)
                            .limit(50)
                            .toList();
                    return () -> store.work().startAll(attempts);
                })
                .sorting(50)
                .atMost(2_500));
        with(Operation.PROGRESS, "first", 60, store -> {
            Claim claim = claimed(store);
            return () -> store.work().progress(claim.attempt(), 50.0, "half");
        });
        with(Operation.PROGRESS, "one", 30, store -> {
            Claim claim = claimed(store);
            store.work().start(claim.attempt());
            return () -> store.work().progress(claim.attempt(), 50.0, "half");
        });
        finish("Succeed", new Finish.Succeed());
        finish("Fail", new Finish.Fail("broken", Finish.Fail.Reason.HANDLER));
        finish("Retry", new Finish.Retry(Duration.ofSeconds(30), "broken"));
    }

    private void finish(String name, Finish finish) {
        with(Operation.FINISH, name, 100, store -> {
            Claim claim = claimed(store);
            store.work().start(claim.attempt());
            return () -> store.work().finish(claim, finish);
        });
    }

    private void recovery() {
        plain(Operation.PROBE, "nothing", 4, store -> store.reconcilable().probe());
        add(PlanCase.of(
                        Operation.SUSPECTS,
                        "50 of 600 claimed",
                        store -> () -> store.reconcilable().suspects("", 100))
                .sorting(100)
                .atMost(225));
        add(PlanCase.of(Operation.CANDIDATES, "20 of backends, of 632", store -> {
                    for (int i = 0; i < 20; i++) {
                        NewJob job = NewJob.of("remote-" + i, "k", JsonText.of("{}"));
                        store.jobs().submit(job.withSpec(job.spec().withBackend("farm")));
                    }
                    return () -> store.reconcilable().candidates(null, 1_000);
                })
                .sorting(1_000)
                .atMost(626));
        with(Operation.EXPIRE, "back to the queue", 100, store -> {
            Suspect suspect = store.reconcilable().suspects("", 1).get(0);
            return () -> store.reconcilable().expire(suspect, new Finish.Retry(Duration.ZERO, "expired"));
        });
        with(Operation.IS_LOCKED, "free", 20, store -> {
            Suspect suspect = Suspect.of(claimed(store), Cause.HEARTBEAT);
            return () -> store.reconcilable().isLocked(suspect);
        });
        plain(
                Operation.SHORTEST_TIMEOUT,
                "of 600 claimed",
                225,
                store -> store.reconcilable().shortestHeartbeatTimeout());
        plain(Operation.CLOCK, "now", 0, store -> store.clock().now());
    }

    private void remote() {
        with(Operation.GET_REMOTE, "one", 4, store -> {
            String id = begun(store, lease(store)).job().id();
            return () -> store.remote().get(id);
        });
        with(Operation.BEGIN_REMOTE, "queued", 100, store -> {
            Lease lease = lease(store);
            String id = remote(store);
            return () -> store.remote().begin(id, 1, "node", UUID.randomUUID(), lease);
        });
        with(Operation.RUNNING_REMOTE, "one", 100, store -> {
            Lease lease = lease(store);
            Claim claim = begun(store, lease);
            return () -> store.remote().running(claim.attempt(), "operation", lease);
        });
        with(Operation.PROGRESS_REMOTE, "one", 40, store -> {
            Lease lease = lease(store);
            Claim claim = begun(store, lease);
            return () -> store.remote().progress(claim.attempt(), 50.0, "half", lease);
        });
        for (Finish finish : List.of(new Finish.Succeed(), new Finish.Retry(Duration.ofSeconds(30), "broken"))) {
            with(Operation.FINISH_REMOTE, finish.getClass().getSimpleName(), 100, store -> {
                Lease lease = lease(store);
                Claim claim = begun(store, lease);
                return () -> store.remote().finish(claim.attempt(), finish, Notes.NONE, lease);
            });
        }
        with(Operation.CLEAR_PROGRESS, "one", 40, store -> {
            Lease lease = lease(store);
            Job job = store.jobs().get(claimed(store).job().id()).orElseThrow();
            store.jobs().compareAndSet(job, job.withStatus(JobStatus.QUEUED));
            return () -> store.remote().clearProgress(job.id(), job.version() + 1, lease);
        });
    }

    private static String remote(PostgresStore store) {
        NewJob job = newJob();
        return store.jobs()
                .submit(job.withSpec(job.spec().withBackend("farm")))
                .job()
                .id();
    }

    private static Claim begun(PostgresStore store, Lease lease) {
        return store.remote()
                .begin(remote(store), 1, "node", UUID.randomUUID(), lease)
                .orElseThrow();
    }

    private void leases() {
        plain(Operation.ACQUIRE, "new", 15, store -> store.leases().acquire(StoreFixture.newId(), "w", MINUTE));
        with(Operation.ACQUIRE, "held", 10, store -> {
            Lease lease = lease(store);
            return () -> store.leases().acquire(lease.key(), "other", MINUTE);
        });
        with(Operation.RENEW, "held", 20, store -> {
            Lease lease = lease(store);
            return () -> store.leases().renew(lease, MINUTE);
        });
        with(Operation.RELEASE_LEASE, "held", 10, store -> {
            Lease lease = lease(store);
            return () -> store.leases().release(lease);
        });
        with(Operation.LEASE_HOLDER, "held", 10, store -> {
            Lease lease = lease(store);
            return () -> store.leases().holder(lease.key());
        });
        with(Operation.COMPARE_AND_SET, "under a lease", 110, store -> {
            Lease lease = lease(store);
            Job job = store.jobs().submit(newJob()).job();
            Job changed = job.withAudit(job.audit().withCorrelationId("c"));
            return () -> store.jobs().compareAndSet(job, changed, Duration.ZERO, lease);
        });
    }

    private static Lease lease(PostgresStore store) {
        return store.leases().acquire(StoreFixture.newId(), "w", MINUTE).orElseThrow();
    }

    private void controls() {
        plain(Operation.HOLD, "new", 10, store -> store.controls().hold("me", null));
        with(Operation.RELEASE_HOLD, "held", 10, store -> {
            store.controls().hold("me", null);
            return () -> store.controls().release("me");
        });
        plain(Operation.HELD, "no", 3, store -> store.controls().held());
        plain(Operation.PAUSE, "new", 10, store -> store.controls().pause(Scope.kind("kind-4"), "me", null));
        with(Operation.RESUME, "paused", 10, store -> {
            store.controls().pause(Scope.kind("kind-4"), "me", null);
            return () -> store.controls().resume(Scope.kind("kind-4"), "me");
        });
        plain(Operation.PAUSES, "none", 3, store -> store.controls().pauses());
        plain(Operation.PROBE_SIGNALS, "one", 0, store -> store.signals().probe("token"));
        with(Operation.CLAIM, "of a paused queue", 5, store -> {
            store.controls().pause(Scope.queue("default"), "me", null);
            return () -> store.work().claim(ClaimRequest.of("worker", SOURCE, List.of("kind-4"), 50));
        });
        with(Operation.CLAIM, "of a paused kind", 5, store -> {
            store.controls().pause(Scope.kind("kind-4"), "me", null);
            return () -> store.work().claim(ClaimRequest.of("worker", SOURCE, List.of("kind-4"), 50));
        });
        with(Operation.CLAIM, "held", 3, store -> {
            store.controls().hold("me", null);
            return () -> store.work().claim(ClaimRequest.of("worker", SOURCE, List.of("kind-4"), 50));
        });
        with(Operation.SUSPECTS, "held", 3, store -> {
            store.controls().hold("me", null);
            return () -> store.reconcilable().suspects("", 100);
        });
        with(Operation.CANDIDATES, "held", 3, store -> {
            store.controls().hold("me", null);
            return () -> store.reconcilable().candidates(null, 1_000);
        });
        with(Operation.REPAIR, "held", 3, store -> {
            store.controls().hold("me", null);
            return () -> store.queue().repair(Duration.ZERO, 1_000);
        });
    }

    private void logs() {
        appending(Operation.APPEND, store -> {
            String log = log(store, 100);
            LogEntry line = line(100).withEventId("event");
            return () -> store.logs().append(log, List.of(line));
        });
        appending(Operation.APPEND_WITHOUT_EVENT_ID, store -> {
            String log = log(store, 100);
            return () -> store.logs().append(log, List.of(line(100)));
        });
        add(PlanCase.of(
                        Operation.READ_LOG,
                        "the last 50 of 100 lines",
                        store -> () -> store.logs().tail(LOG, 50))
                .sorting(50)
                .atMost(20));
        add(PlanCase.of(
                        Operation.READ_LOG,
                        "a page of 50 of 100 lines",
                        store -> () -> store.logs().page(LOG, null, 50))
                .sorting(50)
                .atMost(20));
        with(Operation.KEEP_LOG, "there", 20, store -> {
            String log = log(store, 1);
            return () -> store.logs().setRetention(log, MINUTE);
        });
    }

    /** It sorts the new lines by their event ids, and numbers them in their own order. */
    private void appending(Operation operation, Function<PostgresStore, Runnable> preparation) {
        add(PlanCase.of(operation, "one line to a log of 100", preparation)
                .sorting(1)
                .atMost(60));
    }

    private static String log(PostgresStore store, int lines) {
        String id = StoreFixture.newId();
        store.logs()
                .append(id, IntStream.range(0, lines).mapToObj(PlanCases::line).toList());
        return id;
    }

    private static LogEntry line(int number) {
        return LogEntry.of(
                1, LogEntry.Level.INFO, "Line " + number + " says what a line says, in a hundred characters or so");
    }

    private void resultsAndRetention() {
        plain(
                Operation.PUT_RESULT,
                "of 5 kB",
                30,
                store -> store.results().put(StoreFixture.newId(), PARAMETERS, MINUTE));
        with(Operation.PUT_RESULT_OF_ATTEMPT, "of 5 kB", 40, store -> {
            Claim claim = claimed(store);
            return () -> store.results().put(claim.attempt(), PARAMETERS, MINUTE);
        });
        with(Operation.GET_RESULT, "of 5 kB", 10, store -> {
            String id = StoreFixture.newId();
            store.results().put(id, PARAMETERS, MINUTE);
            return () -> store.results().get(id);
        });
        // To find (84), lock (1,000), look up again (83) and delete (1,000) them takes 2,167. The other 6,000 are
        // PostgreSQL's own: for each record that lies outside of its row it descends the index of the TOAST table (3),
        // reads the chunks (1) and deletes them, two here (2). So a DELETE of rows that are known and locked already
        // would take 7,000; sweepOfRecordsInRows() is about what is left without that. Before PostgreSQL 17 each id of
        // `= ANY (..)` is looked up from the root of the primary key, 3 more for each.
        add(sweep().atMost(8_200).before17AtMost(11_200));
        with(Operation.SWEEP, "10 logs of 100 lines", 3_000, store -> {
            for (int log = 0; log < 10; log++) {
                store.logs().setRetention(log(store, 100), Duration.ZERO);
            }
            return () -> store.retention().sweep(Subject.LOGS, 10);
        });
        with(Operation.SWEEP, "10 results", 200, store -> {
            for (int result = 0; result < 10; result++) {
                store.results().put(StoreFixture.newId(), PARAMETERS, Duration.ZERO);
            }
            return () -> store.retention().sweep(Subject.RESULTS, 10);
        });
    }

    /**
     * Of jobs whose records are small, and so lie in their rows: all that is read is the sweep's. It isn't one of the cases
     * since it takes another table.
     */
    static PlanCase sweepOfRecordsInRows() {
        return sweep().atMost(6_060);
    }

    private static PlanCase sweep() {
        return PlanCase.of(
                Operation.SWEEP,
                "1,000 of 1,050 jobs",
                store -> () -> store.retention().sweep(Subject.JOBS, 1_000));
    }

    /** What operators do, and what is done to many jobs at once. */
    private void deeds() {
        with(Operation.RETRY, "cancelled", 150, store -> {
            Job job = store.jobs().submit(newJob()).job();
            store.jobs().cancel(job.id(), null, null);
            return () -> store.jobs().retry(job.id(), "me", "mended");
        });
        plain(
                Operation.SEED,
                "new",
                80,
                store -> store.jobs()
                        .seed(Job.of(StoreFixture.newId(), JobSpec.of("kind-1", PARAMETERS), Instant.now())));
        with(Operation.CLAIM_ASSIGNED, "queued", 80, store -> {
            Job job = store.jobs().submit(newJob()).job();
            return () -> store.queue().claim(AssignedClaim.of("w", job.id()));
        });
        with(Operation.CLAIM_ASSIGNED, "held", 20, store -> {
            String id = claimed(store).job().id();
            return () -> store.queue().claim(AssignedClaim.of("w", id));
        });
        plain(Operation.SUBMIT_ALL, "50 jobs", 50 * 60, store -> store.jobs().submitAll(newJobs()));
        many(Operation.CANCEL_ALL, "50 jobs", store -> {
            List<String> ids = store.jobs().submitAll(newJobs()).stream()
                    .map(creation -> creation.job().id())
                    .toList();
            return () -> store.jobs().cancelAll(ids, "me", null);
        });
        for (Finish finish : List.of(new Finish.Succeed(), new Finish.Retry(Duration.ofSeconds(30), "broken"))) {
            many(Operation.FINISH_ALL, "50 times " + finish.getClass().getSimpleName(), store -> {
                List<Completion> completions = store.work().claim(ClaimRequest.of("w", SOURCE, List.of(), 50)).stream()
                        .map(claim -> new Completion(claim, finish))
                        .toList();
                return () -> store.work().finishAll(completions);
            });
        }
    }

    /** Locks the rows in the order of their ids, which it has to sort. */
    private void many(Operation operation, String name, Function<PostgresStore, Runnable> preparation) {
        add(PlanCase.of(operation, name, preparation).sorting(50).atMost(50 * 100));
    }

    private static List<NewJob> newJobs() {
        return Stream.generate(PlanCases::newJob).limit(50).toList();
    }

    private static Claim claimed(PostgresStore store) {
        NewJob job = newJob();
        NewJob ofOwnKind = job.withSpec(JobSpec.of(job.id().substring(0, 20), PARAMETERS));
        store.jobs().submit(ofOwnKind);
        return store.work()
                .claim(ClaimRequest.of("w", SOURCE, List.of(ofOwnKind.spec().kind()), 1))
                .get(0);
    }

    private static NewJob newJob() {
        NewJob job = NewJob.of(StoreFixture.newId(), "kind-1", PARAMETERS);
        return job.withAudit(
                job.audit().withTenantId("tenant-1").withRequestedBy("user-1").withCorrelationId("correlation-1"));
    }

    private static JsonText parameters() {
        byte[] noise = new byte[3_500];
        new Random(11).nextBytes(noise);
        return JsonText.of("{\"input\":\"" + Base64.getEncoder().encodeToString(noise) + "\"}");
    }
}
