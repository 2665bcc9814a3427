package dev.millrace;

import dev.millrace.store.JobSignals;
import dev.millrace.store.JobSignals.Heard;
import dev.millrace.store.JobSignals.Listening;
import dev.millrace.store.StoreException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wakes this process's workers when jobs have come in for them: one connection and one thread, however many workers there are, and
 * none while there is none. A hint only: workers poll as ever.
 *
 * <p>Whether signals arrive is not assumed but tried: by a signal to itself, first of all, and again whenever none was heard
 * for a while. If it doesn't come the connection is dead, however alive it looks, and is replaced. If it doesn't come three
 * times in a row on a new connection, then signals don't get through at all, as behind a transaction pooler, which listens on one
 * session and forgets which; so the wake-ups are switched off, and that is said once.
 */
final class WakeUps {
    private static final Logger LOG = LoggerFactory.getLogger(WakeUps.class);
    private static final int UNHEARD_LIMIT = 3;
    private static final Duration LOOK = Duration.ofMillis(500);

    /**
     * Lengths of time.
     *
     * @param quiet how long nothing may be heard until that is tried
     * @param answer how long a signal to itself may take
     * @param reconnect the first pause after a connection was lost; it doubles up to {@code quiet}
     */
    record Pace(Duration quiet, Duration answer, Duration reconnect) {
        static final Pace DEFAULT = new Pace(Duration.ofSeconds(30), Duration.ofSeconds(5), Duration.ofSeconds(1));
    }

    /**
     * How often signals wake: each does at once, but where they come fast, a few after the first wait for others, so that workers
     * look 50 times a second for jobs, and not once for each. For one thread.
     */
    static final class Often {
        private static final long BETWEEN = TimeUnit.MILLISECONDS.toNanos(20);
        private static final long AHEAD = 5 * BETWEEN;

        /** When the next one would come if all came evenly. */
        private long next;

        Often(long now) {
            next = now;
        }

        /** One came at this time. Returns how long the next one is to wait. */
        long pause(long now) {
            next = Math.max(next - now, 0) + now + BETWEEN;
            return Math.max(next - now - AHEAD, 0);
        }
    }

    private record Subscription(Set<String> queues, Runnable wakeUp) {
        void hear(Collection<String> jobsIn) {
            if (jobsIn.stream().anyMatch(queues::contains)) {
                wake();
            }
        }

        void wake() {
            try {
                wakeUp.run();
            } catch (Throwable e) {
                LOG.warn("A worker could not be woken; it finds jobs at its next poll.", e);
            }
        }
    }

    private final JobSignals signals;
    private final Pace pace;
    private final List<Subscription> subscriptions = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Listener listener;
    private volatile boolean off;

    WakeUps(JobSignals signals, Pace pace) {
        this.signals = signals;
        this.pace = pace;
    }

    /** Calls this when jobs have come into one of these queues, until what is returned is closed. */
    AutoCloseable subscribe(Collection<String> queues, Runnable wakeUp) {
        Subscription subscription = new Subscription(Set.copyOf(queues), wakeUp);
        lock.lock();
        try {
            subscriptions.add(subscription);
            if (listener == null && !off) {
                listener = new Listener();
                listener.start();
            }
        } finally {
            lock.unlock();
        }
        AtomicBoolean open = new AtomicBoolean(true);
        return () -> {
            if (open.compareAndSet(true, false)) {
                unsubscribe(subscription);
            }
        };
    }

    private void unsubscribe(Subscription subscription) throws InterruptedException {
        Listener unused = null;
        lock.lock();
        try {
            subscriptions.remove(subscription);
            if (subscriptions.isEmpty()) {
                unused = listener;
                listener = null;
            }
        } finally {
            lock.unlock();
        }
        if (unused != null) {
            unused.stop();
        }
    }

    /** Whether signals are known to arrive at this time. */
    boolean listening() {
        lock.lock();
        try {
            return listener != null && listener.listening;
        } finally {
            lock.unlock();
        }
    }

    /** Whether signals were found not to get through, and so are not listened to any more. */
    boolean off() {
        return off;
    }

    /** One thread, from the first subscription to the end of the last. */
    private final class Listener implements Runnable {
        private final Thread thread = new Thread(this, "millrace-wake-ups");
        private final CountDownLatch stopped = new CountDownLatch(1);
        private long pause = pace.reconnect.toMillis();
        private int unheard;
        private volatile boolean listening;
        private boolean interrupted; // said once, until signals are heard again

        void start() {
            thread.setDaemon(true);
            thread.start();
        }

        void stop() throws InterruptedException {
            stopped.countDown();
            thread.join(LOOK.toMillis() * 4);
        }

        private boolean running() {
            return stopped.getCount() > 0 && !off;
        }

        @Override
        public void run() {
            while (running()) {
                try {
                    listen();
                } catch (Throwable e) {
                    report(e);
                } finally {
                    listening = false;
                }
                if (running()) {
                    await(pause);
                    pause = Math.min(2 * pause, pace.quiet.toMillis());
                }
            }
        }

        /** Listens on one connection until that is of no more use. */
        private void listen() throws InterruptedException {
            try (Listening connection = signals.listen()) {
                if (!hearsItself(connection)) {
                    countUnheard();
                    return;
                }
                unheard = 0;
                pause = pace.reconnect.toMillis();
                interrupted = false;
                subscriptions.forEach(Subscription::wake); // what came in meanwhile
                listening = true;
                long heardAt = System.nanoTime();
                Often often = new Often(heardAt);
                while (running()) {
                    Heard heard = connection.await(LOOK);
                    if (!heard.isEmpty()) {
                        heardAt = System.nanoTime();
                        tell(heard);
                        TimeUnit.NANOSECONDS.sleep(often.pause(heardAt));
                    } else if (System.nanoTime() - heardAt > pace.quiet.toNanos()) {
                        if (!hearsItself(connection)) {
                            LOG.info("No signals arrive on the connection for wake-ups any more: it is replaced."
                                    + " Meanwhile workers find jobs at their polls.");
                            return;
                        }
                        heardAt = System.nanoTime();
                    }
                }
            }
        }

        private boolean hearsItself(Listening connection) {
            String token = UUID.randomUUID().toString();
            signals.probe(token);
            long until = System.nanoTime() + pace.answer.toNanos();
            for (long left = pace.answer.toNanos(); left > 0 && running(); left = until - System.nanoTime()) {
                Heard heard = connection.await(Duration.ofNanos(Math.min(left, LOOK.toNanos())));
                tell(heard);
                if (heard.probes().contains(token)) {
                    return true;
                }
            }
            return !running();
        }

        private void countUnheard() {
            unheard++;
            if (unheard == UNHEARD_LIMIT) {
                off = true;
                LOG.warn(
                        "Wake-ups are off: {} times a signal of this process to itself did not arrive, as behind a"
                                + " transaction pooler such as PgBouncer. Workers find jobs at their polls. Give Millrace a data"
                                + " source that connects to PostgreSQL itself for wake-ups to work, or leave them out.",
                        UNHEARD_LIMIT);
            }
        }

        private void tell(Heard heard) {
            if (!heard.queues().isEmpty()) {
                subscriptions.forEach(subscription -> subscription.hear(heard.queues()));
            }
        }

        private void report(Throwable failure) {
            if (failure instanceof StoreException && interrupted) {
                return;
            }
            interrupted = true;
            LOG.warn(
                    "Wake-ups are interrupted, and tried again; meanwhile workers find jobs at their polls: {}",
                    failure.toString());
        }

        @SuppressWarnings("UnusedException") // nobody interrupts this thread; if somebody does, it goes on
        private void await(long millis) {
            try {
                stopped.await(millis, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                // looked at again
            }
        }
    }
}
