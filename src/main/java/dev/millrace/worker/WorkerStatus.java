package dev.millrace.worker;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How a worker is doing, at one moment.
 *
 * @param worker its name
 * @param claiming whether it claims jobs, and if not, why
 * @param running how many jobs it holds: running, about to run, claimed ahead, or with an outcome that is not written yet
 * @param waiting how many of them were claimed ahead, and wait for a slot
 * @param lingering how many of them have ended, but their handlers ignore the interrupt and keep their slots
 * @param concurrency how many may run at a time
 * @param lastError what last went wrong with the database or within the worker, failures of handlers aside; null if
 *     nothing did
 * @param lastErrorAt when, by this machine's clock
 */
public record WorkerStatus(
        String worker,
        Claiming claiming,
        int running,
        int waiting,
        int lingering,
        int concurrency,
        @Nullable String lastError,
        @Nullable Instant lastErrorAt) {
    /** Whether a worker claims jobs, and if not, why. */
    public enum Claiming {
        /** It claims, as soon as it has a free slot. */
        YES,
        /** It was not started yet. */
        NOT_STARTED,
        /** The last claim failed: the database is out of reach, or its schema not ready. It goes on trying. */
        STORE_FAILS,
        /**
         * Beats have failed for longer than the heartbeat timeout of a job that it runs. It claims again once a beat
         * is answered; no handler is interrupted until then.
         */
        HEARTBEATS_FAIL,
        /**
         * One of its loops has ended, though nobody closed it: it can't go on. Restart the process. What it runs is
         * recovered by others.
         */
        LOOP_ENDED,
        /** It is being closed. */
        CLOSING,
        /** It was closed. */
        CLOSED
    }

    /**
     * {@return whether it works, or will by itself: false if it was closed, or one of its loops has ended} Not whether the
     * database answers: restarting a process heals no database.
     */
    public boolean alive() {
        return claiming != Claiming.LOOP_ENDED && claiming != Claiming.CLOSED;
    }

    /** {@return whether it was started and nothing keeps it from claiming} */
    public boolean healthy() {
        return claiming == Claiming.YES;
    }
}
