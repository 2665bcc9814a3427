package dev.millrace.process;

import static dev.millrace.SubmitOption.backend;
import static dev.millrace.SubmitOption.retry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.SubmitOption;
import dev.millrace.devdb.MillraceDatabase;
import dev.millrace.devdb.TestDatabase;
import dev.millrace.job.Job;
import dev.millrace.job.JobType;
import dev.millrace.job.RetryPolicy;
import dev.millrace.types.JobStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * The JVM of a pool of processes is killed at random moments, again and again, while they run. Each process notes that it
 * runs: none may run twice, none beside another one of its job, and none may be missing.
 */
@MillraceDatabase
@Timeout(300)
@EnabledOnOs({OS.LINUX, OS.MAC})
class KilledPoolRoundsTest {
    private static final int ROUNDS = 4;
    private static final int JOBS_OF_A_KIND = 5;
    private static final SubmitOption[] IN_POOL = {backend("processes"), retry(RetryPolicy.fixed(2, Duration.ZERO))};

    private final Scene scene;

    @TempDir
    Path folder;

    KilledPoolRoundsTest(TestDatabase database) {
        scene = new Scene(Place.of(database));
    }

    @AfterEach
    void close() {
        scene.close();
    }

    /** A program that notes its attempt, and complains if that has run before, or another one of its job still runs. */
    private Path program(String work) throws IOException {
        Path file = Files.createTempFile(folder, "program", "");
        Files.writeString(file, """
                #!/bin/sh
                cd "%s"
                mkdir "ran/$MILLRACE_JOB_ID.$MILLRACE_ATTEMPT" || echo "twice $MILLRACE_JOB_ID" >>complaints
                mkdir "live/$MILLRACE_JOB_ID" || echo "beside another one $MILLRACE_JOB_ID" >>complaints
                trap 'rmdir "live/$MILLRACE_JOB_ID"; exit 9' TERM
                %s
                rmdir "live/$MILLRACE_JOB_ID"
                exit $code
                """.formatted(folder, work));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return file;
    }

    @Test
    void jobs_whosePoolIsKilledAtRandom_endAsTheyShould_andEachOfTheirAttemptsRunsOnce() throws Exception {
        long seed = System.nanoTime();
        System.out.println("Seed of the kills: " + seed);
        Random random = new Random(seed);
        Files.createDirectory(folder.resolve("ran"));
        Files.createDirectory(folder.resolve("live"));
        Map<String, String> kinds = new LinkedHashMap<>();
        kinds.put("good", "sleep 0.2; echo \"\\\"$MILLRACE_JOB_ID\\\"\" >\"$MILLRACE_RESULT_FILE\"; code=0");
        kinds.put("second", "sleep 0.1; code=$((MILLRACE_ATTEMPT == 1))");
        kinds.put("bad", "sleep 0.1; code=1");
        kinds.put("unwanted", "while [ -d live ]; do sleep 0.05; done; code=0");
        List<String> arguments = new ArrayList<>(List.of(folder.resolve("state").toString()));
        for (Map.Entry<String, String> kind : kinds.entrySet()) {
            arguments.addAll(List.of(kind.getKey(), program(kind.getValue()).toString()));
        }
        String[] pool = arguments.toArray(String[]::new);
        Map<String, List<String>> jobs = new LinkedHashMap<>();
        for (int round = 0; round < ROUNDS; round++) {
            for (String kind : kinds.keySet()) {
                int number = kind.equals("unwanted") ? 1 : JOBS_OF_A_KIND;
                jobs.computeIfAbsent(kind, its -> new ArrayList<>())
                        .addAll(scene.submitTogether(number, JobType.of(kind, Task.class), Task.NONE, IN_POOL));
            }
            long target = ran() + random.nextInt(2 * JOBS_OF_A_KIND);
            ChildJvm doomed = scene.start(PoolProcess.class, pool);
            Scene.until(() -> ran() > target);
            // That of the round before, so that there are never many of them.
            scene.millrace.cancel(jobs.get("unwanted").get(Math.max(0, round - 1)), "me", null);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(400)));
            doomed.kill();
        }
        jobs.get("unwanted").forEach(id -> scene.millrace.cancel(id, "me", null));
        scene.start(PoolProcess.class, pool);

        for (String id : jobs.get("good")) {
            assertEnds(id, JobStatus.SUCCEEDED, 1);
            assertThat(scene.millrace.results().get(id).orElseThrow().text()).isEqualTo("\"" + id + "\"");
        }
        for (String id : jobs.get("second")) {
            assertEnds(id, JobStatus.SUCCEEDED, 2);
        }
        for (String id : jobs.get("bad")) {
            assertEnds(id, JobStatus.FAILED, 2);
        }
        for (String id : jobs.get("unwanted")) {
            Job ended = scene.awaitEnd(id);
            assertThat(ended.status()).isEqualTo(JobStatus.CANCELLED);
            assertThat(ended.state().attemptCount()).isLessThan(2);
            Scene.until(() -> !Files.exists(folder.resolve("live").resolve(id)));
        }
        assertThat(folder.resolve("complaints")).doesNotExist();
        assertThat(folder.resolve("live")).isEmptyDirectory();
    }

    private long ran() throws IOException {
        try (Stream<Path> all = Files.list(folder.resolve("ran"))) {
            return all.count();
        }
    }

    private void assertEnds(String id, JobStatus status, int attempts) throws InterruptedException {
        Job ended = scene.awaitEnd(id);
        assertThat(ended.status()).as(id).isEqualTo(status);
        assertThat(ended.state().attemptCount()).as(id).isEqualTo(attempts);
        for (int attempt = 1; attempt <= attempts; attempt++) {
            assertThat(folder.resolve("ran").resolve(id + "." + attempt)).isDirectory();
        }
    }
}
