package dev.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * Whether a process has what it takes to run jobs: the capability {@value #NAME}. It follows from how the process is put
 * together and from nothing else, so it doesn't flap with the database; whether that answers is its readiness.
 */
public enum RunnerCapability {
    /** Jobs can be stored and queued. */
    AVAILABLE("Available"),
    /** There is no store for jobs. */
    JOB_STORE_NOT_CONFIGURED("JobStoreNotConfigured"),
    /** There is a store, but no queue that workers could take jobs from. */
    JOB_QUEUE_NOT_REGISTERED("JobQueueNotRegistered");

    /** What the capability is called in reports. */
    public static final String NAME = "jobs.runner";

    private final String literal;

    RunnerCapability(String literal) {
        this.literal = literal;
    }

    /**
     * {@return the capability of a process that has these} For one that is put together of parts, each of which may be
     * missing; {@code Millrace} has both.
     *
     * @param store where it stores jobs, or null
     * @param queue where it queues them, or null
     */
    public static RunnerCapability of(@Nullable JobStore store, @Nullable JobQueue queue) {
        if (store == null) {
            return JOB_STORE_NOT_CONFIGURED;
        }
        return queue == null ? JOB_QUEUE_NOT_REGISTERED : AVAILABLE;
    }

    /** {@return its name in reports, such as {@code JobQueueNotRegistered}} */
    public String literal() {
        return literal;
    }
}
