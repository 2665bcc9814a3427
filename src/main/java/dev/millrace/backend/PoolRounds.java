package dev.millrace.backend;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a pool does again and again, on a daemon thread of its own. Nothing that is thrown ends it. */
final class PoolRounds {
    private static final Duration PAUSE = Duration.ofMillis(200);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Logger LOG = LoggerFactory.getLogger(PoolRounds.class);

    private final Runnable round;
    private final Thread thread;
    private final Semaphore wakeUps = new Semaphore(0);
    private volatile boolean stopped;

    PoolRounds(String name, Runnable round) {
        this.round = round;
        this.thread = new Thread(this::rounds, name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** The next round comes at once. */
    void wakeUp() {
        wakeUps.release();
    }

    /** No further round begins; waits a few seconds at most for the one that runs. */
    void stop() {
        stopped = true;
        wakeUp();
        try {
            thread.join(PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void rounds() {
        while (!stopped) {
            try {
                round.run();
                if (wakeUps.tryAcquire(PAUSE.toMillis(), TimeUnit.MILLISECONDS)) {
                    wakeUps.drainPermits();
                }
            } catch (InterruptedException e) {
                LOG.debug("A process pool was interrupted by someone who doesn't own its thread, and goes on.");
            } catch (Throwable e) {
                sayQuietly(e);
            }
        }
    }

    private void sayQuietly(Throwable failure) {
        try {
            LOG.error("A process pool met something unexpected, and goes on.", failure);
            Thread.sleep(PAUSE.toMillis());
        } catch (Throwable e) {
            failure.addSuppressed(e); // a logger may fail for the reason that it should report
        }
    }
}
