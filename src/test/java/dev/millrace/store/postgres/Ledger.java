package dev.millrace.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.job.Job;
import dev.millrace.store.Claim;
import dev.millrace.store.Finish;
import dev.millrace.types.JobStatus;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * What {@link Deeds} have told to whom: which jobs were claimed how often, which endings were acknowledged, and which
 * jobs may have been deleted or revived. What may happen is noted before it is done, what has happened after it.
 */
final class Ledger {
    /** A job from its creation to its deletion; the next one of the same id is another. */
    record Life(String id, Instant createdAt) {
        static Life of(Job job) {
            return new Life(job.id(), job.createdAt());
        }
    }

    /** An ended job was to be revived, as it was read or later. It may have been deleted meanwhile, and its id used again. */
    private static final class Revival {
        private final Life read;
        private final long from;
        private final AtomicLong until = new AtomicLong(Long.MAX_VALUE);
        private volatile boolean otherLives = true;

        Revival(Job job) {
            this.read = Life.of(job);
            this.from = job.version();
        }

        /** What was there when all was done: if it is the job that was read, nothing was done to another one. */
        void done(Optional<Job> there) {
            there.filter(job -> Life.of(job).equals(read)).ifPresent(job -> {
                until.set(job.version());
                otherLives = false;
            });
        }

        boolean mayHaveRevived(Life life, long before, long now) {
            return life.equals(read) ? from < now && until.get() > before : otherLives;
        }
    }

    /** How an attempt ended, as far as two endings of one attempt exclude each other. */
    private enum Told {
        SUCCEEDED,
        FAILED,
        /** Queued again, or cancelled: where that was requested, these end alike and recognise each other. */
        RETURNED_OR_CANCELLED,
        EXPIRED
    }

    /** How many of the jobs, the last ones, may be overwritten by others at any time. */
    private static final int SEEDED = 10;

    /** One of so many is for a backend. */
    private static final int REMOTE = 10;

    /** In the order in which callers lock them. */
    final List<String> ids;

    private final AtomicReferenceArray<Claim> latest;
    private final AtomicReferenceArray<Claim> former;
    private final Map<UUID, Set<Told>> told = new ConcurrentHashMap<>();
    private final Map<Life, AtomicInteger> claims = new ConcurrentHashMap<>();
    private final Set<UUID> tokens = ConcurrentHashMap.newKeySet();
    private final Set<Life> mayBeDeleted = ConcurrentHashMap.newKeySet();
    private final Map<String, List<Revival>> revivals = new ConcurrentHashMap<>();
    private final AtomicLong creations = new AtomicLong();

    Ledger(int jobs) {
        this.ids = IntStream.range(0, jobs).mapToObj("job-%04d"::formatted).toList();
        this.latest = new AtomicReferenceArray<>(jobs);
        this.former = new AtomicReferenceArray<>(jobs);
    }

    /** A time of creation that no other job has. */
    Instant creation() {
        return Instant.EPOCH.plusMillis(creations.incrementAndGet());
    }

    void claimed(Claim claim) {
        assertThat(tokens.add(claim.token())).as("a token of its own").isTrue();
        claims.computeIfAbsent(Life.of(claim.job()), life -> new AtomicInteger())
                .incrementAndGet();
        int number = ids.indexOf(claim.job().id());
        former.set(number, latest.getAndSet(number, claim));
    }

    /** The claim of this job that was told last, or now and then the one before; null if there is none. */
    Claim claim(String id, Random random) {
        int number = ids.indexOf(id);
        return random.nextInt(8) == 0 ? former.get(number) : latest.get(number);
    }

    void finished(Claim claim, Finish finish) {
        Told ending = Told.RETURNED_OR_CANCELLED;
        if (finish instanceof Finish.Succeed) {
            ending = Told.SUCCEEDED;
        } else if (finish instanceof Finish.Fail) {
            ending = Told.FAILED;
        }
        ended(claim.token(), ending);
    }

    void expired(UUID token) {
        ended(token, Told.EXPIRED);
    }

    private void ended(UUID token, Told ending) {
        told.computeIfAbsent(token, any -> ConcurrentHashMap.newKeySet()).add(ending);
    }

    void mayBeDeleted(Job job) {
        mayBeDeleted.add(Life.of(job));
    }

    String seededId(Random random) {
        return ids.get(ids.size() - 1 - random.nextInt(SEEDED));
    }

    /** Whether jobs of this id are for a backend. */
    boolean isRemote(String id) {
        int number = ids.indexOf(id);
        return number % REMOTE == 3 && number < ids.size() - SEEDED;
    }

    String remoteId(Random random) {
        return ids.get(random.nextInt((ids.size() - SEEDED) / REMOTE) * REMOTE + 3);
    }

    boolean isDeletable(Life life) {
        return mayBeDeleted.contains(life) || ids.indexOf(life.id()) >= ids.size() - SEEDED;
    }

    /**
     * Does what may revive this job, ended as it was read.
     *
     * @param deed returns the job of this id that is there afterwards
     */
    void reviving(Job job, Supplier<Optional<Job>> deed) {
        Revival revival = new Revival(job);
        revivals.computeIfAbsent(job.id(), id -> new CopyOnWriteArrayList<>()).add(revival);
        revival.done(deed.get());
    }

    /** Whether someone may have revived this job between these two versions. */
    boolean isRevivable(Life life, long before, long now) {
        return revivals.getOrDefault(life.id(), List.of()).stream()
                .anyMatch(revival -> revival.mayHaveRevived(life, before, now));
    }

    /** What must hold at the end of a job that is still there. */
    void check(SnapshotCheck.Seen seen) {
        int count = claims.getOrDefault(seen.life(), new AtomicInteger()).get();
        assertThat(seen.attemptCount()).as("attempts of %s", seen).isEqualTo(count);
        if (EnumSet.of(JobStatus.PROVISIONING, JobStatus.RUNNING).contains(seen.status())) {
            assertThat(tokens).as("claims that someone was told of").contains(seen.token());
            assertThat(told).as("ended attempts").doesNotContainKey(seen.token());
        }
    }

    /** No attempt was told that it had ended in two ways. */
    void checkEndings() {
        assertThat(told.values()).allSatisfy(endings -> assertThat(endings).hasSize(1));
    }

    int claimCount() {
        return tokens.size();
    }

    int endingCount() {
        return told.size();
    }
}
