package dev.millrace.recovery;

import dev.millrace.backend.Backend;
import dev.millrace.backend.Backend.Capability;
import dev.millrace.job.JobSpec;
import dev.millrace.recovery.BackendTally.Event;
import dev.millrace.store.ReconcilableJobs.Candidate;
import dev.millrace.types.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One pass over all jobs for which something may have to be done: it reads which they are, and gives those on which it
 * would act to the threads of their backends. One sweep at a time: not safe for use by several threads at once.
 */
final class BackendSweep {
    /** For jobs that need no backend, or one that is not here. No backend has this name, as it would be refused. */
    private static final String NO_BACKEND = "";

    private static final Duration LISTING = Duration.ofSeconds(30);

    /** Those first that run already, then the most urgent ones, and those of them that have been due for longest. */
    private static final Comparator<Candidate> ORDER = Comparator.comparing(
                    (Candidate candidate) -> candidate.status() == JobStatus.QUEUED)
            .thenComparing(Candidate::priority)
            .thenComparing(Candidate::dueAt)
            .thenComparing(Candidate::jobId);

    private static final Logger LOG = LoggerFactory.getLogger(BackendSweep.class);

    private final BackendStores stores;
    private final BackendSettings settings;
    private final BackendRegistry registry;
    private final BackendWork work;
    private final KnownOperations known;
    private final JobCare care;
    private final Orphans orphans;
    private final Backlog backlog;
    private final Errands errands;
    private final BackendTally tally;
    private final LongSupplier clock;
    private @Nullable Long listedAt;
    private volatile @Nullable Throwable outage;

    BackendSweep(
            BackendStores stores,
            BackendSettings settings,
            BackendRegistry registry,
            BackendWork work,
            KnownOperations known,
            JobCare care,
            Orphans orphans,
            Backlog backlog,
            Errands errands,
            BackendTally tally,
            LongSupplier clock) {
        this.stores = stores;
        this.settings = settings;
        this.registry = registry;
        this.work = work;
        this.known = known;
        this.care = care;
        this.orphans = orphans;
        this.backlog = backlog;
        this.errands = errands;
        this.tally = tally;
        this.clock = clock;
    }

    /** Gives out what is to be done. Throws nothing. Says whether recovery is on hold. */
    boolean run() {
        overdue(work.interruptOverdue());
        try {
            registry.sayPresent(); // also while on hold, so that nobody takes its backends for missing afterwards
            boolean onHold = stores.controls().held().isPresent();
            if (!onHold) {
                giveAll();
            }
            outageEnds();
            return onHold;
        } catch (Throwable e) {
            tally.error(e);
            registry.couldNotLook();
            outageBegins(e);
            return false;
        }
    }

    void overdue(int calls) {
        for (int call = 0; call < calls; call++) {
            tally.add(Event.OVERDUE);
        }
        if (calls > 0) {
            LOG.warn(
                    "{} calls of backends took longer than {}, and were interrupted; in all {} have not come back."
                            + " Each keeps one of {} threads of its backend busy. Find out what they wait for, or raise"
                            + " callTimeout.",
                    calls,
                    DurationText.of(settings.callTimeout()),
                    work.overdue(),
                    settings.concurrency());
        }
    }

    /** What the store could not be read for; null if it can. */
    @Nullable
    Throwable outage() {
        return outage;
    }

    private void giveAll() {
        Instant now = stores.reconcilable().probe();
        List<Candidate> candidates = candidates();
        registry.lookFor(unknownBackends(candidates));
        Set<String> claimed = new HashSet<>();
        Map<Backend, List<String>> queued = new TreeMap<>(Comparator.comparing(Backend::name));
        candidates.sort(ORDER);
        for (Candidate candidate : candidates) {
            if (candidate.status() != JobStatus.QUEUED) {
                claimed.add(candidate.jobId()); // and has one operation that is no orphan, if that is all it has
            }
            Backend backend = registry.find(candidate.backend());
            if (backend != null && mayBegin(candidate)) {
                tally.add(Event.FOUND);
                queued.computeIfAbsent(backend, its -> new ArrayList<>()).add(candidate.jobId());
            } else if (isForUs(candidate)) {
                tally.add(Event.FOUND);
                errands.forJob(
                        threadsFor(candidate.backend()),
                        candidate.jobId(),
                        task -> care.look(candidate.jobId(), now, task));
            }
        }
        for (String jobId : known.jobs()) {
            if (known.of(jobId).size() > 1 || !claimed.contains(jobId)) {
                errands.forThe(NO_BACKEND, "orphans of " + jobId, task -> orphans.look(jobId));
            }
        }
        queued.forEach(backlog::begin);
        list();
    }

    private List<Candidate> candidates() {
        List<Candidate> all = new ArrayList<>();
        Candidate last = null;
        List<Candidate> page;
        do {
            page = stores.reconcilable().candidates(last, settings.batchSize());
            all.addAll(page);
            last = page.isEmpty() ? null : page.get(page.size() - 1);
        } while (page.size() == settings.batchSize());
        return all;
    }

    private Set<String> unknownBackends(List<Candidate> candidates) {
        Set<String> unknown = new TreeSet<>();
        for (Candidate candidate : candidates) {
            if (isRemote(candidate) && registry.find(candidate.backend()) == null) {
                unknown.add(candidate.backend());
            }
        }
        return unknown;
    }

    private static boolean mayBegin(Candidate candidate) {
        return candidate.status() == JobStatus.QUEUED && candidate.due() && !candidate.cancellationRequested();
    }

    /** Whether something else is to be done, as far as can be seen without reading the job. */
    private boolean isForUs(Candidate candidate) {
        boolean queued = candidate.status() == JobStatus.QUEUED;
        if (queued && candidate.cancellationRequested()) {
            return true;
        }
        if (!isRemote(candidate)) {
            return queued && candidate.showsProgress();
        }
        boolean ours = registry.find(candidate.backend()) != null || registry.isMissing(candidate.backend());
        return ours && (!queued || candidate.due());
    }

    private static boolean isRemote(Candidate candidate) {
        return !candidate.backend().equals(JobSpec.LOCAL_BACKEND);
    }

    private String threadsFor(String backend) {
        return registry.find(backend) == null ? NO_BACKEND : backend;
    }

    /** What backends say that they run, for {@link Orphans} to look at; not at each sweep, since it may be dear. */
    private void list() {
        Long last = listedAt;
        long now = clock.getAsLong();
        if (last != null && now - last < LISTING.toNanos()) {
            return;
        }
        listedAt = now;
        for (Backend backend : registry.all().values()) {
            if (backend.capabilities().contains(Capability.LIST)) {
                errands.forThe(
                        backend.name(),
                        "list of " + backend.name(),
                        task -> known.addListed(backend.name(), task.call(backend::operations)));
            }
        }
    }

    private void outageBegins(Throwable failure) {
        if (outage == null) {
            LOG.warn(
                    "Backends' jobs stay as they are, since a sweep could not be finished. It is tried again.",
                    failure);
        }
        outage = failure;
    }

    private void outageEnds() {
        if (outage != null) {
            outage = null;
            LOG.info("Backends' jobs are looked after again.");
        }
    }
}
