package dev.millrace.worker;

/**
 * Is called around each run of a handler, on its thread: for tracing, security contexts, time measured by yourself. Called
 * by many threads at once. Of several the one that was given first is the outermost.
 *
 * <p>It stands for the handler: if it doesn't call it, the job succeeds without it, and what it throws is a failure of the
 * attempt. A payload that can't be decoded fails the attempt before an interceptor is called. To be told what became of an
 * attempt, use a {@link WorkerListener}.
 */
@FunctionalInterface
public interface JobInterceptor {
    /**
     * Calls the handler, and does what is to be done around that.
     *
     * @param context the attempt, as its handler sees it
     * @param handler what to call, once
     * @throws Exception what the handler throws; let it pass, as the job's retry policy depends on it
     */
    void around(JobContext context, Invocation handler) throws Exception;

    /** The call of a handler. */
    @FunctionalInterface
    interface Invocation {
        /**
         * Calls the next interceptor, or the handler.
         *
         * @throws Exception what that throws
         */
        void proceed() throws Exception;
    }
}
