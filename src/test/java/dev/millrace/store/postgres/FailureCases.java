package dev.millrace.store.postgres;

import static dev.millrace.jooq.Tables.EXECUTION_JOBS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.job.NewJob;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Assignment;
import dev.millrace.store.CancelResult;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Completion;
import dev.millrace.store.Controls.Scope;
import dev.millrace.store.Finish;
import dev.millrace.store.JobQuery;
import dev.millrace.store.Lease;
import dev.millrace.store.LogEntry;
import dev.millrace.store.LogPage;
import dev.millrace.store.Notes;
import dev.millrace.store.Pulse;
import dev.millrace.store.ReconcilableJobs.Candidate;
import dev.millrace.store.ReconcilableJobs.Expiry;
import dev.millrace.store.ReconcilableJobs.Suspect;
import dev.millrace.store.RemoteJobs;
import dev.millrace.store.Retention.Batch;
import dev.millrace.store.Retention.Subject;
import dev.millrace.store.RetryResult;
import dev.millrace.types.JobStatus;
import dev.millrace.types.JsonText;
import dev.millrace.types.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Every operation of the store as {@link OutageTest} tries it: one call, what it answers, and what must be true after it
 * however it ended. A new operation needs a line or two here, or that test fails.
 */
final class FailureCases {
    /**
     * One call of an operation, made ready for one use.
     *
     * @param call makes it, and returns its answer
     * @param answer what the answer must be, if there is one
     * @param afterwards checks what was done, given whether it was answered: once if it was, once or not at all otherwise
     */
    record Scene(Function<PostgresStore, Object> call, Predicate<Object> answer, Check afterwards) {
        static Scene of(Function<PostgresStore, Object> call, Object answer, Check afterwards) {
            return new Scene(call, answer::equals, afterwards);
        }

        /** That changes nothing. */
        static Scene read(Function<PostgresStore, Object> call, Object answer) {
            return of(call, answer, answered -> {});
        }
    }

    /** Looks at the database. */
    interface Check {
        void run(boolean answered);
    }

    /**
     * @param name what is called, if the operation alone doesn't say it
     * @param scene makes everything ready; called for each use
     */
    record Case(Operation operation, String name, Function<StoreFixture, Scene> scene) {
        /** Whether it changes what the others find. */
        boolean runsAlone() {
            return RUN_ALONE.contains(operation);
        }

        @Override
        public String toString() {
            return name.isEmpty() ? operation.name() : operation + ": " + name;
        }
    }

    private static final Set<Operation> RUN_ALONE =
            EnumSet.of(Operation.HOLD, Operation.RELEASE_HOLD, Operation.PAUSE, Operation.RESUME);

    private final List<Case> cases = new ArrayList<>();

    private FailureCases() {}

    static List<Case> all() {
        FailureCases all = new FailureCases();
        all.controls();
        all.leases();
        all.jobs();
        all.queue();
        all.attempts();
        all.recovery();
        all.remote();
        all.listsAndCounts();
        all.logs();
        all.resultsAndRetention();
        all.deeds();
        return all.cases;
    }

    private void add(Operation operation, String name, Function<StoreFixture, Scene> scene) {
        cases.add(new Case(operation, name, scene));
    }

    private void add(Operation operation, Function<StoreFixture, Scene> scene) {
        add(operation, "", scene);
    }

    private void controls() {
        add(
                Operation.HOLD,
                db -> Scene.of(store -> store.controls().hold("me", null).by(), "me", answered -> {
                    assertThat(db.controls.held().isPresent()).isIn(true, answered);
                    db.controls.release("me");
                }));
        add(Operation.RELEASE_HOLD, db -> {
            db.controls.hold("me", null);
            return new Scene(store -> store.controls().release("me"), Optional.class::isInstance, answered -> {
                assertThat(db.controls.held().isEmpty()).isIn(true, answered);
                db.controls.release("me");
            });
        });
        add(Operation.HELD, db -> Scene.read(store -> store.controls().held(), Optional.empty()));
        Scope scope = Scope.kind("paused-kind");
        add(
                Operation.PAUSE,
                db -> Scene.of(
                        store -> store.controls().pause(scope, "me", null).by(), "me", answered -> {
                            assertThat(db.controls.pauses().size() == 1).isIn(true, answered);
                            db.controls.resume(scope, "me");
                        }));
        add(Operation.RESUME, db -> {
            db.controls.pause(scope, "me", null);
            return new Scene(store -> store.controls().resume(scope, "me"), Optional.class::isInstance, answered -> {
                assertThat(db.controls.pauses().isEmpty()).isIn(true, answered);
                db.controls.resume(scope, "me");
            });
        });
        add(Operation.PAUSES, db -> Scene.read(store -> store.controls().pauses(), List.of()));
        add(
                Operation.PROBE_SIGNALS,
                db -> Scene.of(
                        store -> {
                            store.signals().probe("token");
                            return true;
                        },
                        true,
                        answered -> {}));
    }

    private void leases() {
        add(Operation.ACQUIRE, db -> {
            String key = kind();
            return Scene.of(
                    store -> store.leases()
                            .acquire(key, "me", Duration.ofHours(1))
                            .isPresent(),
                    true,
                    answered -> assertThat(db.leases.holder(key).isPresent()).isIn(true, answered));
        });
        add(Operation.RENEW, db -> {
            Lease lease = held(db);
            return Scene.of(
                    store -> store.leases().renew(lease, Duration.ofHours(2)).isPresent(), true, answered -> {
                        if (answered) {
                            assertThat(db.leases
                                            .holder(lease.key())
                                            .orElseThrow()
                                            .expiresAt())
                                    .isAfter(lease.expiresAt());
                        }
                    });
        });
        add(Operation.RELEASE_LEASE, db -> {
            Lease lease = held(db);
            return new Scene(
                    store -> store.leases().release(lease),
                    Boolean.class::isInstance,
                    answered ->
                            assertThat(db.leases.holder(lease.key()).isEmpty()).isIn(true, answered));
        });
        add(Operation.LEASE_HOLDER, db -> {
            Lease lease = held(db);
            return Scene.read(store -> store.leases().holder(lease.key()), Optional.of(lease));
        });
        add(Operation.COMPARE_AND_SET, "under a lease", db -> {
            Lease lease = held(db);
            Job job = db.submit(kind());
            Job changed = job.withAudit(job.audit().withCorrelationId("c"));
            return Scene.of(
                    store -> store.jobs().compareAndSet(job, changed, Duration.ZERO, lease),
                    true,
                    answered -> assertThat(db.get(job.id()).version()).isBetween(answered ? 2L : 1L, 2L));
        });
    }

    private void jobs() {
        add(Operation.SUBMIT, db -> {
            NewJob job = StoreFixture.newJob(kind());
            return Scene.of(
                    store -> store.jobs().submit(job).created(), true, oneOrNone(db, job.id(), JobStatus.QUEUED, 1));
        });
        add(Operation.SUBMIT, "of one that is there", db -> {
            NewJob job = StoreFixture.newJob(kind());
            db.submit(job);
            db.makeOlder(job.id());
            return Scene.read(store -> store.jobs().submit(job).created(), false);
        });
        add(Operation.CREATE, db -> {
            Job job = Job.of(StoreFixture.newId(), JobSpec.of(kind(), JsonText.of("{}")), Instant.EPOCH);
            return Scene.of(
                    store -> store.jobs().create(job).created(), true, oneOrNone(db, job.id(), JobStatus.QUEUED, 1));
        });
        add(Operation.GET, db -> {
            Job job = db.submit(kind());
            return Scene.read(store -> store.jobs().get(job.id()), Optional.of(job));
        });
        add(Operation.COMPARE_AND_SET, "of the record", db -> {
            Job job = db.submit(kind());
            Job changed = job.withAudit(job.audit().withCorrelationId("c"));
            return Scene.of(store -> store.jobs().compareAndSet(job, changed), true, answered -> {
                Job there = db.get(job.id());
                assertThat(there.version()).isBetween(answered ? 2L : 1L, 2L);
                assertThat(there.audit().correlationId()).isEqualTo(there.version() == 2 ? "c" : null);
            });
        });
        add(Operation.COMPARE_AND_SET, "of the status", db -> {
            Job job = db.running(kind()).job();
            Job read = db.get(job.id());
            return Scene.of(
                    store -> store.jobs().compareAndSet(read, read.withStatus(JobStatus.QUEUED), Duration.ofHours(1)),
                    true,
                    answered -> assertThat(db.get(job.id()).version()).isBetween(answered ? 4L : 3L, 4L));
        });
        add(Operation.COMPARE_AND_SET, "that comes too late", db -> {
            Job job = db.submit(kind());
            db.jobs.compareAndSet(job, job.withAudit(job.audit().withCorrelationId("other")));
            return Scene.read(
                    store -> store.jobs()
                            .compareAndSet(job, job.withAudit(job.audit().withCorrelationId("c"))),
                    false);
        });
        add(Operation.CANCEL, "of a queued one", db -> {
            String id = db.submit(kind()).id();
            return Scene.of(
                    store -> store.jobs().cancel(id, "me", null),
                    CancelResult.CANCELLED,
                    answered -> assertThat(db.get(id).version()).isBetween(answered ? 2L : 1L, 2L));
        });
        add(Operation.CANCEL, "of a running one", db -> {
            String id = db.running(kind()).job().id();
            return Scene.of(
                    store -> store.jobs().cancel(id, "me", null),
                    CancelResult.REQUESTED,
                    answered -> assertThat(db.get(id).version()).isBetween(answered ? 4L : 3L, 4L));
        });
        add(Operation.CANCEL, "of one that is cancelled", db -> {
            String id = db.submit(kind()).id();
            db.jobs.cancel(id, "me", null);
            return Scene.read(store -> store.jobs().cancel(id, "me", null), CancelResult.ALREADY_ENDED);
        });
        add(Operation.CLOCK, db -> new Scene(store -> store.clock().now(), Instant.class::isInstance, answered -> {}));
    }

    private void queue() {
        add(Operation.ENQUEUE, db -> {
            String id = unplaced(db);
            return Scene.of(store -> store.queue().enqueue(id), true, placed(db, id));
        });
        add(Operation.REQUEUE, db -> {
            String id = unplaced(db);
            return Scene.of(store -> store.queue().requeue(id, Duration.ZERO), true, placed(db, id));
        });
        add(Operation.REMOVE, db -> {
            String id = db.submit(kind()).id();
            db.makeOlder(id);
            return Scene.of(store -> store.queue().remove(id), true, answered -> {
                if (answered) {
                    assertThat(db.column(id, EXECUTION_JOBS.QUEUE_PRIORITY)).isNull();
                }
            });
        });
        add(Operation.REMOVE, "of one without a place", db -> {
            String id = unplaced(db);
            db.makeOlder(id);
            return Scene.read(store -> store.queue().remove(id), false);
        });
        add(Operation.DEPTH, db -> {
            NewJob job = StoreFixture.newJob(kind());
            db.submit(job.withSpec(job.spec().withQueue(job.spec().kind())));
            return Scene.read(store -> store.queue().depth("managed", job.spec().kind()), 1L);
        });
        add(Operation.REPAIR, db -> {
            String id = unplaced(db);
            db.age(id, Duration.ofHours(2));
            return new Scene(
                    store -> store.queue().repair(Duration.ofHours(1), 1_000),
                    Integer.class::isInstance,
                    placed(db, id));
        });
        add(Operation.CLAIM, db -> {
            String kind = kind();
            String id = db.submit(kind).id();
            ClaimRequest request = ClaimRequest.of("w", StoreFixture.DEFAULT_SOURCE, List.of(kind), 1);
            return new Scene(
                    store -> store.work().claim(request), claims -> ((List<?>) claims).size() == 1, answered -> {
                        // An answer that was lost is found by the tokens, and counts as one attempt like any other.
                        List<Claim> found = db.work.recover(request.tokens());
                        assertThat(found).hasSizeBetween(answered ? 1 : 0, 1);
                        assertThat(db.get(id).state().attemptCount()).isEqualTo(found.size());
                    });
        });
        add(Operation.RECOVER, db -> {
            Claim claim = claimed(db);
            return new Scene(
                    store -> store.work().recover(List.of(claim.token())), List.of(claim)::equals, answered -> {});
        });
    }

    private void attempts() {
        add(Operation.BEAT, db -> {
            Claim claim = claimed(db);
            return Scene.read(
                    store -> store.work().beat(List.of(claim.attempt())), Map.of(claim.attempt(), Pulse.HELD));
        });
        add(Operation.START, db -> {
            Claim claim = claimed(db);
            return Scene.of(
                    store -> store.work().start(claim.attempt()),
                    Pulse.HELD,
                    answered -> assertThat(db.get(claim.job().id()).version()).isBetween(answered ? 3L : 2L, 3L));
        });
        add(Operation.START_ALL, db -> {
            Claim claim = claimed(db);
            return Scene.of(
                    store -> store.work().startAll(List.of(claim.attempt())),
                    Map.of(claim.attempt(), Pulse.HELD),
                    answered -> assertThat(db.get(claim.job().id()).version()).isBetween(answered ? 3L : 2L, 3L));
        });
        add(Operation.PROGRESS, db -> {
            Claim claim = claimed(db);
            return Scene.of(store -> store.work().progress(claim.attempt(), 50.0, "half"), Pulse.HELD, answered -> {
                if (answered) {
                    assertThat(db.get(claim.job().id()).state().percentComplete())
                            .isEqualTo(50);
                }
            });
        });
        finish(new Finish.Succeed(), JobStatus.SUCCEEDED);
        finish(new Finish.Fail("no", Finish.Fail.Reason.HANDLER), JobStatus.FAILED);
        finish(new Finish.Fail("no", Finish.Fail.Reason.TIMEOUT), JobStatus.FAILED);
        finish(new Finish.Cancel(), JobStatus.CANCELLED);
        finish(new Finish.Retry(Duration.ofHours(1), "no"), JobStatus.QUEUED);
        finish(new Finish.HandBack(Duration.ofHours(1), null), JobStatus.QUEUED);
        add(Operation.FINISH, "by the attempt alone", db -> {
            Claim claim = db.running(kind());
            return Scene.of(
                    store -> store.queue().requeue(claim.attempt(), Duration.ofHours(1)),
                    true,
                    endedOnce(db, claim, JobStatus.QUEUED, new Finish.HandBack(Duration.ZERO, null)));
        });
        add(Operation.FINISH, "of a job whose record can't be read", db -> {
            Claim claim = db.running(kind());
            db.breakRecord(claim.job().id(), JsonText.of("[]"));
            return Scene.of(
                    store -> store.work().finish(claim, new Finish.Fail("no", Finish.Fail.Reason.HANDLER)),
                    true,
                    answered -> {});
        });
        add(Operation.FINISH, "of an attempt that is lost", db -> {
            Claim claim = db.running(kind());
            db.queue.requeue(claim.attempt(), Duration.ofHours(1));
            return Scene.read(store -> store.work().finish(claim, new Finish.Succeed()), false);
        });
    }

    private void finish(Finish finish, JobStatus status) {
        add(Operation.FINISH, finish.toString(), db -> {
            Claim claim = db.running(kind());
            return Scene.of(store -> store.work().finish(claim, finish), true, endedOnce(db, claim, status, finish));
        });
    }

    private static Check endedOnce(StoreFixture db, Claim claim, JobStatus status, Finish finish) {
        String id = claim.job().id();
        return answered -> {
            Job job = db.get(id);
            boolean ended = job.status() == status;
            assertThat(ended).isIn(true, answered);
            assertThat(job.version()).isEqualTo(ended ? 4 : 3);
            boolean says = ended && !(finish instanceof Finish.Succeed);
            assertThat(job.outcome().history()).hasSize(says ? 1 : 0);
            boolean forgiven = ended && finish instanceof Finish.HandBack;
            assertThat(db.column(id, EXECUTION_JOBS.FORGIVEN_ATTEMPTS)).isEqualTo(forgiven ? 1 : 0);
        };
    }

    private void recovery() {
        add(
                Operation.PROBE,
                db -> new Scene(store -> store.reconcilable().probe(), Instant.class::isInstance, answered -> {}));
        add(Operation.SUSPECTS, db -> {
            Suspect suspect = overdue(db);
            String before = suspect.attempt()
                    .jobId()
                    .substring(0, suspect.attempt().jobId().length() - 1);
            return Scene.read(store -> store.reconcilable().suspects(before, 1), List.of(suspect));
        });
        add(Operation.CANDIDATES, db -> {
            NewJob job = StoreFixture.newJob(kind());
            String id = db.submit(job.withSpec(job.spec().withBackend("farm"))).id();
            Instant created = db.get(id).createdAt();
            Candidate before = new Candidate(
                    id.substring(0, id.length() - 1),
                    JobStatus.QUEUED,
                    1,
                    "farm",
                    false,
                    true,
                    false,
                    Priority.NORMAL,
                    created);
            return Scene.read(
                    store -> store.reconcilable().candidates(before, 1),
                    List.of(new Candidate(
                            id, JobStatus.QUEUED, 1, "farm", false, true, false, Priority.NORMAL, created)));
        });
        add(Operation.EXPIRE, "of one that may try again", db -> {
            Suspect suspect = overdue(db);
            return Scene.of(
                    store -> store.reconcilable().expire(suspect, new Finish.Retry(Duration.ofHours(1), "silent")),
                    Expiry.ENDED,
                    expiredOnce(db, suspect, JobStatus.QUEUED));
        });
        add(Operation.EXPIRE, "of one that fails", db -> {
            Suspect suspect = overdue(db);
            return Scene.of(
                    store -> store.reconcilable().expire(suspect, new Finish.Fail("no", Finish.Fail.Reason.EXPIRED)),
                    Expiry.ENDED,
                    expiredOnce(db, suspect, JobStatus.FAILED));
        });
        add(Operation.EXPIRE, "of one whose record can't be read", db -> {
            Suspect suspect = overdue(db);
            String id = suspect.attempt().jobId();
            db.breakRecord(id, JsonText.of("[]"));
            Suspect unreadable = new Suspect(suspect.attempt(), suspect.cause(), null);
            return Scene.of(
                    store -> store.reconcilable().expire(unreadable, new Finish.Fail("no", Finish.Fail.Reason.EXPIRED)),
                    Expiry.ENDED,
                    answered -> {});
        });
        add(Operation.EXPIRE, "of one that has ended", db -> {
            Suspect suspect = overdue(db);
            db.reconcilable.expire(suspect, new Finish.Fail("no", Finish.Fail.Reason.EXPIRED));
            return Scene.read(
                    store -> store.reconcilable().expire(suspect, new Finish.Fail("no", Finish.Fail.Reason.EXPIRED)),
                    Expiry.SPARED);
        });
        add(Operation.IS_LOCKED, db -> {
            Suspect suspect = overdue(db);
            return Scene.read(store -> store.reconcilable().isLocked(suspect), false);
        });
        add(Operation.SHORTEST_TIMEOUT, db -> {
            claimed(db);
            return new Scene(
                    store -> store.reconcilable().shortestHeartbeatTimeout(),
                    Optional.class::isInstance,
                    answered -> {});
        });
    }

    private void remote() {
        add(Operation.GET_REMOTE, db -> {
            Claim claim = begun(db, held(db));
            return Scene.read(store -> store.remote().get(claim.job().id()), Optional.of(claim));
        });
        add(Operation.BEGIN_REMOTE, db -> {
            Lease lease = held(db);
            Job job = remote(db);
            UUID token = UUID.randomUUID();
            return new Scene(
                    store -> store.remote().begin(job.id(), 1, "node", token, lease),
                    begun -> ((Optional<?>) begun).isPresent(),
                    answered -> {
                        Claim now = db.store.remote().get(job.id()).orElseThrow();
                        assertThat(now.job().state().attemptCount()).isBetween(answered ? 1 : 0, 1);
                        assertThat(now.token()).isIn(token, answered ? token : null);
                    });
        });
        add(Operation.RUNNING_REMOTE, db -> {
            Lease lease = held(db);
            Claim claim = begun(db, lease);
            return Scene.of(
                    store -> store.remote().running(claim.attempt(), "op", lease),
                    RemoteJobs.Answer.DONE,
                    answered -> assertThat(db.get(claim.job().id()).version()).isBetween(answered ? 3L : 2L, 3L));
        });
        add(Operation.PROGRESS_REMOTE, db -> {
            Lease lease = held(db);
            Claim claim = begun(db, lease);
            return Scene.of(
                    store -> store.remote().progress(claim.attempt(), 50.0, "half", lease),
                    RemoteJobs.Answer.DONE,
                    answered -> assertThat(db.get(claim.job().id()).state().percentComplete())
                            .isIn(50.0, answered ? 50.0 : null));
        });
        for (Finish finish : List.of(
                new Finish.Succeed(),
                new Finish.Fail("no", Finish.Fail.Reason.HANDLER),
                new Finish.Retry(Duration.ofHours(1), "no"))) {
            add(Operation.FINISH_REMOTE, finish.toString(), db -> {
                Lease lease = held(db);
                Claim claim = begun(db, lease);
                return Scene.of(
                        store -> store.remote()
                                .finish(claim.attempt(), finish, new Notes(List.of(), List.of("a")), lease),
                        RemoteJobs.Answer.DONE,
                        answered -> {
                            Job job = db.get(claim.job().id());
                            assertThat(job.version()).isBetween(answered ? 3L : 2L, 3L);
                            boolean says = job.version() == 3 && !(finish instanceof Finish.Succeed);
                            assertThat(job.outcome().history()).hasSize(says ? 1 : 0);
                        });
            });
        }
        add(Operation.CLEAR_PROGRESS, db -> {
            Lease lease = held(db);
            Job job = putBack(db);
            return new Scene(
                    store -> store.remote().clearProgress(job.id(), job.version(), lease),
                    Boolean.class::isInstance,
                    answered -> assertThat(db.get(job.id()).state().currentPhase())
                            .isIn(null, answered ? null : job.state().currentPhase()));
        });
    }

    private void listsAndCounts() {
        add(Operation.QUERY, db -> {
            Job job = db.submit(kind());
            return Scene.read(store -> store.jobs().listActive(job.kind(), 10).jobs(), List.of(job));
        });
        // What other scenes make meanwhile is counted as well.
        add(Operation.COUNT, db -> answers(store -> store.counts().exact(JobQuery.ALL.withKind(kind()))));
        add(Operation.COUNT_BY_STATUS, db -> answers(store -> store.counts().byStatus(10)));
        add(Operation.COUNT_BY_KIND, db -> answers(store -> store.counts().byKind(10)));
        add(Operation.COUNT_WAITING, db -> answers(store -> store.counts().waiting(10)));
        add(Operation.OLDEST_WAITING, db -> answers(store -> store.counts().oldestWaiting()));
    }

    /** What operators do, and what is done to many jobs at once. */
    private void deeds() {
        add(Operation.RETRY, db -> {
            String id = db.submit(kind()).id();
            db.jobs.cancel(id, null, null);
            return Scene.of(
                    store -> store.jobs().retry(id, "me", null),
                    RetryResult.QUEUED,
                    answered -> assertThat(db.get(id).version()).isBetween(answered ? 3L : 2L, 3L));
        });
        add(Operation.SEED, db -> {
            Job job = Job.of(StoreFixture.newId(), JobSpec.of(kind(), JsonText.of("{}")), Instant.EPOCH);
            // One that was held back in the network comes over the repetition, with the same content.
            return Scene.of(store -> store.jobs().seed(job), true, answered -> {
                Optional<Job> found = db.jobs.get(job.id());
                assertThat(found.isPresent() || !answered).isTrue();
                found.ifPresent(there -> assertThat(there.spec()).isEqualTo(job.spec()));
                found.ifPresent(there -> assertThat(there.status()).isEqualTo(JobStatus.QUEUED));
            });
        });
        add(Operation.CLAIM_ASSIGNED, db -> {
            String id = db.submit(kind()).id();
            AssignedClaim request = AssignedClaim.of("w", id);
            return new Scene(store -> store.queue().claim(request), Assignment.Taken.class::isInstance, answered -> {
                List<Claim> found = db.work.recover(List.of(AssignedClaims.token(request, 1)));
                assertThat(found).hasSizeBetween(answered ? 1 : 0, 1);
                assertThat(db.get(id).state().attemptCount()).isEqualTo(found.size());
            });
        });
        add(Operation.SUBMIT_ALL, db -> {
            NewJob job = StoreFixture.newJob(kind());
            return Scene.of(
                    store -> store.jobs().submitAll(List.of(job)).get(0).created(),
                    true,
                    oneOrNone(db, job.id(), JobStatus.QUEUED, 1));
        });
        add(Operation.CANCEL_ALL, db -> {
            String id = db.submit(kind()).id();
            return Scene.of(
                    store -> store.jobs().cancelAll(List.of(id), "me", null),
                    Map.of(id, CancelResult.CANCELLED),
                    answered -> assertThat(db.get(id).version()).isBetween(answered ? 2L : 1L, 2L));
        });
        for (Finish finish : List.of(new Finish.Succeed(), new Finish.Retry(Duration.ofHours(1), "no"))) {
            add(Operation.FINISH_ALL, finish.toString(), db -> {
                Claim claim = db.running(kind());
                JobStatus status = finish instanceof Finish.Succeed ? JobStatus.SUCCEEDED : JobStatus.QUEUED;
                return Scene.of(
                        store -> store.work().finishAll(List.of(new Completion(claim, finish))),
                        Set.of(claim.attempt()),
                        endedOnce(db, claim, status, finish));
            });
        }
    }

    /** That answers, whatever it is. */
    private static Scene answers(Function<PostgresStore, Object> call) {
        return new Scene(call, Objects::nonNull, answered -> {});
    }

    private static Check expiredOnce(StoreFixture db, Suspect suspect, JobStatus status) {
        return answered -> {
            Job job = db.get(suspect.attempt().jobId());
            boolean ended = job.status() == status;
            assertThat(ended).isIn(true, answered);
            assertThat(job.outcome().history()).hasSize(ended ? 1 : 0);
            assertThat(job.version()).isEqualTo(ended ? 4 : 3);
        };
    }

    private void logs() {
        LogEntry line = LogEntry.of(1, LogEntry.Level.INFO, "x");
        add(Operation.APPEND, db -> {
            String id = StoreFixture.newId();
            List<LogEntry> event = List.of(line.withEventId("e"));
            return new Scene(
                    store -> store.logs().append(id, event), Integer.class::isInstance, linesOneOrNone(db, id));
        });
        add(Operation.APPEND_WITHOUT_EVENT_ID, db -> {
            String id = StoreFixture.newId();
            return Scene.of(store -> store.logs().append(id, List.of(line)), 1, linesOneOrNone(db, id));
        });
        add(Operation.READ_LOG, db -> {
            String id = logged(db);
            LogPage page = db.store.logs().tail(id, 10);
            return Scene.read(store -> store.logs().tail(id, 10), page);
        });
        add(Operation.KEEP_LOG, db -> {
            String id = logged(db);
            return Scene.read(store -> store.logs().setRetention(id, Duration.ofDays(1)), true);
        });
    }

    private static Check linesOneOrNone(StoreFixture db, String id) {
        return answered -> assertThat(db.store.logs().tail(id, 10).appended()).isBetween(answered ? 1L : 0L, 1L);
    }

    private static String logged(StoreFixture db) {
        String id = StoreFixture.newId();
        db.store.logs().append(id, List.of(LogEntry.of(1, LogEntry.Level.INFO, "x")));
        return id;
    }

    private void resultsAndRetention() {
        add(Operation.PUT_RESULT, db -> {
            String id = StoreFixture.newId();
            Function<PostgresStore, Object> put = store -> {
                store.results().put(id, JsonText.of("1"), Duration.ofDays(1));
                return true;
            };
            return Scene.of(
                    put,
                    true,
                    answered ->
                            assertThat(db.store.results().get(id).isPresent()).isIn(true, answered));
        });
        add(Operation.PUT_RESULT_OF_ATTEMPT, db -> {
            Claim claim = claimed(db);
            JsonText result = JsonText.of("1");
            return Scene.of(
                    store -> store.results().put(claim.attempt(), result, Duration.ofDays(1)),
                    true,
                    answered -> assertThat(
                                    db.store.results().get(claim.job().id()).isPresent())
                            .isIn(true, answered));
        });
        add(Operation.GET_RESULT, db -> {
            String id = StoreFixture.newId();
            db.store.results().put(id, JsonText.of("1"), Duration.ofDays(1));
            return Scene.read(store -> store.results().get(id), Optional.of(JsonText.of("1")));
        });
        add(Operation.SWEEP, db -> {
            String id = logged(db);
            db.store.logs().setRetention(id, Duration.ZERO);
            return new Scene(
                    store -> store.retention().sweep(Subject.LOGS, 1_000),
                    Batch.class::isInstance,
                    answered -> assertThat(db.store.logs().tail(id, 1).lines().isEmpty())
                            .isIn(true, answered));
        });
    }

    // What scenes are made of.

    /** A kind that no other scene has. */
    static String kind() {
        return "k-" + UUID.randomUUID();
    }

    private static Lease held(StoreFixture db) {
        return db.leases.acquire(kind(), "me", Duration.ofHours(1)).orElseThrow();
    }

    private static Claim claimed(StoreFixture db) {
        String kind = kind();
        db.submit(kind);
        return db.claimOne(kind);
    }

    private static Job remote(StoreFixture db) {
        NewJob job = StoreFixture.newJob(kind());
        return db.submit(job.withSpec(job.spec().withBackend("farm")));
    }

    private static Claim begun(StoreFixture db, Lease lease) {
        return db.store
                .remote()
                .begin(remote(db).id(), 1, "node", UUID.randomUUID(), lease)
                .orElseThrow();
    }

    /** A job that shows the phase of an attempt that is over. */
    private static Job putBack(StoreFixture db) {
        Job job = db.get(db.running(kind()).job().id());
        db.jobs.compareAndSet(job, job.withStatus(JobStatus.QUEUED), Duration.ofHours(1));
        return db.get(job.id());
    }

    private static String unplaced(StoreFixture db) {
        String id = db.submit(kind()).id();
        db.queue.remove(id);
        return id;
    }

    private static Suspect overdue(StoreFixture db) {
        Claim claim = db.running(kind());
        String id = claim.job().id();
        db.age(id, Duration.ofMinutes(10));
        Claim read = claim.withJob(db.get(id));
        return Suspect.of(read, dev.millrace.store.ReconcilableJobs.Cause.HEARTBEAT);
    }

    private static Check placed(StoreFixture db, String id) {
        return answered -> {
            if (answered) {
                assertThat(db.column(id, EXECUTION_JOBS.QUEUE_PRIORITY)).isNotNull();
            }
        };
    }

    private static Check oneOrNone(StoreFixture db, String id, JobStatus status, long version) {
        return answered -> {
            Optional<Job> job = db.jobs.get(id);
            assertThat(job.isPresent()).isIn(true, answered);
            job.ifPresent(there -> {
                assertThat(there.status()).isEqualTo(status);
                assertThat(there.version()).isEqualTo(version);
            });
        };
    }
}
