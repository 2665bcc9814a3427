package dev.millrace.worker;

import dev.millrace.store.Finish;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Is told what a worker does: for metrics, audits, notifications. Override what you want to know.
 *
 * <p>Each listener has a daemon thread of its own, on which it is told of one event after another; those of one attempt
 * come in their order. Nothing waits for it, and what it throws, an {@link Error} included, is logged and harms nothing.
 * One that falls behind by more than 10,000 events misses some, and is told how many: {@link #missed}. When the worker
 * closes, it has two seconds for what it has not heard yet; then its thread is interrupted.
 *
 * <p>It is told after the fact: of a claim once that is committed, of the end of an attempt once its outcome is. So by the
 * time it is told, the job may be someone else's already; and if the process is killed between the two, nobody is told. What
 * must happen with a job's end belongs into its handler's transaction, not here.
 *
 * <p>SLF4J's MDC names the attempt while the listener is told of one, as it does for handlers.
 */
public interface WorkerListener {
    /**
     * The worker was started.
     *
     * @param worker the worker; its {@link Worker#status} may be asked at any time
     */
    default void opened(Worker worker) {}

    /**
     * The worker is closed: the last event but for those that come of handlers which run on.
     *
     * @param worker the worker
     */
    default void closed(Worker worker) {}

    /**
     * A claim was answered, with or without jobs.
     *
     * @param event what was asked and what it brought
     */
    default void claimed(Claimed event) {}

    /**
     * A claim failed, or its answer was lost. Jobs that it has taken all the same are found later, and run.
     *
     * @param event what happened
     */
    default void claimFailed(ClaimFailed event) {}

    /**
     * A handler is about to run.
     *
     * @param event for which attempt
     */
    default void started(Started event) {}

    /**
     * The outcome of an attempt was written.
     *
     * @param event for which attempt, and how it ended
     */
    default void ended(Ended event) {}

    /**
     * An attempt is no longer its job's: the job has ended, was given to another attempt, or is gone. Its outcome, if it
     * had one, was refused.
     *
     * @param event which attempt
     */
    default void lost(Lost event) {}

    /**
     * Beats could not be sent. They are repeated; see {@link #heartbeatsAnswered}.
     *
     * @param event for how many attempts
     */
    default void heartbeatsFailed(HeartbeatsFailed event) {}

    /**
     * Beats are answered again after an outage.
     *
     * @param worker the name of the worker
     */
    default void heartbeatsAnswered(String worker) {}

    /**
     * This listener was too slow, and was not told of some events.
     *
     * @param events how many
     */
    default void missed(long events) {}

    /**
     * Which attempt an event is about.
     *
     * @param jobId the job
     * @param kind its kind
     * @param queue its queue
     * @param runtimeProfile its profile
     * @param number the number of the attempt, from 1: how often the job has been claimed
     * @param worker the name of the worker
     */
    record JobAttempt(String jobId, String kind, String queue, String runtimeProfile, int number, String worker) {}

    /**
     * A claim that was answered.
     *
     * @param worker the name of the worker
     * @param asked how many jobs it asked for
     * @param got how many it got
     * @param took how long the answer took
     */
    record Claimed(String worker, int asked, int got, Duration took) {}

    /**
     * A claim that failed.
     *
     * @param worker the name of the worker
     * @param asked how many jobs it asked for
     * @param took after how long it failed
     * @param failure what it failed with
     */
    record ClaimFailed(String worker, int asked, Duration took, Throwable failure) {}

    /**
     * A handler that is about to run.
     *
     * @param attempt the attempt
     * @param waited how long the job has waited since it was due: in the queue by the database's clock, and in this
     *     process by its own; null if the job had no place in the queue
     */
    record Started(JobAttempt attempt, @Nullable Duration waited) {}

    /**
     * An attempt whose outcome is written.
     *
     * @param attempt the attempt
     * @param finish its outcome, as this worker has written it. A job whose cancellation was requested in the meantime has
     *     ended cancelled where the outcome is a retry or a handing back
     * @param ran from the handler's start until the outcome was decided; zero if it was not started
     */
    record Ended(JobAttempt attempt, Finish finish, Duration ran) {
        /**
         * Checks the values.
         *
         * @param attempt see {@link #attempt()}
         * @param finish see {@link #finish()}
         * @param ran see {@link #ran()}
         */
        public Ended {
            Objects.requireNonNull(finish, "finish");
        }

        /** {@return how it ended, in a word} */
        public End how() {
            return End.of(finish);
        }
    }

    /**
     * An attempt that was lost.
     *
     * @param attempt the attempt
     * @param ran from the handler's start until that was found out; zero if it was not started
     */
    record Lost(JobAttempt attempt, Duration ran) {}

    /**
     * Beats that failed.
     *
     * @param worker the name of the worker
     * @param attempts for how many attempts
     * @param failure what they failed with
     */
    record HeartbeatsFailed(String worker, int attempts, Throwable failure) {}

    /** How an attempt ended, in a word. */
    enum End {
        /** The job succeeded. */
        SUCCEEDED,
        /** The job failed for good. */
        FAILED,
        /** The attempt failed, and the job waits for the next one. */
        RETRIED,
        /** The attempt was given back without fault, and does not count. */
        HANDED_BACK,
        /** The job was cancelled. */
        CANCELLED;

        static End of(Finish finish) {
            if (finish instanceof Finish.Succeed) {
                return SUCCEEDED;
            }
            if (finish instanceof Finish.Fail) {
                return FAILED;
            }
            if (finish instanceof Finish.Retry) {
                return RETRIED;
            }
            return finish instanceof Finish.Cancel ? CANCELLED : HANDED_BACK;
        }
    }
}
