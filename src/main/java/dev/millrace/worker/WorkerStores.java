package dev.millrace.worker;

import dev.millrace.store.JobLogStore;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.store.WorkSource;
import org.jspecify.annotations.Nullable;

/**
 * What a worker reads and writes.
 *
 * @param work where jobs are claimed and started, and progress goes
 * @param beats where heartbeats go; the same, on connections that handlers can't starve
 * @param outcomes where the ends of attempts go; the same
 * @param logs where the lines of handlers go; null if they can't write any
 * @param results where the results of handlers go; null if they can't leave any
 */
record WorkerStores(
        WorkSource work,
        WorkSource beats,
        WorkSource outcomes,
        @Nullable JobLogStore logs,
        @Nullable ResultPackageStore results) {}
