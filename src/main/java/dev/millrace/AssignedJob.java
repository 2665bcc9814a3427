package dev.millrace;

import dev.millrace.recovery.OutageGrace;
import dev.millrace.store.AssignedClaim;
import dev.millrace.store.AssignedClaim.Takeover;
import dev.millrace.store.Assignment;
import dev.millrace.store.Assignment.Reason;
import dev.millrace.store.Attempt;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.Completion;
import dev.millrace.store.JobQueue;
import dev.millrace.store.Pulse;
import dev.millrace.store.WorkSource;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One job as all the work that there is: a worker that takes its work from here claims that job, once. It is asked for by one
 * request with one token, so after an answer that was lost the same claim is found. From a worker that is silent it is taken once a
 * healthy database has been watched for the job's heartbeat timeout.
 *
 * <p>The attempt is over when its end was written, or when the database says that it has lost the job, whichever of the worker's
 * sources hears of it: {@link #seenBy}.
 */
final class AssignedJob implements AutoCloseable {
    /** Of these refusals one may wait for the end. */
    private static final Set<Reason> PASSING =
            EnumSet.of(Reason.NOT_DUE, Reason.HELD, Reason.SILENT, Reason.LOCKED, Reason.ON_HOLD, Reason.PAUSED);

    private static final Duration LONGEST = Duration.ofDays(36_525);
    private static final int FIRST_ANSWER_SECONDS = 10;

    private static final Set<Reason> CLAIMED = EnumSet.of(Reason.HELD, Reason.SILENT, Reason.LOCKED);

    private final JobQueue queue;
    private final AssignedClaim request;
    private final Supplier<OutageGrace> watch;
    private final CountDownLatch answered = new CountDownLatch(1);
    private final CountDownLatch settled = new CountDownLatch(1);
    private @Nullable OutageGrace grace;
    private volatile boolean taken;
    private volatile Assignment.@Nullable Refused refusal;

    /** @param watch starts to watch the database, for when a worker holds the job */
    AssignedJob(JobQueue queue, AssignedClaim request, Supplier<OutageGrace> watch) {
        this.queue = queue;
        this.request = request;
        this.watch = watch;
    }

    /**
     * Waits for the job to be claimed, at most this long, but not without having asked for it if the database answers; once it
     * is, waits until its attempt is over, however long that takes.
     */
    void await(Duration patience) throws InterruptedException {
        if (!settled.await(nanos(patience), TimeUnit.NANOSECONDS)) {
            answered.await(FIRST_ANSWER_SECONDS, TimeUnit.SECONDS);
            if (taken) {
                settled.await();
            }
        }
    }

    private static long nanos(Duration patience) {
        return patience.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : patience.toNanos();
    }

    boolean taken() {
        return taken;
    }

    Assignment.@Nullable Refused refusal() {
        return taken ? null : refusal;
    }

    /** For the claim loop, which has one call in flight at a time. */
    private List<Claim> claim() {
        if (taken || settled.getCount() == 0) {
            return List.of();
        }
        boolean mayTakeOver = grace != null && grace.over();
        Assignment answer = queue.claim(mayTakeOver ? request.withTakeover(Takeover.OUTAGE_GRACE_IS_OVER) : request);
        if (answer instanceof Assignment.Taken now) {
            taken = true;
            answered.countDown();
            return List.of(now.claim());
        }
        Assignment.Refused refused = (Assignment.Refused) answer;
        refusal = refused;
        answered.countDown();
        if (CLAIMED.contains(refused.reason()) && grace == null) {
            grace = watch.get();
        }
        if (!PASSING.contains(refused.reason())) {
            settled.countDown();
        }
        return List.of();
    }

    /** This source for this job alone, which is told here when the attempt is over. */
    WorkSource seenBy(WorkSource source) {
        return new WorkSource() {
            @Override
            public List<Claim> claim(ClaimRequest any) {
                return AssignedJob.this.claim();
            }

            @Override
            public List<Claim> recover(Collection<UUID> tokens) {
                return AssignedJob.this.claim(); // it finds what an earlier one of the same request has taken
            }

            @Override
            public Map<Attempt, Pulse> beat(Collection<Attempt> attempts) {
                Map<Attempt, Pulse> answers = source.beat(attempts);
                answers.values().forEach(AssignedJob.this::heard);
                return answers;
            }

            @Override
            public Pulse start(Attempt attempt) {
                return heard(source.start(attempt));
            }

            @Override
            public Map<Attempt, Pulse> startAll(Collection<Attempt> attempts) {
                Map<Attempt, Pulse> answers = source.startAll(attempts);
                answers.values().forEach(AssignedJob.this::heard);
                return answers;
            }

            @Override
            public Pulse progress(Attempt attempt, @Nullable Double percent, @Nullable String phase) {
                return heard(source.progress(attempt, percent, phase));
            }

            @Override
            public boolean finish(Completion completion) {
                boolean answer = source.finish(completion);
                settled.countDown();
                return answer;
            }
        };
    }

    private Pulse heard(Pulse pulse) {
        if (pulse == Pulse.LOST) {
            settled.countDown();
        }
        return pulse;
    }

    @Override
    public void close() {
        if (grace != null) {
            grace.close();
        }
    }
}
