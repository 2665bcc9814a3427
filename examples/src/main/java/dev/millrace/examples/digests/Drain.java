package dev.millrace.examples.digests;

import java.io.IOException;
import java.time.Duration;
import java.util.Set;

/**
 * Lets two workers drain the queue, and kills one of them on the way.
 *
 * <p>The worker to be killed goes first, and the other one follows when the first is seen to hold claims, so that it
 * finds some even where there are few jobs. It is killed as soon as a tenth of all jobs has ended and it is seen to hold
 * claims again.
 */
final class Drain {
    private static final Duration LOOK = Duration.ofMillis(20);
    private static final Duration LOOK_AFTER_KILL = Duration.ofMillis(200);
    private static final Duration STALLED = Duration.ofSeconds(60);

    private final JobTable jobs;
    private final Display display;
    private final ChildWorker doomed;
    private final ChildWorker survivor;
    private final int total;

    private boolean survivorGoes;
    private boolean killed;
    private Set<String> heldAtDeath = Set.of();
    private int ended;
    private long lastEnding = System.nanoTime();

    Drain(JobTable jobs, Display display, ChildWorker doomed, ChildWorker survivor, int total) {
        this.jobs = jobs;
        this.display = display;
        this.doomed = doomed;
        this.survivor = survivor;
        this.total = total;
    }

    /** Returns when all jobs have ended: the ids of the jobs that the killed worker held when it died. */
    Set<String> run() throws IOException, InterruptedException, DemoFailedException {
        doomed.go();
        while (lookAtEnded() < total) {
            if (!killed) {
                doomed.checkAlive();
                advance();
            }
            survivor.checkAlive();
            checkNotStalled();
            Thread.sleep((killed ? LOOK_AFTER_KILL : LOOK).toMillis());
        }
        display.end();
        return heldAtDeath;
    }

    private int lookAtEnded() {
        int now = jobs.ended();
        if (now != ended) {
            ended = now;
            lastEnding = System.nanoTime();
        }
        display.progress(ended, total);
        return ended;
    }

    private void advance() throws IOException, InterruptedException {
        if (jobs.claimedBy(doomed.name()).isEmpty()) {
            return;
        }
        if (!survivorGoes) {
            survivorGoes = true;
            survivor.go();
        } else if (ended >= total / 10) {
            kill();
        }
    }

    private void kill() throws InterruptedException {
        int exitCode = doomed.kill();
        killed = true;
        while (jobs.hasSessions(doomed.name())) {
            Thread.sleep(LOOK.toMillis());
        }
        heldAtDeath = jobs.claimedBy(doomed.name());
        display.say("Killed " + doomed.name() + " (exit code " + exitCode + ") while it held "
                + Text.count(heldAtDeath.size(), "job") + ". Once their heartbeats have expired, " + survivor.name()
                + " runs them again.");
    }

    /** Large files take their time; but somebody has to be at work. */
    private void checkNotStalled() throws DemoFailedException {
        boolean silent = System.nanoTime() - lastEnding > STALLED.toNanos();
        if (silent && jobs.claimedBy(survivor.name()).isEmpty()) {
            throw new DemoFailedException("No job has ended for " + STALLED.toSeconds() + " s and " + survivor.name()
                    + " holds none, but only " + ended + " of " + total + " jobs have ended.");
        }
    }
}
