package dev.millrace.worker;

import dev.millrace.job.PayloadCodec;
import dev.millrace.store.ResultPackageStore;
import dev.millrace.store.WorkSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the contexts of a worker's handlers write with.
 *
 * @param worker the worker's name
 * @param resultRetention for how long a result can be read
 */
record HandlerServices(
        String worker,
        WorkSource source,
        JobLog log,
        @Nullable ResultPackageStore results,
        Duration resultRetention,
        PayloadCodec codec,
        Health health,
        Ticker ticker) {}
