package dev.millrace.testkit;

import dev.millrace.job.Job;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.Assignment;
import dev.millrace.store.Assignment.Reason;
import dev.millrace.store.Claim;
import dev.millrace.store.JobLogStore;
import dev.millrace.store.LogLine;
import dev.millrace.store.LogPage;
import dev.millrace.testkit.DueJobs.Due;
import dev.millrace.worker.InlineRun;
import dev.millrace.worker.InlineWorker;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Claims jobs and has them run, one after another, on this thread. */
final class JobRuns {
    private final Scope scope;
    private final InlineWorker worker;

    JobRuns(Scope scope, InlineWorker worker) {
        this.scope = scope;
        this.worker = worker;
    }

    JobRun run(String id) {
        Job job = scope.store().jobs().get(id).orElseThrow(() -> notFound(id));
        requireHandler(id, job.kind());
        Assignment assignment = claim(id);
        if (assignment instanceof Assignment.Taken taken) {
            return run(taken.claim());
        }
        throw notRun(id, (Assignment.Refused) assignment);
    }

    private static JobNotRunException notFound(String id) {
        return new JobNotRunException(
                id,
                Reason.NOT_FOUND,
                "There is no job \"" + id
                        + "\". One that was submitted in a transaction that is still open is only seen"
                        + " by a kit in(..) that transaction.");
    }

    private static JobNotRunException notRun(String id, Assignment.Refused refused) {
        String hint = switch (refused.reason()) {
            case NOT_DUE -> " Let time pass first: timePasses(..).";
            case HELD -> " In a test it is usually a worker of the application: don't start it there.";
            case SILENT -> " Let the recovery have it first: recoverNow().";
            default -> "";
        };
        return new JobNotRunException(id, refused.reason(), refused.message() + hint);
    }

    /**
     * The next due job, if there is one.
     *
     * @param refused is told of jobs that could not be claimed although they seemed to be due: others have
     *     them by now, or claims are on hold
     */
    Optional<JobRun> runNext(Selection selection, boolean othersLeftAlone, Set<String> refused) {
        while (true) {
            Optional<Due> due = othersLeftAlone
                    ? DueJobs.next(scope.dsl(), selection, worker.kinds(), refused)
                    : DueJobs.nextOfAnyKind(scope.dsl(), selection, refused);
            if (due.isEmpty()) {
                return Optional.empty();
            }
            String id = due.get().id();
            requireHandler(id, due.get().kind());
            Assignment assignment = claim(id);
            if (assignment instanceof Assignment.Taken taken) {
                return Optional.of(run(taken.claim()));
            }
            Assignment.Refused refusal = (Assignment.Refused) assignment;
            if (refusal.reason() == Reason.UNREADABLE) {
                throw notRun(id, refusal);
            }
            refused.add(id);
        }
    }

    List<JobRun> runAllDue(Selection selection, boolean othersLeftAlone, int limit) {
        List<JobRun> runs = new ArrayList<>();
        Set<String> refused = new HashSet<>();
        while (runs.size() < limit) {
            Optional<JobRun> run = runNext(selection, othersLeftAlone, refused);
            if (run.isEmpty()) {
                return runs;
            }
            runs.add(run.get());
        }
        Optional<Due> more = DueJobs.next(scope.dsl(), selection, worker.kinds(), refused);
        if (more.isPresent()) {
            throw new RunLimitException(limit, stillDue(runs, more.get(), limit));
        }
        return runs;
    }

    private static String stillDue(List<JobRun> runs, Due next, int limit) {
        Map<String, Integer> kinds = new TreeMap<>();
        runs.forEach(run -> kinds.merge(run.job().kind(), 1, Integer::sum));
        return "After " + limit + " runs, job \"" + next.id() + "\" (" + next.kind()
                + ") is still due. Run were, by kind: "
                + kinds
                + ". If jobs submit jobs for ever, have the test run them one by one, by runNext(). If there are"
                + " that many, allow more by withRunLimit(..).";
    }

    private void requireHandler(String id, String kind) {
        if (!worker.kinds().contains(kind)) {
            throw new JobNotRunException(
                    id,
                    null,
                    "There is no handler for job \"" + id + "\" of kind \"" + kind + "\"; there are handlers for "
                            + worker.kinds() + ". Give the kit one by handle(..), or have it leave such jobs alone by"
                            + " leavingOthersAlone().");
        }
    }

    private Assignment claim(String id) {
        return scope.store().queue().claim(AssignedClaim.of(worker.name(), id));
    }

    private JobRun run(Claim claim) {
        String id = claim.job().id();
        long logged = scope.store().logs().tail(id, 1).appended();
        InlineRun run = handle(claim);
        Job after = scope.store().jobs().get(id).orElseThrow(() -> gone(id));
        return new JobRun(
                after,
                claim.job().state().attemptCount(),
                run.handled(),
                run.thrown(),
                log(id, logged),
                scope.store().results().get(id).orElse(null));
    }

    private static IllegalStateException gone(String id) {
        return new IllegalStateException("Job \"" + id + "\" was deleted while it ran: its handler, or something beside"
                + " the test, did that.");
    }

    private InlineRun handle(Claim claim) {
        if (!scope.isCallers()) {
            return worker.run(stores(), claim, handler -> handler.call());
        }
        HandlerSavepoint savepoint = new HandlerSavepoint(scope.dsl());
        RuntimeException error = null;
        InlineRun run = null;
        try {
            run = worker.run(stores(), claim, savepoint);
        } catch (RuntimeException e) {
            error = e;
        }
        IllegalStateException ended = savepoint.ended();
        if (ended != null && error != null) {
            ended.addSuppressed(error); // a consequence
        }
        if (ended != null) {
            throw ended;
        }
        if (run == null) {
            throw Objects.requireNonNull(error);
        }
        return run;
    }

    private InlineWorker.Stores stores() {
        return new InlineWorker.Stores(
                scope.store().work(), scope.store().logs(), scope.store().results());
    }

    private List<LogLine> log(String id, long from) {
        List<LogLine> lines = new ArrayList<>();
        String cursor = null;
        LogPage page;
        do {
            page = scope.store().logs().page(id, cursor, JobLogStore.MAX_PAGE);
            page.lines().stream().filter(line -> line.sequence() >= from).forEach(lines::add);
            cursor = page.next();
        } while (page.more());
        return lines;
    }
}
