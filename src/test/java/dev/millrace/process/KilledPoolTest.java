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
import dev.millrace.store.JobLogStore;
import dev.millrace.store.LogLine;
import dev.millrace.types.JobStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The JVM that runs a pool of processes is killed, and the next one goes on with what it finds. */
@MillraceDatabase
@Timeout(240)
@EnabledOnOs({OS.LINUX, OS.MAC})
class KilledPoolTest {
    private static final JobType<Task> STAYING = JobType.of("staying", Task.class);
    private static final JobType<Task> ENDING = JobType.of("ending", Task.class);
    private static final SubmitOption[] IN_POOL = {backend("processes"), retry(RetryPolicy.fixed(3, Duration.ZERO))};

    private final Scene scene;

    @TempDir
    Path folder;

    private Path gate;
    private Path end;
    private String[] arguments;

    KilledPoolTest(TestDatabase database) {
        scene = new Scene(Place.of(database));
    }

    @BeforeEach
    void prepare() throws IOException {
        gate = folder.resolve("gate");
        end = folder.resolve("end");
        Path staying = program(
                "i=0; while [ ! -e " + gate + " ]; do echo line $i; i=$((i+1)); sleep 0.02; done",
                "echo \"$i\" >\"$MILLRACE_RESULT_FILE\"");
        Path ending = program("echo begun; while [ ! -e " + end + " ]; do sleep 0.02; done; echo '{\"ended\":true}'"
                + " >\"$MILLRACE_RESULT_FILE\"");
        arguments = new String[] {
            folder.resolve("state").toString(), "staying", staying.toString(), "ending", ending.toString()
        };
    }

    @AfterEach
    void close() throws IOException {
        Files.writeString(gate, "");
        Files.writeString(end, "");
        scene.close();
    }

    private Path program(String... lines) throws IOException {
        Path file = Files.createTempFile(folder, "program", "");
        Files.writeString(file, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return file;
    }

    private ProcessHandle process(Job job) throws IOException {
        Path operation =
                folder.resolve("state").resolve(scene.job(job.id()).outcome().providerOperationId());
        return ProcessHandle.of(Long.parseLong(
                        Files.readString(operation.resolve("pid")).strip()))
                .orElseThrow();
    }

    private List<String> lines(Job job) {
        return scene.millrace.logs().page(job.id(), null, JobLogStore.MAX_PAGE).lines().stream()
                .map(LogLine::message)
                .toList();
    }

    @Test
    void processes_outliveTheJvm_andTheNextOneLearnsAllOfThem() throws Exception {
        Job staying = scene.submit(STAYING, IN_POOL);
        Job ending = scene.submit(ENDING, IN_POOL);
        Job unwanted = scene.submit(STAYING, IN_POOL);
        ChildJvm doomed = scene.start(PoolProcess.class, arguments);
        Scene.until(() -> lines(staying).size() > 5
                && !lines(ending).isEmpty()
                && !lines(unwanted).isEmpty());
        Scene.until(() -> scene.status(unwanted.id()) == JobStatus.RUNNING
                && scene.status(staying.id()) == JobStatus.RUNNING
                && scene.status(ending.id()) == JobStatus.RUNNING);
        ProcessHandle its = process(staying);
        ProcessHandle endings = process(ending);

        doomed.kill();
        assertThat(its.isAlive()).isTrue();
        Files.writeString(end, "");
        Scene.until(() -> Files.exists(folder.resolve("state")
                .resolve(scene.job(ending.id()).outcome().providerOperationId())
                .resolve("exit")));
        scene.millrace.cancel(unwanted.id(), "me", null);
        int seen = lines(staying).size();

        scene.start(PoolProcess.class, arguments);
        Job ended = scene.awaitEnd(ending.id());
        assertThat(ended.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(ended.state().attemptCount()).isOne();
        assertThat(scene.millrace.results().get(ending.id()).orElseThrow().text())
                .isEqualTo("{\"ended\":true}");
        assertThat(scene.awaitEnd(unwanted.id()).status()).isEqualTo(JobStatus.CANCELLED);
        Scene.until(() -> lines(staying).size() > seen + 20);
        assertThat(its.isAlive()).isTrue();
        Files.writeString(gate, "");
        Job stayed = scene.awaitEnd(staying.id());
        assertThat(stayed.status()).isEqualTo(JobStatus.SUCCEEDED);
        assertThat(stayed.state().attemptCount()).isOne();
        int printed = Integer.parseInt(
                scene.millrace.results().get(staying.id()).orElseThrow().text());
        List<String> all =
                IntStream.range(0, printed).mapToObj(i -> "line " + i).toList();
        assertThat(lines(staying)).isEqualTo(all.subList(0, Math.min(all.size(), JobLogStore.MAX_PAGE)));
        assertThat(scene.millrace.logs().tail(staying.id(), 1).appended()).isEqualTo(printed);
        assertThat(endings.isAlive()).isFalse();
    }
}
