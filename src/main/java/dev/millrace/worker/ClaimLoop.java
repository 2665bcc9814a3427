package dev.millrace.worker;

import dev.millrace.job.InvalidJobException;
import dev.millrace.store.Claim;
import dev.millrace.store.ClaimRequest;
import dev.millrace.store.MissingPrivilegeException;
import dev.millrace.store.SchemaNotReadyException;
import dev.millrace.store.StoreException;
import dev.millrace.store.StoreUnavailableException;
import dev.millrace.store.WorkSource;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims jobs for free slots. One thread, so there is one claim call in flight at most.
 *
 * <p>A claim asks for as many jobs as there are free slots, by one request for each {@link ClaimGroup}. While claims bring jobs,
 * the next one is made as soon as a slot is free. When one brings none the loop waits for the poll interval, whatever slots
 * become free meanwhile, or until it is woken. After a failure it waits 0.2, 0.5, 1 and 2 s, then for the poll interval or 5 s, whichever is shorter, but no
 * less than 2 s; and a wake-up does not shorten that. So it also waits for a schema that is not ready for this release.
 *
 * <p>When the answer to a claim is lost, its jobs may have been claimed all the same. {@link LostReplies} asks
 * about them before the loop claims again, and a few times more while it goes on.
 *
 * <p>No claims are made while beats fail ({@link Heartbeats}), nor once the worker closes: what a claim in flight then
 * brings is handed back without being run.
 */
final class ClaimLoop implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ClaimLoop.class);
    private static final int QUICK_REPETITIONS = 4;
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(5);
    static final String CLOSING = "The worker closed before the job was started";

    private final WorkSource source;
    private final WorkerSettings settings;
    private final List<ClaimGroup> groups;
    private final RunningAttempts attempts;
    private final BooleanSupplier silent;
    private final Intake intake;
    private final Health health;
    private final Ticker ticker;
    private final LostReplies lost;

    private final Bell bell = new Bell();
    private final Backoff backoff = new Backoff();
    private volatile boolean stopped;
    private volatile boolean running;
    private volatile boolean woken;
    private long nextTry;
    private @Nullable String refusal; // said once, not at each repetition

    /** @param silent whether beats fail for so long that nothing more may be claimed */
    ClaimLoop(
            WorkSource source,
            WorkerSettings settings,
            List<String> kinds,
            RunningAttempts attempts,
            BooleanSupplier silent,
            Intake intake,
            Health health,
            Ticker ticker,
            Timings timings) {
        this.source = source;
        this.settings = settings;
        this.groups = ClaimGroup.of(settings, attempts, kinds);
        this.attempts = attempts;
        this.silent = silent;
        this.intake = intake;
        this.health = health;
        this.ticker = ticker;
        this.lost = new LostReplies(source, intake, health, ticker, timings);
    }

    /** There may be something to do: a free slot, beats that are answered again. */
    void look() {
        bell.ring();
    }

    /** There may be jobs to claim. */
    void wakeUp() {
        woken = true;
        bell.ring();
    }

    /** No more claims. Returns at once; {@link #ended} tells when a claim in flight has come to its end. */
    void stop() {
        stopped = true;
        bell.ring();
    }

    /** Whether no claim is in flight, and none will be. Of use once it was stopped. */
    boolean ended() {
        return !running;
    }

    @Override
    public void run() {
        running = true;
        try {
            while (!stopped) {
                long pause = step();
                if (pause > 0 && !stopped) {
                    bell.await(pause);
                }
            }
            lost.settle(bell);
        } finally {
            running = false;
            attempts.changed();
        }
    }

    /** Does what there is to do now. Returns how long nothing will be, unless the bell rings. */
    private long step() {
        try {
            if (silent.getAsBoolean()) {
                return settings.pollInterval().toNanos(); // the bell rings when beats are answered
            }
            if (mayAct()) {
                lost.askIfDue(attempts.free(settings));
                claimIfDue();
            }
            return pause();
        } catch (Throwable e) {
            long pause = pauseAfterFailure();
            Failures.survive(() -> report(e));
            return pause;
        }
    }

    /** After a failure nothing is tried until it is time to. */
    private boolean mayAct() {
        return backoff.failures() == 0 || ticker.now() >= nextTry;
    }

    private long pause() {
        long now = ticker.now();
        if (!mayAct()) {
            return nextTry - now;
        }
        long toAsk = Math.max(0, lost.nextAsk() - now);
        return groups.stream()
                .filter(group -> group.limit() > 0)
                .mapToLong(group -> group.nextClaim() - now)
                .reduce(Math.min(toAsk, settings.pollInterval().toNanos()), Math::min);
    }

    private void claimIfDue() {
        if (woken) {
            woken = false;
            groups.forEach(group -> group.nextClaim(0));
        }
        for (ClaimGroup group : groups) {
            int limit = group.limit();
            if (limit > 0 && group.due(ticker.now()) && !stopped) {
                long asked = ticker.now();
                ClaimRequest request = group.request(limit, asked);
                List<Claim> claims = claim(request, asked);
                succeeded();
                long now = ticker.now();
                group.answered(request, claims.isEmpty(), asked, now, now + poll());
                intake.run(claims, claim -> asked);
            }
        }
        Collections.rotate(groups, 1); // so that none has the first choice of slots each time
    }

    private List<Claim> claim(ClaimRequest request, long asked) {
        try {
            return health.listeners().claiming(request.tokens().size(), ticker, () -> source.claim(request));
        } catch (InvalidJobException e) {
            throw e; // refused by us
        } catch (StoreException e) {
            if (e.mayHaveHappened()) { // else nothing was sent, or the database has refused
                lost.add(request, asked);
            }
            throw e;
        } catch (Throwable e) {
            lost.add(request, asked);
            throw e;
        }
    }

    private void succeeded() {
        backoff.reset();
        refusal = null;
        if (health.claimsFail()) {
            health.claimsFail(false);
            LOG.info("Claims are answered again.");
        }
    }

    private long pauseAfterFailure() {
        long pause = backoff.next();
        if (backoff.failures() > QUICK_REPETITIONS) {
            pause = Math.max(pause, Math.min(poll(), LONGEST_PAUSE));
        }
        nextTry = ticker.now() + pause;
        groups.forEach(group -> group.nextClaim(0)); // whatever was due before is due then
        return pause;
    }

    private void report(Throwable failure) {
        health.trouble("Claiming", failure); // first: whoever sees that claims fail looks why
        health.claimsFail(true);
        if (failure instanceof StoreUnavailableException) {
            if (backoff.failures() == 1) { // said once, not at each repetition
                LOG.warn("Claiming failed; it is repeated until it is answered: {}", failure.toString());
            }
            return;
        }
        if (failure instanceof SchemaNotReadyException || failure instanceof MissingPrivilegeException) {
            if (!failure.toString().equals(refusal)) {
                String what = failure instanceof SchemaNotReadyException ? "the schema is ready" : "that is granted";
                LOG.error("No jobs are claimed until {}. {}", what, failure.getMessage());
            }
            refusal = failure.toString();
            return;
        }
        LOG.error("Claiming failed; it is repeated.", failure);
        lost.unexpectedFailure();
    }

    /** A little less than the poll interval, at random. */
    private long poll() {
        long interval = settings.pollInterval().toNanos();
        return interval - ThreadLocalRandom.current().nextLong(interval / 4 + 1);
    }
}
