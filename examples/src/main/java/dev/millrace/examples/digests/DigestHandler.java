package dev.millrace.examples.digests;

import dev.millrace.worker.JobContext;
import dev.millrace.worker.JobHandler;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Digests one file and writes what it found. Idempotent, as every handler must be: its job may run again after its row
 * was written, if its worker dies before the job's success is.
 */
final class DigestHandler implements JobHandler<DigestFile> {
    private final DigestTable table;
    private final Duration atLeast;

    /** @param atLeast how long each job takes at least; zero for as long as it takes */
    DigestHandler(DigestTable table, Duration atLeast) {
        this.table = table;
        this.atLeast = atLeast;
    }

    @Override
    public void handle(DigestFile file, JobContext context) throws Exception {
        long began = System.nanoTime();
        table.upsert(context.job().id(), file.path(), Finding.of(Path.of(file.path())));
        Duration rest = atLeast.minusNanos(System.nanoTime() - began);
        if (!rest.isNegative()) {
            Thread.sleep(rest.toMillis());
        }
    }
}
