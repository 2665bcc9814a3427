package dev.millrace.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.job.Job;
import dev.millrace.job.JobSpec;
import dev.millrace.types.JsonText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** What a pool says, and how often. */
@EnabledOnOs({OS.LINUX, OS.MAC})
@Isolated("reads what is logged")
class PoolLogTest {
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    private final PrintStream before = System.err;

    @TempDir
    Path folder;

    @BeforeEach
    void readLog() {
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void close() {
        System.setErr(before);
    }

    private int said(String words) {
        return log.toString(StandardCharsets.UTF_8).split(words, -1).length - 1;
    }

    private static StartRequest request() {
        Job job = Job.of("job-" + UUID.randomUUID(), JobSpec.of("k", JsonText.of("{}")), Instant.EPOCH);
        return new StartRequest(job, 1, UUID.randomUUID());
    }

    private static void run(ProcessPool pool) throws IOException {
        StartRequest request = request();
        pool.start(request);
        awaitEnd(pool, request.operation());
    }

    private static void awaitEnd(ProcessPool pool, RemoteOperation operation) {
        await().atMost(Duration.ofSeconds(30))
                .until(() -> pool.observe(operation).hasEnded());
    }

    @Test
    void attemptWhoseRecordIsTorn_isSaidOnce() throws IOException {
        OperationFolder torn = OperationFolder.create(folder, request().operation(), "k", "{}");
        Files.writeString(torn.file("operation.properties"), "");
        try (ProcessPool pool = ProcessPool.in(folder)
                .run("k", Path.of("/bin/sh"), "-c", "exit 0")
                .open()) {
            for (int round = 0; round < 3; round++) {
                run(pool);
            }
        }
        assertThat(said("torn by a loss of power")).isOne();
        assertThat(said("WARN")).isOne();
    }

    @Test
    void attemptThatCannotBeStarted_isSaidOnce_andStartedWhenItCan() throws IOException {
        RemoteOperation stuck = request().operation();
        OperationFolder attempt = OperationFolder.create(folder, stuck, "k", "{}");
        Files.delete(attempt.file("work"));
        try (ProcessPool pool = ProcessPool.in(folder)
                .run("k", Path.of("/bin/sh"), "-c", "exit 0")
                .open()) {
            for (int round = 0; round < 3; round++) {
                run(pool);
            }
            assertThat(said("could not be started")).isOne();
            Files.createDirectory(attempt.file("work"));
            awaitEnd(pool, stuck);
        }
        assertThat(said("could not be started")).isOne();
    }
}
