package dev.millrace.process;

import dev.millrace.job.JobType;

/**
 * The payload of all jobs here; the kind says what is done.
 *
 * @param millis how long a nap takes
 */
record Task(long millis) {
    static final Task NONE = new Task(0);

    /** Takes its time, and no orders. */
    static final JobType<Task> NAP = JobType.of("nap", Task.class);

    /** Does what it is told, and ends when it is interrupted. */
    static final JobType<Task> WAIT = JobType.of("wait", Task.class);

    /** Does what it is told, and takes no notice of interrupts. */
    static final JobType<Task> STUBBORN = JobType.of("stubborn", Task.class);

    /** Waits for a query that takes minutes, which no interrupt reaches; from its second attempt on it does what it is told. */
    static final JobType<Task> QUERY = JobType.of("query", Task.class);

    /** Halts its JVM. */
    static final JobType<Task> HALT = JobType.of("halt", Task.class);
}
