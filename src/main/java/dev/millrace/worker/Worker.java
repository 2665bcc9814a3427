package dev.millrace.worker;

import dev.millrace.job.PayloadCodec;
import dev.millrace.store.WorkSource;
import dev.millrace.worker.WorkerStatus.Claiming;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims jobs and runs their handlers, up to a number at a time. Each job is run by one worker at a time as far as the
 * database knows; what a worker that was taken for dead still writes is refused.
 *
 * <pre>{@code
 * try (Worker worker = Worker.on(source, codec)
 *         .handle(thumbnail, (payload, context) -> resize(payload))
 *         .settings(settings -> settings.withConcurrency(4))
 *         .start()) {
 *     ...
 * }
 * }</pre>
 *
 * <p>A job that was claimed within the last second starts without a further word to the database; one that still runs a
 * second later, or reports progress before that, is shown as running there. So a cancellation that comes between the claim and
 * the start is noticed up to a second after it. One that was claimed earlier starts once the database has said that it is
 * still the worker's, and not cancelled.
 *
 * <p>An outage of the database fails no job and interrupts no handler: outcomes are kept and written when it is back. A
 * started worker keeps the JVM running until it is closed; its other threads don't. Handlers run on virtual threads where
 * the JVM has them.
 *
 * <p>Safe for use by many threads.
 */
public final class Worker implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Worker.class);
    private static final long LAST_WORDS_MILLIS = 500;

    private enum State {
        NEW,
        OPEN,
        CLOSING,
        CLOSED
    }

    private final WorkerSettings settings;
    private final WorkerThreads threads;
    private final Listeners listeners;
    private final Health health;
    private final RunningAttempts attempts;
    private final Heartbeats heartbeats;
    private final Deadlines deadlines;
    private final ClaimLoop claims;
    private final Intake intake;
    private final Outcomes outcomes;
    private final Shutdown shutdown;
    private final Thread beating;
    private final Thread claiming;
    private final @Nullable Thread gathering;
    private final Thread beginning;
    private final Thread lifecycle;
    private final AtomicReference<State> state = new AtomicReference<>(State.NEW);
    private volatile boolean stopping;
    private final CountDownLatch startEnded = new CountDownLatch(1);
    private final CountDownLatch closeAsked = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    Worker(
            WorkerSettings settings,
            WorkerStores stores,
            PayloadCodec codec,
            Map<String, Route<?>> routes,
            List<Runnable> beginnings,
            Companions companions,
            List<WorkerListener> listeners,
            Timings timings) {
        this.settings = settings;
        this.listeners = new Listeners(settings.name(), listeners);
        this.health = new Health(this.listeners);
        WorkSource source = stores.work();
        Ticker ticker = Ticker.started();
        this.threads = new WorkerThreads(settings.name(), settings.concurrency());
        this.attempts = new RunningAttempts(this::changed);
        JobLog jobLog = new JobLog(stores.logs(), health);
        this.outcomes =
                new Outcomes(stores.outcomes(), jobLog, settings.outcomeBuffer(), threads.outcomes(), health, ticker);
        this.heartbeats =
                new Heartbeats(attempts, stores.beats(), health, ticker, settings, this::look, this::cancelled);
        this.deadlines = new Deadlines(attempts, outcomes, ticker, timings, threads.timer("deadlines"));
        HandlerServices services = new HandlerServices(
                settings.name(), source, jobLog, stores.results(), settings.resultRetention(), codec, health, ticker);
        LateStart late = new LateStart(ticker, System::currentTimeMillis, timings.unasked(), heartbeats::watch);
        AttemptRunner runner = new AttemptRunner(routes, services, outcomes, late::mayRun);
        this.intake = new Intake(
                settings, attempts, heartbeats, deadlines, runner, outcomes, threads.handlers(), health, ticker);
        this.claims = new ClaimLoop(
                source,
                settings,
                List.copyOf(routes.keySet()),
                attempts,
                heartbeats::silent,
                intake,
                health,
                ticker,
                timings);
        this.shutdown = new Shutdown(
                claims, intake, attempts, outcomes, heartbeats, deadlines, threads, companions, settings, timings);
        this.beating = threads.loop("beats", heartbeats);
        this.claiming = threads.loop("claims", claims);
        Runnable gathering = outcomes.gathering();
        this.gathering = gathering == null ? null : threads.loop("outcomes", gathering);
        this.beginning = threads.once("start", () -> begin(beginnings));
        this.lifecycle = threads.lifecycle(this::live);
    }

    /**
     * Starts to put a worker together that takes its work from this source.
     *
     * @param source where jobs are claimed, and their outcomes written
     * @param codec makes payloads of parameters
     * @return a setup, to be given handlers
     */
    public static WorkerSetup on(WorkSource source, PayloadCodec codec) {
        return new WorkerSetup(source, codec);
    }

    /**
     * Starts to claim. Returns at once, and doesn't need the database: if that is out of reach the worker goes on trying.
     *
     * @return this worker
     * @throws IllegalStateException if it was started or closed before: a worker is used once
     */
    public Worker start() {
        if (!state.compareAndSet(State.NEW, State.OPEN)) {
            throw new IllegalStateException("Worker \"" + settings.name() + "\" can't be started: it is " + state()
                    + ". A worker is started once; build another one.");
        }
        listeners.opened(this); // before anything that they are told of later
        try {
            lifecycle.start();
            deadlines.start();
            beginning.start();
            beating.start();
            if (gathering != null) {
                gathering.start();
            }
            claiming.start();
        } catch (Throwable e) {
            abandonStart();
            throw e;
        }
        startEnded.countDown();
        LOG.info("Worker \"{}\" runs up to {} jobs at a time.", settings.name(), settings.concurrency());
        return this;
    }

    /** Looks for jobs now rather than at the next poll. Cheap, and harmless if there are none. */
    public void wakeUp() {
        claims.wakeUp();
    }

    /** {@return what it was set to} */
    public WorkerSettings settings() {
        return settings;
    }

    /** {@return how it is doing} Cheap; asks no database. */
    public WorkerStatus status() {
        Health.Trouble trouble = health.last();
        return new WorkerStatus(
                settings.name(),
                claimingNow(),
                attempts.count(),
                intake.waiting(),
                (int) attempts.all().stream().filter(RunningAttempt::lingering).count(),
                settings.concurrency(),
                trouble == null ? null : trouble.what(),
                trouble == null ? null : trouble.at());
    }

    /**
     * Closes the worker and waits until that is done. No more jobs are claimed; those that have not been started are
     * handed back; handlers have the drain timeout; what runs then is interrupted and handed back, which doesn't count
     * against its maximum of attempts. It takes as long as the handlers do, at most the drain timeout and a few seconds,
     * also if the database is out of reach or a handler ignores its interrupt. Outcomes that could not be written are
     * logged, and their jobs run again once their heartbeats have expired.
     *
     * <p>Repeatable; each call waits. If the waiting thread is interrupted the rest of the drain timeout is skipped, and
     * the thread is still interrupted when this returns. Called from one of its handlers or listeners, it returns at once,
     * and the worker closes when its handlers have returned.
     */
    @Override
    public void close() {
        if (state.compareAndSet(State.NEW, State.CLOSED)) {
            shutdown.closeCompanions();
            listeners.close(this);
            closed.countDown();
            return;
        }
        if (state.get() == State.OPEN) {
            stopping = true;
            // before it says that it closes, and not when the lifecycle thread comes to it
            claims.stop();
            intake.close();
        }
        if (state.compareAndSet(State.OPEN, State.CLOSING)) {
            LOG.info("Worker \"{}\" closes.", settings.name());
            closeAsked.countDown();
        }
        Thread caller = Thread.currentThread();
        boolean own = caller == lifecycle
                || listeners.runOn(caller)
                || attempts.all().stream().anyMatch(attempt -> attempt.runsOn(caller));
        if (!own) {
            awaitClosed();
        }
    }

    private static void begin(List<Runnable> beginnings) {
        for (Runnable beginning : beginnings) {
            try {
                beginning.run();
            } catch (Throwable e) {
                Failures.survive(
                        () -> LOG.warn("Something that was to be done at the start failed; the worker runs.", e));
            }
        }
    }

    /** The lifecycle thread: it is what keeps the JVM running, and what closes the worker. */
    private void live() {
        uninterruptibly(closeAsked, () -> {});
        // A listener may close its worker while that is being started: what is started after that would not end.
        uninterruptibly(startEnded, () -> {});
        try {
            shutdown.run();
        } catch (Throwable e) {
            Failures.survive(() -> LOG.error("Worker \"{}\" was not closed in order.", settings.name(), e));
        } finally {
            letBeatsTell();
            state.set(State.CLOSED);
            listeners.close(this);
            closed.countDown();
        }
    }

    /** What the loop that beats has just found out is told as well; but nobody waits for a database that doesn't answer. */
    private void letBeatsTell() {
        try {
            beating.join(LAST_WORDS_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitClosed() {
        if (uninterruptibly(closed, shutdown::hurry)) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits whatever happens. True if it was interrupted, each time after calling what is to be done then. */
    @SuppressWarnings("UnusedException") // told by the returned value
    private static boolean uninterruptibly(CountDownLatch latch, Runnable onInterrupt) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                return interrupted;
            } catch (InterruptedException e) {
                interrupted = true;
                onInterrupt.run();
            }
        }
    }

    /** A thread could not be started, so there is nothing to drain. */
    private void abandonStart() {
        state.set(State.CLOSING);
        claims.stop();
        shutdown.hurry();
        boolean alive = lifecycle.isAlive();
        startEnded.countDown(); // now it may close, if it is alive
        closeAsked.countDown();
        if (!alive) {
            live();
        }
    }

    private State state() {
        return Objects.requireNonNull(state.get());
    }

    /** For tests: the loop that beats. */
    Heartbeats heartbeats() {
        return heartbeats;
    }

    private void look() {
        claims.look();
    }

    private void changed(RunningAttempt attempt) {
        intake.changed(attempt);
        if (attempt.closed()) {
            outcomes.closed(attempt);
        }
        if (attempt.slotFree()) {
            look();
        }
    }

    private void cancelled(RunningAttempt attempt) {
        intake.cancelled(attempt);
    }

    private Claiming claimingNow() {
        return switch (state()) {
            case NEW -> Claiming.NOT_STARTED;
            case CLOSING -> Claiming.CLOSING;
            case CLOSED -> Claiming.CLOSED;
            case OPEN -> claimingWhileOpen();
        };
    }

    private Claiming claimingWhileOpen() {
        if (threads.loopEnded()) {
            return stopping ? Claiming.CLOSING : Claiming.LOOP_ENDED;
        }
        if (heartbeats.silent()) {
            return Claiming.HEARTBEATS_FAIL;
        }
        return health.claimsFail() ? Claiming.STORE_FAILS : Claiming.YES;
    }
}
