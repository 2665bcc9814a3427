package dev.millrace.worker;

import dev.millrace.store.Attempt;
import dev.millrace.store.Finish;
import dev.millrace.store.Pulse;
import dev.millrace.store.WorkSource;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows that this worker's jobs live. One thread, which does nothing else and shares none with handlers: when the first
 * attempt is due it beats for all that are due, or nearly, in one call, and then sleeps until the next one is. Nearly
 * means within a tenth of the job's interval, so that attempts which began at different times come to be beaten for
 * together.
 *
 * <ul>
 *   <li>Lost: the handler is flagged and interrupted, and nothing more is written for the attempt. But where the handler
 *       has completed its job in a transaction of its own, the database is asked first whether that is what it shows: to
 *       end an attempt which is no longer the job's changes nothing, and recognises its own ending.
 *   <li>Cancellation requested: the handler is flagged and interrupted, once.
 *   <li>Busy, someone else's transaction holds the row: nothing is known, so the beat is repeated soon.
 *   <li>The call failed: it is repeated after 2 s, or the interval if that is shorter. A failure that is not about the
 *       connection may be one job's fault, so each is then beaten for by itself.
 * </ul>
 *
 * <p>Silence is no loss. When beats have failed for longer than the heartbeat timeout of a job that runs here, that job
 * may be given to someone else; so the worker takes no more. But its handlers go on: only a database that answers can
 * say that a job is lost, and after an outage the sweep waits, so most are not. When beats are answered again the worker
 * claims again.
 *
 * <p>Handlers of jobs that were just claimed begin without a word to the database ({@link LateStart}); of those that still run
 * after a second this loop tells it, all at once, and waits for no row either.
 *
 * <p>An attempt is beaten for from its claim on, also while it waits for a thread, until its outcome is written.
 */
final class Heartbeats implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Heartbeats.class);
    private static final long NOTHING_TO_DO = TimeUnit.SECONDS.toNanos(30);
    private static final long SCANNING = Long.MAX_VALUE;

    /** How much earlier than due a start may be told. */
    private static final long ABOUT = TimeUnit.MILLISECONDS.toNanos(100);

    private final RunningAttempts attempts;
    private final WorkSource source;
    private final Health health;
    private final Ticker ticker;
    private final long retryDelay;
    private final Runnable onRecovery;
    private final Consumer<RunningAttempt> onCancellation;
    private final Bell bell = new Bell();
    private volatile boolean stopped;
    private volatile long wakesAt = SCANNING;
    private boolean outage; // said once, not at each repetition

    /**
     * @param source beats are sent to it, and which handlers run
     * @param onRecovery called when beats are answered again after they had failed for too long
     * @param onCancellation called when someone wants an attempt's job cancelled, once for each
     */
    Heartbeats(
            RunningAttempts attempts,
            WorkSource source,
            Health health,
            Ticker ticker,
            WorkerSettings settings,
            Runnable onRecovery,
            Consumer<RunningAttempt> onCancellation) {
        this.attempts = attempts;
        this.source = source;
        this.health = health;
        this.ticker = ticker;
        this.retryDelay = settings.beatRetryDelay().toNanos();
        this.onRecovery = onRecovery;
        this.onCancellation = onCancellation;
    }

    /** An attempt was registered, or is to be started: wakes the loop if it would sleep past what is due for it. */
    void watch(RunningAttempt attempt) {
        if (Math.min(attempt.beats().next(), attempt.startDueAt()) < wakesAt) {
            bell.ring();
        }
    }

    void stop() {
        stopped = true;
        bell.ring();
    }

    @Override
    public void run() {
        while (!stopped) {
            try {
                // Before looking, not after: whoever registers from here on rings, and no one is overlooked.
                wakesAt = SCANNING;
                beatForDue();
                startDue();
                wakesAt = nextBeat(silent());
            } catch (Throwable e) {
                wakesAt = ticker.now() + retryDelay;
                Failures.survive(() -> {
                    health.trouble("Beating", e);
                    LOG.error("The heartbeat loop failed; it goes on.", e);
                });
            }
            bell.await(wakesAt - ticker.now());
        }
    }

    private void beatForDue() {
        long now = ticker.now();
        if (attempts.all().stream().anyMatch(attempt -> attempt.beats().next() <= now && !attempt.closed())) {
            beat(due(now));
        }
    }

    /**
     * One attempt of each job, the most overdue first. An attempt whose outcome is on its way may meet a newer one of the
     * same job; that one stays due and so has its turn at once.
     */
    private Collection<RunningAttempt> due(long now) {
        Map<String, RunningAttempt> due = new LinkedHashMap<>();
        attempts.all().stream()
                .filter(attempt -> attempt.beats().nearlyDue(now) && !attempt.closed())
                .forEach(attempt -> due.merge(
                        attempt.job().id(),
                        attempt,
                        (a, b) -> a.beats().next() <= b.beats().next() ? a : b));
        return due.values();
    }

    /** Has the database told that these run, whose handlers began without its knowing: all at once that began about the same time. */
    private void startDue() {
        long now = ticker.now();
        if (attempts.all().stream().noneMatch(attempt -> attempt.startDueAt() <= now && attempt.open())) {
            return;
        }
        List<RunningAttempt> due = attempts.all().stream()
                .filter(attempt -> attempt.startDueAt() - ABOUT <= now && attempt.open())
                .toList();
        // One that completes its job holds the row, or has ended it.
        due.stream().filter(RunningAttempt::isCompleting).forEach(RunningAttempt::startIsKnown);
        start(due.stream().filter(attempt -> !attempt.isCompleting()).toList());
    }

    /** False if nobody would be answered now. */
    private boolean start(List<RunningAttempt> asked) {
        if (asked.isEmpty()) {
            return true;
        }
        long now = ticker.now();
        try {
            Map<Attempt, Pulse> answers =
                    source.startAll(asked.stream().map(RunningAttempt::attempt).toList());
            for (RunningAttempt attempt : asked) {
                Pulse pulse = answers.getOrDefault(attempt.attempt(), Pulse.BUSY);
                hear(attempt, pulse, now);
                if (pulse == Pulse.BUSY) {
                    startAgainSoon(attempt);
                } else {
                    attempt.startIsKnown();
                }
            }
            return true;
        } catch (Throwable e) {
            boolean concernsAll = Failures.concernsAll(e);
            if (concernsAll || asked.size() == 1) {
                asked.forEach(this::startAgainSoon);
                Failures.survive(() -> reportStart(asked, e));
                return !concernsAll;
            }
            return startEach(asked);
        }
    }

    /** It may be one job's fault. No use to ask for the others once nobody is answered: beats wait meanwhile. */
    private boolean startEach(List<RunningAttempt> asked) {
        boolean answered = true;
        for (RunningAttempt attempt : asked) {
            if (answered) {
                answered = start(List.of(attempt));
            } else {
                startAgainSoon(attempt);
            }
        }
        return answered;
    }

    private void reportStart(List<RunningAttempt> asked, Throwable failure) {
        health.trouble("Starting " + asked, failure);
        if (!Failures.concernsAll(failure)) {
            LOG.warn("It is not known whether {} is started; that is asked again.", asked, failure);
        }
    }

    private void startAgainSoon(RunningAttempt attempt) {
        attempt.startIsDue(ticker.now() + retryDelay);
    }

    private void beat(Collection<RunningAttempt> asked) {
        try {
            ask(asked);
        } catch (Throwable e) {
            if (Failures.concernsAll(e)) {
                failed(asked, e);
                return;
            }
            LOG.warn("Beating for {} failed; each is beaten for by itself.", asked, e);
            beatForEach(new ArrayDeque<>(asked));
        }
    }

    private void beatForEach(Deque<RunningAttempt> left) {
        while (!left.isEmpty()) {
            try {
                ask(List.of(left.getFirst()));
            } catch (Throwable e) {
                if (Failures.concernsAll(e)) {
                    failed(left, e); // no use to ask for the others
                    return;
                }
                failed(List.of(left.getFirst()), e);
            }
            left.removeFirst();
        }
    }

    private void ask(Collection<RunningAttempt> asked) {
        long now = ticker.now();
        Map<Attempt, Pulse> answers =
                source.beat(asked.stream().map(RunningAttempt::attempt).toList());
        if (outage) {
            outage = false;
            health.listeners().heartbeatsAnswered();
            LOG.info("Beats are answered again.");
        }
        for (RunningAttempt attempt : asked) {
            hear(attempt, answers.getOrDefault(attempt.attempt(), Pulse.BUSY), now);
        }
    }

    private void hear(RunningAttempt attempt, Pulse pulse, long asked) {
        try (LogContext ignored = LogContext.enter(attempt)) {
            heard(attempt, pulse, asked);
        }
    }

    private void heard(RunningAttempt attempt, Pulse pulse, long asked) {
        switch (pulse) {
            case HELD -> attempt.beats().confirmed(asked);
            case CANCELLATION_REQUESTED -> {
                boolean news = attempt.stop(StopReason.CANCELLED);
                attempt.beats().answered(asked);
                if (news) {
                    LOG.info("Someone asked for {} to be cancelled: its handler is interrupted.", attempt);
                    onCancellation.accept(attempt);
                }
            }
            case LOST -> {
                boolean completed = attempt.isCompleting() && source.finish(attempt.claim(), new Finish.Succeed());
                attempt.beats().answered(asked);
                if (completed) {
                    if (attempt.completed()) {
                        health.listeners().ended(attempt, true);
                    }
                } else if (attempt.lose()) {
                    health.listeners().lost(attempt);
                    LOG.warn(
                            "{} is lost: the job has ended, was given to another attempt, or is gone. Its handler is"
                                    + " interrupted.",
                            attempt);
                }
            }
            case BUSY -> {
                attempt.beats().heard(asked);
                repeatAfter(attempt, attempt.beats().interval() / 2);
            }
        }
    }

    private void failed(Collection<RunningAttempt> unanswered, Throwable failure) {
        health.trouble("Beating for " + unanswered.size() + " jobs", failure);
        health.listeners().heartbeatsFailed(unanswered.size(), failure);
        if (Failures.concernsAll(failure)) {
            if (!outage) {
                LOG.warn(
                        "Beating for {} jobs failed; it is repeated until it is answered: {}",
                        unanswered.size(),
                        failure.toString());
            }
            outage = true;
        } else {
            LOG.warn("Beating for {} failed; it is repeated soon.", unanswered, failure);
        }
        unanswered.forEach(attempt -> repeatAfter(attempt, attempt.beats().interval()));
    }

    private void repeatAfter(RunningAttempt attempt, long most) {
        attempt.beats().repeatAt(ticker.now() + Math.min(retryDelay, most));
    }

    /**
     * Whether the database has said nothing for so long that it may take a job that runs here for dead. For any thread:
     * a call of this loop may hang, and then it is the claim loop that finds out.
     */
    boolean silent() {
        long now = ticker.now();
        boolean silent = attempts.all().stream()
                .anyMatch(attempt -> !attempt.closed() && attempt.beats().overdue(now));
        if (health.beatsFail(silent)) {
            if (silent) {
                LOG.error(
                        "Beats have failed for longer than a heartbeat timeout: no more jobs are claimed until they are"
                                + " answered. Handlers go on.");
            } else {
                LOG.info("No job that runs here may count as dead any more: jobs are claimed again.");
                onRecovery.run();
            }
        }
        return silent;
    }

    private long nextBeat(boolean silent) {
        long latest = ticker.now() + (silent ? retryDelay : NOTHING_TO_DO);
        return attempts.all().stream()
                .filter(attempt -> !attempt.closed())
                .mapToLong(attempt -> Math.min(attempt.beats().next(), attempt.open() ? attempt.startDueAt() : latest))
                .reduce(latest, Math::min);
    }
}
