package dev.millrace.backend;

import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * Runs jobs elsewhere: what {@code dev.millrace.recovery.BackendReconciler} asks to start them, to tell how they are,
 * and to cancel them. A job belongs to the backend of the name that its {@code JobSpec.backend()} says.
 *
 * <p><b>Calls are repeated.</b> A call's answer may be lost: its process dies, or the database can't be told. Then it
 * is made again, by this process or another one, so:
 *
 * <ul>
 *   <li>{@link #start} must be idempotent by job id and token: asked again with the same pair, also hours later and
 *       also while the first call is still under way, it starts nothing, and answers as it did. Use the pair as the
 *       name, label or idempotency key of what you create. Another token is another attempt, to be started beside an
 *       earlier one.
 *   <li>{@link #observe} changes nothing.
 *   <li>{@link #cancel} may come again and again until {@code observe} says that the operation has ended, and for one
 *       that has ended, or that nobody knows.
 * </ul>
 *
 * <p><b>Time.</b> Each call has the reconciler's {@code callTimeout}, 30 s by default. After that its thread is
 * interrupted, and others may make the call again; what it still answers counts only if nobody has. So set timeouts of
 * your own on what you call, let {@code start} hand over the work rather than do it, and let {@code observe} answer
 * from what is known by now.
 *
 * <p><b>Threads.</b> Calls for different jobs come from several threads at once, as many as the reconciler's {@code
 * concurrency} says, and from several processes if several run a reconciler. Starts of one attempt don't
 * overlap, unless one took too long; all other calls may.
 *
 * <p><b>Errors.</b> Whatever is thrown means that nothing is known: the call is made again at the next sweep. A start
 * that fails like this goes on being tried until the job's maximum duration is over. So say {@link StartResult.Refused}
 * where trying again with the same input can't help, and {@link Observation.Gone} only where it is certain.
 *
 * <p><b>The maximum duration</b> of an attempt, {@code request.job().policies().maxDuration()}, is watched by Millrace,
 * which fails the job and then cancels the operation. A backend that can end operations by itself after a while should
 * be told this time as well, for the case that no process is there to do that.
 */
public interface Backend {
    /** What a backend can do beside starting and observing. */
    enum Capability {
        /**
         * {@link Backend#cancel} has an effect. Without it a cancellation request stays with the job, which ends as its
         * operation ends, and operations whose attempt is over are left to themselves.
         */
        CANCEL,
        /**
         * {@link Backend#operations} tells what runs. So operations are found, and cancelled, whose attempt was ended
         * while no process was there that knew of them.
         */
        LIST
    }

    /**
     * {@return its name: what jobs say as their backend; 1 to 64 characters, not {@code local}} Asked once, when it is
     * registered, by the thread that does so. Operations must be known under it wherever it is registered: if one is bound
     * to a machine, such as a pool of processes, give the backend of each machine a name of its own.
     */
    String name();

    /** {@return what it can do} Asked once, as the name. By default all but {@link Capability#LIST}. */
    default Set<Capability> capabilities() {
        return Set.of(Capability.CANCEL);
    }

    /**
     * {@return how many operations it would take on at this moment, as a hint; by default as many as you like} Asked
     * once in a sweep, which begins no more attempts than this; what it began before and the backend has not answered yet is
     * taken off. The other jobs stay queued, where they wait in the order of their priority and due time, cost no attempt
     * and can be cancelled at once. More starts may come nevertheless: repeated ones, and from other processes.
     *
     * @throws Exception if that can't be known: nothing is started
     */
    default int room() throws Exception {
        return Integer.MAX_VALUE;
    }

    /**
     * Starts an attempt, or says how it was started already. See the class about repetition and time.
     *
     * <p>If an attempt was cancelled before its start came in, a backend that can remember that should not run it.
     *
     * @param request what to run
     * @return what came of it
     * @throws Exception if it is not known whether it is started; the same request comes again
     * @throws InterruptedException if it took too long
     */
    StartResult start(StartRequest request) throws Exception;

    /**
     * Tells how an attempt is.
     *
     * @param operation the attempt. Without its {@link RemoteOperation#operationId()} if the answer to its start was
     *     lost: then it has to be found by job id and token, or is {@link Observation.Gone}
     * @return how it is
     * @throws Exception if that is not known at present
     * @throws InterruptedException if it took too long
     */
    Observation observe(RemoteOperation operation) throws Exception;

    /**
     * Has an attempt end, soon but not necessarily when this returns: {@link #observe} tells. Is not called if it lacks
     * the {@link Capability#CANCEL}.
     *
     * @param operation the attempt, as for {@link #observe}
     * @throws Exception if it could not be asked for; the call comes again
     * @throws InterruptedException if it took too long
     */
    void cancel(RemoteOperation operation) throws Exception;

    /**
     * Tells what runs or waits here, so that what nobody wants any more can be cancelled. Is called only if it has the
     * {@link Capability#LIST}, about every half minute.
     *
     * @return all operations that have not ended and that were started for this database and schema: label what you
     *     start, if several use the same cluster. One of a job that this database doesn't have is reported and left
     *     alone
     * @throws Exception if that is not known at present
     * @throws InterruptedException if it took too long
     */
    default Collection<RemoteOperation> operations() throws Exception {
        return List.of();
    }
}
