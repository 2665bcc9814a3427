package dev.millrace.internal;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells one listener of events, one after another, on a daemon thread of its own that ends when there has been nothing to
 * tell for a while. Whatever the listener does, throw, hang, or be slow, the one who tells never waits and never fails:
 * an event that finds {@value #LIMIT} others waiting is dropped, and counted.
 *
 * <p>Safe for use by many threads.
 *
 * @param <L> the type of the listener
 */
public final class Feed<L> implements AutoCloseable {
    /** How many events may wait for a slow listener. */
    static final int LIMIT = 10_000;

    /** What a listener throws is said once in this time: it may throw at each event. */
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final long IDLE_SECONDS = 30;
    private static final Logger LOG = LoggerFactory.getLogger(Feed.class);

    private final L listener;
    private final ObjLongConsumer<? super L> onMissed;
    private final ThreadPoolExecutor executor;
    private final AtomicLong missed = new AtomicLong();
    private volatile @Nullable Thread teller;

    // of the listener's thread
    private boolean said;
    private long saidAt;
    private long unsaid;

    /**
     * A feed that has told nothing yet.
     *
     * @param thread the name of its thread
     * @param listener who is told
     * @param onMissed tells the listener how many events it has missed, before the next one that it gets
     */
    public Feed(String thread, L listener, ObjLongConsumer<? super L> onMissed) {
        this.listener = listener;
        this.onMissed = onMissed;
        this.executor = new ThreadPoolExecutor(
                1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(LIMIT), task -> daemon(task, thread));
        executor.allowCoreThreadTimeOut(true);
    }

    /**
     * Tells the listener, soon. Throws nothing.
     *
     * @param event calls the listener
     */
    @SuppressWarnings("UnusedException") // the queue is full or closed, or there is no memory: all are told as missed
    public void tell(Consumer<? super L> event) {
        try {
            executor.execute(() -> deliver(event));
        } catch (Throwable e) {
            missed.incrementAndGet();
        }
    }

    /**
     * {@return whether the listener is being told something on this thread}
     *
     * @param thread the thread
     */
    public boolean runsOn(Thread thread) {
        return teller == thread;
    }

    /**
     * No more events for any of these. Waits until they have heard what was told before, for this time at most in all, and then
     * interrupts those that have not. Throws nothing.
     *
     * @param feeds whom to close
     * @param patience how long to wait
     */
    public static void close(Collection<? extends Feed<?>> feeds, Duration patience) {
        long until = System.nanoTime() + patience.toNanos();
        for (Feed<?> feed : feeds) {
            feed.executor.shutdown();
        }
        for (Feed<?> feed : feeds) {
            feed.awaitEnd(until);
        }
    }

    /** No more events. As the one for several, with two seconds of patience. */
    @Override
    public void close() {
        close(List.of(this), Duration.ofSeconds(2));
    }

    private void awaitEnd(long until) {
        try {
            if (executor.awaitTermination(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        int left = executor.shutdownNow().size();
        LOG.warn("{} did not hear all in time: it is interrupted, and {} events are dropped.", name(), left);
    }

    private void deliver(Consumer<? super L> event) {
        teller = Thread.currentThread();
        try {
            tellNow(event);
        } finally {
            teller = null;
        }
    }

    private void tellNow(Consumer<? super L> event) {
        try {
            long before = missed.getAndSet(0);
            if (before > 0) {
                onMissed.accept(listener, before);
            }
        } catch (Throwable e) {
            report(e);
        }
        try {
            event.accept(listener);
        } catch (Throwable e) {
            report(e);
        }
    }

    @SuppressWarnings("UnusedException") // there is nowhere left to report it
    private void report(Throwable failure) {
        try {
            long now = System.nanoTime();
            unsaid++;
            if (!said || now - saidAt >= QUIET_NANOS) {
                LOG.warn(
                        "{} failed, {} times since that was last said. It is told of what follows.",
                        name(),
                        unsaid,
                        failure);
                said = true;
                saidAt = now;
                unsaid = 0;
            }
        } catch (Throwable e) {
            // the next event is worth more than this report
        }
    }

    private String name() {
        return "A listener (" + listener.getClass().getName() + ")";
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }
}
